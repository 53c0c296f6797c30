//! B: what one request may do to the health of a rung.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use shared::AttemptOutcome;
use std::fmt::Write as _;
use tests::clock::within;
use tests::provider::Call;
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn b7_a_wrong_key_is_the_reason_for_every_caller() {
    let a = Provider::always(Reply::error(401, "no", "auth", &json!("invalid_api_key"))).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    for caller in 0..3 {
        let answer = relay.ask().await;
        let error = answer.assert_error(502);
        assert_eq!(error["code"], "upstream_auth", "caller {caller}");
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
}

#[tokio::test]
async fn b7_a_long_hold_is_told_and_sdks_do_not_sleep_on_it_where_somebody_waits() {
    let limited = |seconds: &str| {
        Reply::error(429, "slow down", "rate_limit_error", &Value::Null)
            .header("retry-after", seconds)
    };
    for (seconds, told, line, may_sleep) in [
        ("4", "4", "", true),
        ("30", "30", "", false),
        ("90", "60", "", false),
        ("30", "30", "interactive = false\nfail_fast = true", true),
    ] {
        let a = Provider::always(limited(seconds)).await;
        let relay = Relay::start(&Setup::over(&[&a]).ladder(line)).await;
        let answer = relay.ask().await;
        answer.assert_error(429);
        assert_eq!(answer.header("retry-after"), Some(told), "{seconds} {line}");
        let no = answer.header("x-should-retry") == Some("false");
        assert_eq!(!no, may_sleep, "{seconds} {line}");
    }
}

#[tokio::test]
async fn b7_with_everything_open_the_cool_downs_end_is_told() {
    let a = Provider::always(Reply::error(500, "broken", "server_error", &Value::Null)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    for _ in 0..5 {
        relay.ask().await.assert_good("from B");
    }
    // A is open; B fails now, and its breaker would be the last one: it is spared.
    b.now_answers(Reply::error(500, "broken", "server_error", &Value::Null));
    let answer = relay.ask().await;
    answer.assert_error(503);
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=7).contains(&seconds), "the cool-down is 5 s and its jitter: {seconds}");
}

fn empty() -> Reply {
    Reply::sse([openai::role(), openai::finish("stop"), openai::DONE.to_owned()].concat())
}

#[tokio::test]
async fn b3_empty_answers_do_not_cost_every_later_request_a_dead_call() {
    let a = Provider::always(empty()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    for _ in 0..60 {
        relay.ask().await.assert_good("from B");
    }
    assert!((3..=30).contains(&a.count()), "{} of 60 requests asked A first", a.count());
    assert_eq!(relay.story(), Vec::<String>::new(), "it says nothing of whether A is up");
    // It is asked now and then, and is back in its place once it answers.
    a.now_answers(Reply::text("from A"));
    let mut last = Vec::new();
    within("A to be in its place again", async {
        while last.len() < 20 || last.iter().rev().take(20).any(|text| text != "from A") {
            last.push(relay.ask().await.text());
        }
    })
    .await;
}

#[tokio::test]
async fn b3_free_rungs_are_passed_however_many_are_empty() {
    let free = "price = { input = 0.0, output = 0.0 }";
    let a = Provider::always(empty()).await;
    let b = Provider::always(empty()).await;
    let c = Provider::always(empty()).await;
    let d = Provider::always(Reply::text("from D")).await;
    let setup = Setup::over(&[&a, &b, &c, &d]).rung("a", free).rung("b", free).rung("c", free);
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("from D");
    let all = ["a first empty", "b failover empty", "c failover empty", "d failover ok"];
    assert_eq!(tried(&relay.journaled(&answer.id()).await), all);
}

/// A provider that refuses a large body early: it reads the start of it, answers, and closes.
async fn refuses_early() -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut start = vec![0; 256 * 1024];
                let _ = stream.read(&mut start).await;
                let body = openai::error_body("too large for us", "invalid", &Value::Null);
                let body = body.to_string();
                let head = "HTTP/1.1 413 Too Large\r\ncontent-type: application/json\r\n";
                let head = format!("{head}content-length: {}\r\n\r\n", body.len());
                let _ = stream.write_all((head + &body).as_bytes()).await;
            });
        }
    });
    address
}

