//! C: no request holds up another one, whatever its size.

use serde_json::{Value, json};
use shared::TokenVerdict;
use tests::clock::{eventually, ms, within};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, client, openai};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

/// How often the workers have stood still.
async fn stalls(relay: &Relay) -> f64 {
    relay.metrics().await.value("belay_worker_stall_seconds_count")
}

/// Stops the whole process for a while, as a machine without time for it does.
async fn stand_still(relay: &Relay, millis: u64) {
    relay.signal("STOP");
    // The stall itself.
    tokio::time::sleep(ms(millis)).await;
    relay.signal("CONT");
}

#[tokio::test]
async fn b5_a_provider_is_not_blamed_for_the_time_in_which_the_relay_stood_still() {
    let a = Provider::always(Reply::text("from A").after(ms(300))).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b])
        .ladder("hedge = { initial = \"1s\" }")
        .clocks("ttft = \"2s\", inter_token = \"2s\"");
    let relay = Relay::start(&setup).await;
    for n in 0..6 {
        let (answer, call) = tokio::join!(relay.ask(), async {
            a.call(n).await;
            stand_still(&relay, 2_500).await;
        });
        let () = call;
        answer.assert_good("from A");
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), ["a first ok"], "neither cut nor hedged");
        assert_eq!(detail.attempts[0].verdict, Some(TokenVerdict::Good));
    }
    assert_eq!(b.count(), 0);
    let counted = eventually("the pauses to be counted", async || {
        let counted = stalls(&relay).await;
        (counted >= 6.0).then_some(counted)
    });
    counted.await;
    assert!(relay.log().contains("a worker stood still"), "{}", relay.log());
}

#[tokio::test]
async fn b5_a_provider_that_is_late_is_late_beside_a_relay_that_runs() {
    let a = Provider::always(Reply::text("from A").after(ms(5_000))).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"500ms\"")).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
}

/// Asks for a whole answer that follows `schema`.
fn asks_for(schema: &Value) -> Value {
    let format = json!({"type": "json_schema", "json_schema": {"name": "x", "schema": schema}});
    openai::with(openai::ask_whole("chat"), &json!({ "response_format": format }))
}

#[tokio::test]
async fn c2_a_schema_that_would_take_for_ever_is_refused_and_holds_up_nobody() {
    let a = Provider::always(Reply::text("{}")).await;
    let mut relay = Relay::start(&Setup::over(&[&a]).ladder("validate = true")).await;
    let mut defs = serde_json::Map::new();
    for n in 0..30 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        defs.insert(format!("d{n}"), json!({"allOf": [next, next]}));
    }
    defs.insert("d30".to_owned(), json!({"type": "object"}));
    let cruel = json!({"$ref": "#/$defs/d0", "$defs": defs});
    let endless = json!({"allOf": [{"$ref": "#"}]});
    let patterns = json!({"properties": {"a": {"pattern": "((a{100}){100}){100}"}}});
    for schema in [&cruel, &endless, &patterns] {
        let error = relay.send(&asks_for(schema)).await.assert_error(400).clone();
        assert_eq!(error["code"], "invalid_schema");
        assert!(error["message"].as_str().unwrap().contains("leave it out"), "{error}");
    }
    assert_eq!(a.count(), 0);
    // A stream is not checked, so its schema is nobody's business here.
    let streamed = openai::with(asks_for(&cruel), &json!({"stream": true}));
    relay.send(&streamed).await.assert_good("{}");
    assert_eq!(relay.send(&asks_for(&json!({"type": "object"}))).await.status, 200);
    relay.terminate();
    assert!(within("the relay to stop", relay.exited()).await.success());
}

#[tokio::test]
async fn c2_an_answer_that_would_take_for_ever_to_check_is_passed_on() {
    let deep = (0..60).fold("{}".to_owned(), |inner, _| format!("{{\"a\":{inner}}}"));
    let a = Provider::always(Reply::text(&deep)).await;
    let relay = Relay::start(&Setup::over(&[&a]).ladder("validate = true")).await;
    let both = json!({"properties": {"a": {"$ref": "#"}}});
    let answer = relay.send(&asks_for(&json!({"allOf": [both, both]}))).await;
    assert_eq!(answer.status, 200);
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ok"]);
    let why = detail.attempts[0].detail.clone().unwrap_or_default();
    assert!(why.contains("too much work"), "{why}");
}

