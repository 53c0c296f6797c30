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
async fn h2_a_reused_connection_that_dies_late_is_a_failure_and_not_sent_again() {
    for (works, all, words) in [
        (ms(0), ["a first ok"].as_slice(), "from A"),
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
