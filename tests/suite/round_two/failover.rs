//! H: the faults of a public failover bench.

use serde_json::{Value, json};
use tests::clock::ms;
use tests::relay::tried;
use tests::setup::key_of;
use tests::{Provider, Relay, Reply, Setup, openai};

fn too_long() -> Reply {
    let message = "This model's maximum context length is 1000 tokens.";
    Reply::error(400, message, "invalid_request_error", &json!("context_length_exceeded"))
}

#[tokio::test]
async fn h1_a_prompt_too_long_for_one_model_goes_to_another_though_no_context_is_set() {
    let a = Provider::always(too_long()).await;
    let b = Provider::always(too_long()).await;
    let c = Provider::always(Reply::text("from C")).await;
    let same_model = Setup::over(&[&a, &b, &c]).toml("x");
    assert!(same_model.contains("model = \"model-a\""), "each rung has a model of its own");
    let relay = Relay::start(&Setup::over(&[&a, &b, &c])).await;
    let answer = relay.ask().await;
    answer.assert_good("from C");
    let all = ["a first context_exceeded", "b failover context_exceeded", "c failover ok"];
    assert_eq!(tried(&relay.journaled(&answer.id()).await), all);
}

#[tokio::test]
async fn h4_a_single_rungs_429_without_a_time_is_waited_for() {
    let limited = Reply::error(429, "slow down", "rate_limit_error", &Value::Null);
    for _ in 0..3 {
        let a = Provider::in_turn(vec![limited.clone(), Reply::text("after the wait")]).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        relay.ask().await.assert_good("after the wait");
        assert_eq!(a.count(), 2);
    }
}

#[tokio::test]
async fn h5_the_providers_words_are_in_the_error_without_its_key_and_host() {
    let words = format!("Model is loading on gw-7.internal.example.com, key {}", key_of("a"));
    for (status, expected) in [(503, 503), (500, 502), (429, 429)] {
        let a = Provider::always(
            Reply::error(status, &words, "loading", &Value::Null).header("retry-after", "30"),
        )
        .await;
        let relay = Relay::start(&Setup::over(&[&a]).ladder("fail_fast = true")).await;
        let error = relay.ask().await.assert_error(expected);
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("The provider said: Model is loading on"), "{message}");
        assert!(!message.contains("internal") && !message.contains(&key_of("a")), "{message}");
    }
    // The same after the first token.
    let event = openai::error_body(&words, "server_error", &Value::Null);
    let broken = Reply::begins("one").pause(ms(10)).send(format!("data: {event}\n\n"));
    let a = Provider::always(broken).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let error = relay.ask().await.assert_broken("one");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("The provider said: Model is loading on"), "{message}");
    assert!(!message.contains("internal") && !message.contains(&key_of("a")), "{message}");
}

#[tokio::test]
async fn h5_what_a_provider_says_of_the_relays_account_is_not_passed_on() {
    let words = "Incorrect API key provided: sk-abc. Your organization is org-acme.";
    let a = Provider::always(Reply::error(401, words, "auth", &json!("invalid_api_key"))).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_error(502);
    assert!(!answer.body_text().contains("acme"), "{}", answer.body_text());
}

#[tokio::test]
async fn h2_calls_at_the_provider_are_attempts_in_the_journal() {
    // One that dies at once was closed while it was idle, most likely: the rung is called again.
    for (works, all, words) in [
        (ms(0), ["a first connect", "a retry ok"].as_slice(), "from A"),
        (ms(900), &["a first connect", "b failover ok"], "from B"),
    ] {
        // A connection that is used again is closed after a while without a word.
        let a = Provider::scripted(move |call| {
            if call.on_connection == 0 { Reply::text("from A") } else { Reply::closed_after(works) }
        })
        .await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b])).await;
        // Each worker has connections of its own.
        let mut before = 0;
        let answer = loop {
            let answer = relay.ask().await;
            if a.calls().iter().any(|call| call.on_connection > 0) {
                break answer;
            }
            before = a.count();
        };
        answer.assert_good(words);
        assert_eq!(tried(&relay.journaled(&answer.id()).await), all);
        let sent = a.count() - before;
        assert_eq!(sent, if works.is_zero() { 2 } else { 1 }, "{works:?}");
    }
}

/// Faults of a first rung, each answered by the second one.
fn faults() -> Vec<(&'static str, Reply)> {
    let error = |status| Reply::error(status, "no", "server_error", &Value::Null);
    vec![
        ("500", error(500)),
        ("503", error(503)),
        ("429", error(429).header("retry-after", "1")),
        ("reset", Reply::reset_at_once()),
        ("closed", Reply::closed()),
        ("a page", Reply::body(200, "text/html", "<html>")),
        ("nonsense", Reply::sse("data: {nonsense\n\n")),
        ("empty", Reply::sse([openai::role(), openai::finish("stop")].concat())),
        ("silent", Reply::silent()),
        ("a cut stream", Reply::begins("some").cut()),
        ("a wrong key", error(401)),
    ]
}

#[tokio::test]
async fn h_after_every_fault_the_same_relay_still_answers() {
    let a = Provider::always(Reply::text("from A")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"300ms\"")).await;
    for (name, fault) in faults() {
        a.now_answers(fault);
        for _ in 0..3 {
            let answer = relay.ask().await;
            let is_broken = answer.error_object().is_some();
            assert_eq!(answer.status, 200, "{name}");
            assert_eq!(is_broken, answer.text() == "some", "{name}: only a begun stream breaks");
        }
        a.now_answers(Reply::text("from A"));
        for _ in 0..2 {
            let answer = relay.ask().await;
            assert_eq!((answer.status, answer.saw_done()), (200, true), "alive after {name}");
        }
    }
}

#[tokio::test]
async fn h_a_provider_that_is_out_is_called_few_times_in_the_first_three_seconds() {
    let outages = faults().into_iter().filter(|(name, _)| *name != "empty");
    let calls = outages.map(async |(name, fault)| {
        let a = Provider::always(fault).await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"100ms\"")).await;
        let began = tests::clock::now();
        while began.elapsed() < ms(3_000) {
            let _answer = relay.ask().await;
        }
        (name, a.count())
    });
    // Five in a row open its breaker for 3.5 s at least; a hold of 1 s lets one through.
    for (name, calls) in futures_util::future::join_all(calls).await {
        assert!((1..=7).contains(&calls), "{name}: called {calls} times");
    }
}
