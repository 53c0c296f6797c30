//! `rate_limited` and `overloaded`: the provider is busy, and says until when.

use super::Row;
use serde_json::{Value, json};
use shared::PassedOver;
use tests::clock::{assert_fired, assert_within, ms};
use tests::relay::tried;
use tests::{Provider, Relay, Reply, Setup, openai};

fn limited() -> Reply {
    Reply::error(429, "Rate limit reached", "rate_limit_error", &json!("rate_limit_exceeded"))
}

fn overloaded(status: u16) -> Reply {
    Reply::error(status, "Overloaded", "overloaded_error", &Value::Null)
}

/// The seconds that the client is told to wait.
#[track_caller]
fn retry_after(answer: &tests::Answer) -> u64 {
    let text = answer.header("retry-after").expect("Retry-After");
    text.parse().expect("whole seconds")
}

#[tokio::test]
async fn rate_limited_goes_to_the_next_rung_and_alone_is_a_429() {
    let reply = limited().header("retry-after", "5");
    let answer = Row::moved_on("429", reply, "rate_limited", 429).check().await;
    assert!((1..=5).contains(&retry_after(&answer)), "{:?}", answer.head);
    assert_ne!(answer.header("x-should-retry"), Some("false"), "the client may come back");
}

#[tokio::test]
async fn rate_limited_for_long_is_capped_for_the_client() {
    let a = Provider::always(limited().header("retry-after", "300")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_error(429);
    if let Some(seconds) = answer.header("retry-after") {
        let seconds: u64 = seconds.parse().unwrap();
        assert!((1..=60).contains(&seconds), "SDKs sleep on it: {seconds}");
    } else {
        assert_eq!(answer.header("x-should-retry"), Some("false"));
    }
}

#[tokio::test]
async fn rate_limited_holds_the_rung_without_opening_it() {
    let a = Provider::always(limited().header("retry-after", "30")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let first = relay.ask().await;
    first.assert_good("from B");
    let detail = relay.journaled(&first.id()).await;
    assert_eq!(detail.attempts[0].verdict, None, "a hold is no verdict");
    let second = relay.ask().await;
    second.assert_good("from B");
    assert_eq!(a.count(), 1, "not called before its Retry-After has passed");
    let detail = relay.journaled(&second.id()).await;
    assert_eq!(tried(&detail), ["b first ok"]);
    assert_eq!(detail.passed_over[0].rung, "a");
    assert_eq!(detail.passed_over[0].reason, PassedOver::Hold);
}

#[tokio::test]
async fn rate_limited_rung_is_called_again_after_its_hold() {
    for (name, value) in [("retry-after", "1"), ("retry-after-ms", "1000")] {
        let a = Provider::in_turn(vec![limited().header(name, value), Reply::text("from A")]).await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b])).await;
        relay.ask().await.assert_good("from B");
        let held_at = a.call(0).await.at;
        tests::clock::eventually("the hold to end", async || {
            let answer = relay.ask().await;
            (answer.text() == "from A").then_some(())
        })
        .await;
        let held = a.call(1).await.at - held_at;
        assert!(held >= ms(1000), "{name}: called again after {held:?}");
        assert_within("the hold", held, ms(1600));
    }
}

#[tokio::test]
async fn rate_limited_alone_waits_for_a_short_retry_after() {
    let replies = vec![limited().header("retry-after", "1"), Reply::text("at last")];
    let a = Provider::in_turn(replies).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_good("at last");
    assert_fired("the wait", a.call(1).await.at - a.call(0).await.at, ms(1000));
}

#[tokio::test]
async fn rate_limited_alone_does_not_wait_beyond_patience() {
    let a = Provider::always(limited().header("retry-after", "3")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_error(429);
    assert_within("the answer", answer.end_at, ms(1000));
    let again = relay.ask().await;
    again.assert_error(429);
    assert_eq!(a.count(), 1, "a held rung is not even a last resort");
}

#[tokio::test]
async fn overloaded_by_status_is_retried_alone_and_ends_in_a_503() {
    for status in [503, 529] {
        Row::retried("overloaded", overloaded(status), "overloaded", 503).check().await;
    }
}

#[tokio::test]
async fn overloaded_in_the_stream_before_a_token_is_the_same() {
    for event in [
        openai::error_event("Overloaded", "overloaded_error", &Value::Null),
        openai::error_event("try later", "server_error", &json!(503)),
    ] {
        for prelude in [String::new(), openai::role()] {
            let reply = Reply::sse(prelude + &event);
            Row::retried("overloaded in a 200", reply, "overloaded", 503).check().await;
        }
    }
}

#[tokio::test]
async fn overloaded_with_a_retry_after_is_a_hold() {
    let a = Provider::always(overloaded(503).header("retry-after", "20")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let first = relay.ask().await;
    first.assert_good("from B");
    assert_eq!(relay.journaled(&first.id()).await.attempts[0].verdict, None);
    relay.ask().await.assert_good("from B");
    assert_eq!(a.count(), 1, "held");
}

#[tokio::test]
async fn overloaded_alone_passes_the_retry_after_on() {
    let a = Provider::always(overloaded(503).header("retry-after", "4")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_error(503);
    assert!((1..=4).contains(&retry_after(&answer)));
    assert_ne!(answer.header("x-should-retry"), Some("false"));
}