/// Far more than a worker reads in the time that a small request may take here.
const LARGE: usize = 31 << 20;
/// The dearest kind of text to read.
const DEAR: &str = r"\u0068i";

/// A request in very many messages.
fn many_messages() -> String {
    let message = format!(r#"{{"role":"user","content":"{DEAR}"}},"#);
    let messages = message.repeat(LARGE / message.len());
    let messages = messages.trim_end_matches(',');
    format!(r#"{{"model":"chat","stream":true,"max_tokens":9,"messages":[{messages}]}}"#)
}

/// Waits for `large`, most of which may be done by the threads for large work alone: while a
/// worker is at it, everybody else on that worker waits.
async fn beside<T>(relay: &Relay, large: impl Future<Output = T>) -> T {
    let before = worked(relay);
    let answer = large.await;
    let after = worked(relay);
    let [aside, workers] = [0, 1].map(|at| after[at] - before[at]);
    assert!(aside > 2 * workers, "ticks at work: {aside} aside, {workers} others");
    answer
}

/// How long the relay's threads have been at work, in the system's ticks: those for large
/// work, and all others. Time in which a busy machine ran something else is not in it.
fn worked(relay: &Relay) -> [u64; 2] {
    let mut ticks = [0, 0];
    for (name, own) in relay.threads() {
        ticks[usize::from(!name.starts_with("aside-"))] += own;
    }
    ticks
}

#[tokio::test]
async fn c3_a_large_request_holds_up_nobody() {
    let a = Provider::scripted(|call| {
        let text = if call.body.len() > 1 << 20 { "large" } else { "small" };
        Reply::text(text)
    })
    .await;
    let b = Provider::always(Reply::text("never")).await;
    // The second rung speaks another dialect: what it can be told is found, too.
    let setup = Setup::over(&[&a, &b])
        .dialect("b", "anthropic-messages")
        .ladder("hedge = { initial = \"30s\" }");
    let relay = Relay::start(&setup).await;
    relay.ask().await.assert_good("small");
    let body = many_messages();
    let path = "/v1/chat/completions";
    let answer = beside(&relay, relay.call("POST", path, &[], Some(body.as_bytes()))).await;
    answer.assert_good("large");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ok"]);
    assert_eq!(detail.attempts[0].verdict, Some(TokenVerdict::Good), "its own time is no delay");
    assert_eq!(b.count(), 0);
}

#[tokio::test]
async fn c3_a_large_answer_holds_up_nobody() {
    let text = format!("\"{}\"", DEAR.repeat(LARGE / DEAR.len() - 100));
    let large = json!({"id": "c-1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop",
            "message": {"role": "assistant", "content": "TEXT"}}]});
    let large = large.to_string().replace("\"TEXT\"", &text);
    let a = Provider::scripted(move |call| {
        if String::from_utf8_lossy(&call.body).contains("all of it") {
            Reply::body(200, "application/json", &large)
        } else {
            Reply::text("small")
        }
    })
    .await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let body = json!({"model": "chat", "max_tokens": 9,
        "messages": [{"role": "user", "content": "Say all of it."}]})
    .to_string();
    let answer =
        beside(&relay, relay.call("POST", "/v1/messages", &[], Some(body.as_bytes()))).await;
    assert_eq!(answer.status, 200);
    let said = answer.json()["content"][0]["text"].as_str().map(str::len);
    assert_eq!(said, Some(2 * (LARGE / DEAR.len() - 100)));
}

#[tokio::test]
async fn c3_words_are_looked_for_in_a_large_request_without_holding_anybody_up() {
    let a = Provider::scripted(|call| {
        if call.body.len() > 1 << 20 {
            let words = "Your credit balance is too low to access the API.";
            Reply::error(400, words, "invalid_request_error", &Value::Null)
        } else {
            Reply::text("small")
        }
    })
    .await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).ladder("hedge = { initial = \"30s\" }");
    let relay = Relay::start(&setup).await;
    // Each letter may be the first one of the words.
    let filler = "c".repeat(LARGE);
    let quoting = |words: &str| {
        openai::with(openai::ask("chat"), &json!({ "user": format!("{filler}{words}") }))
    };
    // The client's own words say nothing of the account, so the request is refused.
    let answer = beside(&relay, relay.send(&quoting("credit balance is too low"))).await;
    answer.assert_error(400);
    let answer = beside(&relay, relay.send(&quoting(""))).await;
    answer.assert_good("from B");
}