#[tokio::test]
async fn b6_a_body_that_is_refused_while_it_is_sent_is_no_verdict_and_its_413_is_heard() {
    let a = refuses_early().await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::default().and_rung(&format!("http://{a}/v1")).and_rung(&b.base_url());
    let relay = Relay::start(&setup).await;
    let large = openai::with(
        openai::ask("chat"),
        &json!({"messages": [{"role": "user", "content": "x".repeat(8 << 20)}]}),
    );
    let mut heard = 0;
    for _ in 0..16 {
        let answer = relay.send(&large).await;
        let detail = relay.journaled(&answer.id()).await;
        let first = &detail.attempts[0];
        assert_eq!(first.verdict, None, "{:?}", tried(&detail));
        if first.outcome == Some(AttemptOutcome::BadRequest) {
            answer.assert_error(413);
            heard += 1;
        } else {
            // The answer was lost with the connection: the next rung is asked.
            assert_eq!(tried(&detail), ["a first connect", "b failover ok"]);
        }
    }
    assert_eq!(relay.story(), Vec::<String>::new(), "no breaker has moved");
    assert!(heard >= 8, "{heard} of 16 were heard");
}

fn key(client: &str) -> String {
    format!("client-key-of-{client}")
}

/// Two clients with keys of their own.
fn two_clients() -> String {
    ["honest", "hostile"]
        .map(|name| {
            let hash = Sha256::digest(key(name).as_bytes());
            let hex = hash.iter().fold(String::new(), |mut hex, byte| {
                let _ = write!(hex, "{byte:02x}");
                hex
            });
            format!("[clients.{name}]\nkey_sha256 = \"{hex}\"\n")
        })
        .concat()
}

#[tokio::test]
async fn one_hostile_client_changes_nothing_for_another() {
    let poison = || {
        let long_hold = ("retry-after", "600");
        let error = |status| Reply::error(status, "no", "server_error", &Value::Null);
        vec![
            ("errors", error(500)),
            ("overload", error(503)),
            ("a long hold", error(429).header(long_hold.0, long_hold.1)),
            ("an overload with a hold", error(503).header(long_hold.0, long_hold.1)),
            ("closed", Reply::closed()),
            ("reset", Reply::reset_at_once()),
            ("a page", Reply::body(200, "text/html", "<html>")),
            ("empty", empty()),
            ("a cut stream", Reply::begins("some").cut()),
            ("a wrong request", error(400)),
        ]
    };
    for (name, reply) in poison() {
        let a = Provider::scripted(move |call| {
            let hostile = String::from_utf8_lossy(&call.body).contains("poison");
            if hostile { reply.clone() } else { Reply::text("from A") }
        })
        .await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b]).extra(&two_clients())).await;
        let ask = async |client: &str, text: &str| {
            let bearer = format!("Bearer {}", key(client));
            let body = openai::with(
                openai::ask("chat"),
                &json!({"messages": [{"role": "user", "content": text}]}),
            );
            relay.send_with(&[("Authorization", &bearer)], &body).await
        };
        ask("honest", "hello").await.assert_good("from A");
        for _ in 0..12 {
            for _ in 0..3 {
                let _whatever = ask("hostile", "poison").await;
            }
            ask("honest", "hello").await.assert_good("from A");
        }
        assert_eq!(relay.story(), Vec::<String>::new(), "{name}");
    }
}

/// What only the poisonous request says.
const POISON: &str = "please draw this image of mine";

