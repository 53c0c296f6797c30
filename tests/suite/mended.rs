//! Faults that reviews found on the running relay, each kept from coming back.

use serde_json::{Value, json};
use std::time::Duration;
use tests::clock::ms;
use tests::relay::tried;
use tests::{Exchange, Provider, Relay, Reply, Setup, openai};

/// Some text, a finish reason, and then it goes on.
fn goes_on_after_its_finish() -> Reply {
    Reply::begins("one").send(openai::finish("stop")).words(&[" two", " three"], ms(20))
}

#[tokio::test]
async fn content_after_a_finish_reason_takes_the_ending_back() {
    // It breaks then: not a whole answer.
    let a = Provider::always(goes_on_after_its_finish().reset()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    assert_eq!(answer.text(), "one two three");
    assert!(answer.error_object().is_some() && !answer.saw_done());
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first disconnect"]);
    // It goes on for longer than the relay waits after a finish reason: all of it arrives.
    let slow =
        Reply::begins("one").send(openai::finish("stop")).words(&[" two", " three"], ms(1_300));
    let a = Provider::always(slow.stop()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    assert_eq!(answer.text(), "one two three");
    assert!(answer.saw_done());
    let whole = relay.ask_whole().await;
    assert_eq!(whole.json()["choices"][0]["message"]["content"], "one two three");
}

#[tokio::test]
async fn a_request_with_side_effects_is_not_redialled_on_a_reused_connection() {
    let a = Provider::scripted(|call| {
        let acts = call.json().get("store").is_some();
        if acts { Reply::closed() } else { Reply::text("warm") }
    })
    .await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for _ in 0..4 {
        relay.ask().await.assert_good("warm");
    }
    let acting = openai::with(openai::ask("chat"), &json!({"store": true}));
    relay.send(&acting).await.assert_error(502);
    assert_eq!(a.count(), 5, "sent once");
}

#[tokio::test]
async fn a_hangup_signal_ends_nothing() {
    let a = Provider::always(Reply::begins("one").words(&[" two"], ms(400)).stop()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let mut stream = relay.open_stream().await;
    stream.until_text("one").await;
    relay.signal("HUP");
    stream.finish().await.assert_good("one two");
    relay.ask().await.assert_good("one two");
}

#[tokio::test]
async fn a_refusal_whose_body_hangs_is_known_by_its_status() {
    let body = |status: u16| Reply::status(status).header("content-type", "application/json");
    let limited = body(429).header("retry-after", "30").send("{\"error\":").hold();
    let a = Provider::always(limited).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first rate_limited", "b failover ok"]);
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 1, "its Retry-After counts");
}

#[tokio::test]
async fn a_last_chunk_that_comes_late_does_not_cost_the_connection() {
    let a = Provider::always(Reply::text("hello").pause(ms(5))).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for _ in 0..10 {
        relay.ask().await.assert_good("hello");
        // The provider's last chunk is on its way.
        tokio::time::sleep(ms(20)).await;
    }
    assert!(a.connections() < 6, "{} connections for 10 requests", a.connections());
}

#[tokio::test]
async fn a_request_that_is_still_coming_at_sigterm_is_answered() {
    let a = Provider::always(Reply::text("hello")).await;
    let mut relay = Relay::start(&Setup::over(&[&a]).server("drain = \"3s\"")).await;
    let body = openai::ask("chat").to_string();
    let bytes = tests::client::request(
        relay.address(),
        "POST",
        "/v1/chat/completions",
        &[],
        Some(body.as_bytes()),
    );
    let (first, rest) = bytes.split_at(bytes.len() - 5);
    let mut socket = tokio::net::TcpStream::connect(relay.address()).await.unwrap();
    tokio::io::AsyncWriteExt::write_all(&mut socket, first).await.unwrap();
    tests::clock::eventually("the request to be counted", async || {
        (relay.admin_get("/readyz").await.json()["streams"] == 1).then_some(())
    })
    .await;
    relay.terminate();
    // The relay has stopped listening; nothing says so to a socket that is open.
    tokio::time::sleep(ms(100)).await;
    let answer = Exchange::over(socket, rest).await.finish().await;
    answer.assert_good("hello");
    assert_eq!(relay.exited().await.code(), Some(0));
}

#[tokio::test]
async fn what_says_that_it_is_too_large_is_refused_unread() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a]).server("max_body = \"1KiB\"")).await;
    let headers = [("Content-Length", "100000"), ("Expect", "100-continue")];
    let path = "/v1/chat/completions";
    let bytes = tests::client::request(relay.address(), "POST", path, &headers, Some(b""));
    let answer = Exchange::start(relay.address(), &bytes).await.finish().await;
    answer.assert_error(413);
    assert_eq!(a.count(), 0);
}