/// What running requests hold.
async fn held(relay: &Relay) -> f64 {
    relay.metrics().await.value("belay_in_flight_bytes")
}

async fn until_held(relay: &Relay, bytes: usize) {
    let bytes = f64::from(u32::try_from(bytes).unwrap());
    eventually("so many bytes to be held", async || {
        ((held(relay).await - bytes).abs() < 0.5).then_some(())
    })
    .await;
}

/// The head of a request with a chunked body.
fn chunked(relay: &Relay) -> Vec<u8> {
    let headers = [("Transfer-Encoding", "chunked")];
    client::request(relay.address(), "POST", "/v1/chat/completions", &headers, Some(b""))
}

#[tokio::test]
async fn c4_a_body_in_many_pieces_takes_no_more_room_than_one_in_one_piece() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    relay.ask().await.assert_good("hello");
    let before = relay.memory();
    let mut socket = TcpStream::connect(relay.address()).await.unwrap();
    const SIZE: usize = 3 << 20;
    socket.write_all(&chunked(&relay)).await.unwrap();
    socket.write_all(&b"1\r\n \r\n".repeat(SIZE)).await.unwrap();
    until_held(&relay, SIZE).await;
    let grown = relay.memory().saturating_sub(before);
    assert!(grown < 24 << 20, "{grown} bytes for {SIZE}");
    drop(socket);
    until_held(&relay, 0).await;
}

#[tokio::test]
async fn c4_all_requests_together_hold_no_more_than_they_may() {
    let a = Provider::always(Reply::text("hello")).await;
    let setup =
        Setup::over(&[&a]).server("max_body = \"1MiB\"").server("max_in_flight_bytes = \"1MiB\"");
    let relay = Relay::start(&setup).await;
    let filler = "x".repeat(600 << 10);
    let large = openai::with(openai::ask("chat"), &json!({ "user": filler }));
    relay.send(&large).await.assert_good("hello");
    until_held(&relay, 0).await;
    let mut half = TcpStream::connect(relay.address()).await.unwrap();
    half.write_all(&chunked(&relay)).await.unwrap();
    half.write_all(format!("{:x}\r\n{}", 600 << 10, " ".repeat(600 << 10)).as_bytes())
        .await
        .unwrap();
    until_held(&relay, 600 << 10).await;
    let refused = relay.send(&large).await;
    assert_eq!(refused.assert_error(503)["code"], "too_many_bytes_in_flight");
    assert_eq!(refused.header("retry-after"), Some("1"));
    relay.ask().await.assert_good("hello");
    drop(half);
    until_held(&relay, 0).await;
    relay.send(&large).await.assert_good("hello");
}

#[tokio::test]
async fn c4_answers_that_are_held_back_count_too_and_no_provider_is_blamed() {
    let long = Reply::begins("one").words(&["x".repeat(300 << 10).as_str(); 6], ms(0)).stop();
    let a = Provider::always(long).await;
    let relay = Relay::start(&Setup::over(&[&a]).server("max_in_flight_bytes = \"1MiB\"")).await;
    for _ in 0..6 {
        let answer = relay.ask_whole().await;
        answer.assert_error(502);
        let detail = relay.journaled(&answer.id()).await;
        let first = &detail.attempts[0];
        assert_eq!((first.verdict, first.stream_verdict), (Some(TokenVerdict::Good), None));
        assert!(first.detail.as_deref().unwrap_or_default().contains("max_in_flight"));
    }
    let page = relay.metrics().await;
    assert_eq!(page.value(r#"belay_breaker_state{rung="a",state="closed"}"#).to_string(), "1");
    // A stream is passed on as it comes.
    let answer = relay.ask().await;
    assert_eq!(answer.text().len(), 3 + 6 * (300 << 10));
    until_held(&relay, 0).await;
}