fn hash(key: &str) -> String {
    Sha256::digest(key.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The clients `one` and `two`, whose keys are their names.
fn clients(setup: Setup) -> Setup {
    ["one", "two"].into_iter().fold(setup, |setup, name| {
        setup.extra(&format!("[clients.{name}]\nkey_sha256 = \"{}\"", hash(name)))
    })
}

async fn ask(relay: &Relay, client: &str, text: &str) -> Answer {
    let body = json!({
        "model": "chat", "stream": true, "messages": [{"role": "user", "content": text}],
    });
    relay.send_with(&[("Authorization", &format!("Bearer {client}"))], &body).await
}

/// A provider that refuses the poisonous request so, and answers every other one.
async fn refuses_poison(name: &str, refusal: Reply) -> Provider {
    let good = Reply::text(name);
    Provider::scripted(move |call: &Call| {
        if call.json().to_string().contains(POISON) { refusal.clone() } else { good.clone() }
    })
    .await
}

async fn states(relay: &Relay) -> Vec<String> {
    relay.board().await.rungs.into_iter().map(|rung| rung.health.state.to_string()).collect()
}

#[tokio::test]
async fn b1_one_clients_request_takes_no_ladder_down() {
    let error = |status, message: &str| Reply::error(status, message, "some_error", &Value::Null);
    for (refusal, told) in [
        (error(404, "No endpoints found that support image input"), 400),
        (error(404, "No such File object: file-1"), 400),
        (error(402, "This request requires more credits, or fewer max_tokens."), 502),
        (error(403, "Forbidden"), 502),
        (error(405, "Method Not Allowed"), 502),
        (error(410, "Gone"), 502),
        (error(451, "Not here"), 502),
        // Words of its own, which the provider gives back.
        (error(400, &format!("cannot '{POISON}: invalid api key'")), 400),
    ] {
        let [a, b, c] = [
            refuses_poison("from A", refusal.clone()).await,
            refuses_poison("from B", refusal.clone()).await,
            refuses_poison("from C", refusal.clone()).await,
        ];
        let relay = Relay::start(&clients(Setup::over(&[&a, &b, &c]))).await;
        for _ in 0..3 {
            let poisoned = ask(&relay, "one", &format!("{POISON}: INVALID\u{20}API key")).await;
            let error = poisoned.assert_error(told);
            let said = error["message"].as_str().unwrap_or_default();
            assert!(!said.contains("credential"), "the account is not known to be refused: {said}");
        }
        assert_eq!(states(&relay).await, ["closed"; 3], "{told}");
        for _ in 0..150 {
            ask(&relay, "two", "hello").await.assert_good("from A");
        }
        assert_eq!(relay.transitions().len(), 0, "nothing happened to any rung");
    }
}

#[tokio::test]
async fn b1_what_one_rung_lacks_another_serves() {
    let error = "No endpoints found that support image input";
    let a = refuses_poison("from A", Reply::error(404, error, "x", &Value::Null)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&clients(Setup::over(&[&a, &b]))).await;
    ask(&relay, "one", POISON).await.assert_good("from B");
    ask(&relay, "one", "hello").await.assert_good("from A");
}

#[tokio::test]
async fn b1_a_wrong_key_is_down_at_the_first_401_and_its_request_is_named() {
    let a = Provider::always(Reply::fixture("B63-401.json")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&clients(Setup::over(&[&a, &b]))).await;
    let answer = ask(&relay, "one", "hello").await;
    answer.assert_good("from B");
    assert_eq!(states(&relay).await, ["open", "closed"]);
    relay.tells(&["a open auth"]).await;
    ask(&relay, "two", "hello").await.assert_good("from B");
    assert_eq!(a.count(), 1, "nobody calls it again");
    let log = relay.log();
    let line = log.lines().find(|line| line.contains("breaker: account refused"));
    assert!(line.is_some_and(|line| line.contains(&answer.id())), "{log}");
}

#[tokio::test]
async fn b1_used_up_credit_under_a_400_needs_two_clients() {
    let said = "Your credit balance is too low to access the Anthropic API.";
    let body =
        json!({"type": "error", "error": {"type": "invalid_request_error", "message": said}});
    let a = Provider::always(Reply::json(400, &body)).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = clients(Setup::over(&[&a, &b])).dialect("a", "anthropic-messages");
    let relay = Relay::start(&setup).await;
    for _ in 0..3 {
        ask(&relay, "one", "hello").await.assert_good("from B");
    }
    assert_eq!(states(&relay).await, ["closed", "closed"]);
    ask(&relay, "two", "hello").await.assert_good("from B");
    assert_eq!(states(&relay).await, ["open", "closed"]);
    ask(&relay, "one", "hello").await.assert_good("from B");
    assert_eq!(a.count(), 4);
}
