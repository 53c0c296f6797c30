//! What the client is told when nothing answered: by rank over all attempts.

use serde_json::{Value, json};
use shared::RequestOutcome;
use tests::{Provider, Relay, Reply, Setup};

fn error(status: u16) -> Reply {
    Reply::error(status, "no luck", "some_error", &Value::Null)
}

fn limited() -> Reply {
    error(429).header("retry-after", "30")
}

/// A ladder of two failing rungs; gives what the client was told.
async fn told(a: Reply, b: Reply) -> tests::Answer {
    let a = Provider::always(a).await;
    let b = Provider::always(b).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"300ms\"")).await;
    let answer = relay.ask().await;
    let tried = answer.tried();
    assert!(
        tried[0].starts_with("a ") && tried.iter().any(|one| one.starts_with("b ")),
        "{tried:?}"
    );
    let detail = relay.journaled(&answer.id()).await;
    let outcome =
        if answer.status < 429 { RequestOutcome::Rejected } else { RequestOutcome::Failed };
    assert_eq!(detail.request.outcome, Some(outcome));
    answer
}

#[tokio::test]
async fn a_terminal_4xx_ranks_first() {
    told(error(503), error(400)).await.assert_error(400);
}

#[tokio::test]
async fn rate_limits_everywhere_are_a_429_with_the_soonest_retry_after() {
    let answer = told(limited(), error(429).header("retry-after", "10")).await;
    answer.assert_error(429);
    let seconds: u64 = answer.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=10).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn anything_overloaded_or_held_is_a_503() {
    told(error(503), error(500)).await.assert_error(503);
    let answer = told(limited(), error(500)).await;
    answer.assert_error(503);
    let seconds: u64 = answer.header("retry-after").expect("the hold's end").parse().unwrap();
    assert!((1..=30).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn any_timeout_is_a_504() {
    told(Reply::silent(), error(500)).await.assert_error(504);
    told(Reply::closed(), Reply::silent()).await.assert_error(504);
}

#[tokio::test]
async fn anything_else_is_a_502() {
    told(error(500), Reply::fixture("B14-html-200.html")).await.assert_error(502);
    told(error(401), error(401)).await.assert_error(502);
}

#[tokio::test]
async fn the_error_says_what_was_tried_and_what_to_expect() {
    let answer = told(error(500), Reply::closed()).await;
    let error = answer.assert_error(502);
    let belay = &error["belay"];
    assert_eq!(belay["request_id"], answer.id());
    assert!(belay["outcome"].is_string(), "{belay}");
    assert!(belay["recoverable"].is_boolean(), "{belay}");
    assert_eq!(belay["tried"][0], json!({"rung": "a", "outcome": "server_error"}));
    assert_eq!(answer.header("x-should-retry"), Some("false"));
}