#[tokio::test]
async fn keys_and_hosts_glued_to_other_text_do_not_reach_the_client() {
    for (message, secret) in [
        ("api_key=sk-live-abc123def456 is wrong", "abc123"),
        ("Incorrect\nsk-live-abc123def456", "abc123"),
        ("Authorization: Bearer abcdefghijklmnop", "abcdefgh"),
        ("failed(gpu7.cluster.internal:80)", "gpu7"),
        ("upstream=10.1.2.3:8000", "10.1.2.3"),
        ("at [fd00::12]:8000", "fd00"),
    ] {
        let error = Reply::error(
            400,
            message,
            "invalid_request_error",
            &Value::from("x=sk-live-abc123def456"),
        );
        let a = Provider::always(error).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let body = relay.ask().await.body_text().to_owned();
        assert!(!body.contains(secret) && !body.contains("sk-live"), "{message}: {body}");
    }
}

#[tokio::test]
async fn a_model_that_is_no_name_is_not_journaled() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    relay.send(&openai::ask("my secret prompt")).await.assert_error(404);
    relay.send(&openai::ask("gpt-4.1-mini")).await.assert_error(404);
    let models = tests::clock::eventually("both rows", async || {
        let rows = relay.requests().await;
        (rows.len() == 2).then(|| rows.into_iter().map(|row| row.model).collect::<Vec<_>>())
    })
    .await;
    assert_eq!(models, [Some("gpt-4.1-mini".to_owned()), None]);
}

#[tokio::test]
async fn absurd_usage_is_not_believed() {
    let absurd = openai::usage(u64::MAX / 4, u64::MAX / 4);
    let end = [openai::finish("stop"), absurd, openai::DONE.to_owned()].concat();
    let a = Provider::always(Reply::begins("hello").send(end)).await;
    let price = "price = { input = 3.0, output = 15.0 }";
    let relay = Relay::start(&Setup::over(&[&a]).rung("a", price)).await;
    let answer = relay.ask().await;
    let row = relay.journaled(&answer.id()).await;
    assert!(row.attempts[0].estimated);
    assert!(
        row.attempts[0].cost_usd.is_some_and(|cost| cost < 0.01),
        "{:?}",
        row.attempts[0].cost_usd
    );
}

#[tokio::test]
async fn events_that_one_read_brought_leave_together() {
    let words: String = (0..40).map(|n| openai::text(&format!("w{n} "))).collect();
    let a = Provider::always(Reply::begins("first ").send(words).stop()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    assert!(answer.saw_done());
    assert!(answer.reads.len() < 15, "{} reads for 40 events", answer.reads.len());
}

#[tokio::test]
async fn a_slow_reader_that_never_stops_is_not_dropped() {
    let flood = openai::text(&"x".repeat(2_000)).into_bytes();
    let a = Provider::always(Reply::begins("go").step(tests::provider::Step::Flood(flood))).await;
    let setup = Setup::over(&[&a]).server("client_write_timeout = \"1s\"").clocks("total = \"6s\"");
    let relay = Relay::start(&setup).await;
    let body = openai::ask("chat").to_string();
    let path = "/v1/chat/completions";
    let bytes = tests::client::request(relay.address(), "POST", path, &[], Some(body.as_bytes()));
    let mut stream = Exchange::start_narrow(relay.address(), &bytes).await;
    let began = tests::clock::now();
    // Some 300 KiB/s: slower than the provider, faster than the kernel's buffer in a second.
    while began.elapsed() < Duration::from_secs(4) {
        assert!(stream.more_at_most(30_000).await, "dropped after {:?}", began.elapsed());
        tokio::time::sleep(ms(100)).await;
    }
}
