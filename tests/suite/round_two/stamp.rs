//! What clients are told beside their answers: the stamp and the relay's own headers.

use crate::cases::client::CLIENTS;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use tests::clock::ms;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

const PRICE: &str = "price = { input = 1.0, output = 2.0 }";

/// A client of the set-up whose key is its name.
fn client(name: &str, stamp: &str) -> String {
    let mut hash = String::new();
    for byte in Sha256::digest(name) {
        let _ = write!(hash, "{byte:02x}");
    }
    format!("[clients.{name}]\nkey_sha256 = \"{hash}\"\n{stamp}")
}

#[expect(clippy::cast_possible_truncation, reason = "a few cents")]
fn nano(usd: Option<f64>) -> Option<i64> {
    usd.map(|usd| (usd * 1e9).round() as i64)
}

/// What the journal says that a request cost.
async fn journaled(relay: &Relay, answer: &Answer) -> Option<i64> {
    nano(relay.journaled(&answer.id()).await.request.cost_usd)
}

/// Rung `a` hangs, and the hedge to `b` wins.
async fn hedged() -> (Relay, [Provider; 2]) {
    let a = Provider::always(Reply::silent()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let setup = Setup::over(&[&a, &b]).rung("a", PRICE).rung("b", PRICE);
    (Relay::start(&setup.ladder("hedge = { delay = \"100ms\" }")).await, [a, b])
}

#[tokio::test]
async fn g_the_cost_is_the_requests_with_what_was_tried_in_vain() {
    let (relay, _providers) = hedged().await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let stamp = answer.stamp().unwrap();
    let told = nano(stamp["cost_usd"].as_f64());
    assert_eq!(told, journaled(&relay, &answer).await, "{stamp}");
    assert!(told > Some(17_000), "11 × 1 + 3 × 2 millionths for the answer, and more: {stamp}");
    assert_eq!(stamp["estimated"], true, "what the loser cost is an estimate: {stamp}");
    assert_eq!(
        (stamp["input_tokens"].as_u64(), stamp["output_tokens"].as_u64()),
        (Some(11), Some(3))
    );

    let whole = relay.ask_whole().await;
    let told = whole.header("x-belay-cost-usd").and_then(|text| text.parse().ok());
    assert_eq!(nano(told), journaled(&relay, &whole).await);
}

#[tokio::test]
async fn g_a_failure_tells_how_long_it_took() {
    let a = Provider::always(Reply::error(500, "x", "x", &Value::Null).after(ms(200))).await;
    let setup = Setup::over(&[&a]).rung("a", PRICE).ladder("fail_fast = true");
    let relay = Relay::start(&setup).await;
    for client in CLIENTS {
        for answer in [client.ask(&relay).await, client.ask_whole(&relay).await] {
            client.assert_error(&answer, 502);
            let took: u64 = answer.header("x-belay-latency-ms").unwrap().parse().unwrap();
            assert!((200..5000).contains(&took), "{took} ms");
            assert_eq!(answer.header("x-belay-outcome"), Some("failed"), "{client:?}");
            assert_eq!(answer.header("x-belay-cost-usd"), Some("0"), "{client:?}");
        }
    }
    let b = Provider::always(Reply::begins("so far").pause(ms(200)).cut()).await;
    let relay = Relay::start(&Setup::over(&[&b]).rung("a", PRICE)).await;
    let answer = relay.ask().await;
    let stamp = answer.stamp().unwrap();
    assert!(stamp["latency_ms"].as_u64() >= Some(200), "{stamp}");
    assert_eq!(nano(stamp["cost_usd"].as_f64()), journaled(&relay, &answer).await, "{stamp}");
}

/// What a client of this key sees of a good answer, of a refusal and of a broken stream:
/// all of it, as text.
async fn seen(relay: &Relay, key: &str) -> Vec<(Answer, String)> {
    let bearer = format!("Bearer {key}");
    let key = [("Authorization", bearer.as_str())];
    let mut seen = Vec::new();
    for client in CLIENTS {
        for model in ["chat", "breaks", "fails"] {
            for request in [client.request(), client.whole_request()] {
                let asked = openai::with(request, &serde_json::json!({"model": model}));
                let answer = client.open_with(relay, &key, &asked).await.finish().await;
                let text = format!("{:?}\n{}", answer.head, answer.body_text());
                seen.push((answer, text));
            }
        }
    }
    seen
}

#[tokio::test]
async fn g_prices_and_rungs_are_told_to_whom_they_concern() {
    let a = Provider::always(Reply::text("hello")).await;
    let b = Provider::always(Reply::begins("so far").cut()).await;
    let c = Provider::always(Reply::error(500, "x", "x", &Value::Null)).await;
    let ladder = |name, rung| format!("[ladders.{name}]\nrungs = [\"{rung}\"]\nfail_fast = true");
    let mut setup = Setup::over(&[&a, &b, &c]);
    for rung in ["a", "b", "c"] {
        let breaker = "breaker = { open_consecutive = 1000, min_samples = 10000 }";
        setup = setup.rung(rung, PRICE).rung(rung, breaker);
    }
    let setup = setup
        .extra(&ladder("breaks", "b"))
        .extra(&ladder("fails", "c"))
        .extra(&client("usual", ""))
        .extra(&client("quiet", "stamp = \"none\""))
        .extra(&client("some", "stamp = \"id\""))
        .extra(&client("all", "stamp = \"full\""));
    let relay = Relay::start(&setup).await;
    for (key, is_full, is_stamped) in [
        ("usual", false, true),
        ("some", false, true),
        ("quiet", false, false),
        ("all", true, true),
    ] {
        for (answer, text) in seen(&relay, key).await {
            let id = answer.id();
            for name in ["x-request-id", "request-id"] {
                assert_eq!(answer.header(name), Some(&*id), "{key}: {text}");
            }
            let text = text.to_lowercase();
            for word in ["rung", "cost", "x-belay-attempts", "x-belay-hedged", "tried"] {
                assert!(is_full || !text.contains(word), "{key} is told '{word}': {text}");
            }
            let is_stream = text.contains("text/event-stream");
            let stamped = if is_stream {
                text.contains(": belay {")
            } else {
                text.contains("x-belay-latency-ms")
            };
            assert_eq!(stamped, is_stamped, "{key}: {text}");
            if is_full {
                assert!(text.contains("cost"), "{text}");
            }
        }
    }
}

#[tokio::test]
async fn f2_every_answer_carries_its_id_where_sdks_look_for_it() {
    let a = Provider::always(Reply::text("hello")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let mut answers = Vec::new();
    for client in CLIENTS {
        answers.push(client.ask(&relay).await);
        answers.push(client.ask_whole(&relay).await);
        answers.push(client.open_with(&relay, &[], &serde_json::json!({})).await.finish().await);
    }
    answers.push(relay.call("GET", "/v1/models", &[], None).await);
    answers.push(relay.call("GET", "/v1/nothing", &[], None).await);
    answers.push(relay.call("GET", "/v1/messages", &[], None).await);
    for answer in answers {
        let id = answer.header("x-request-id").unwrap_or_else(|| panic!("{:?}", answer.head));
        assert!(id.starts_with("req_"), "{id}");
        assert_eq!(answer.header("request-id"), Some(id));
        assert_eq!(answer.header("x-belay-request-id"), Some(id));
    }
}
