//! Errors in odd places: who answers, and what of the first rung is seen.

use serde_json::Value;
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

/// Rung A answers with `reply`, and B must answer the client, streaming or not.
async fn b_answers(reply: Reply, outcome: &str) -> Answer {
    let a = Provider::always(reply).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    assert_eq!(answer.roles(), 1, "nothing of A reaches the client");
    let expected = [format!("a first {outcome}"), "b failover ok".to_owned()];
    assert_eq!(tried(&relay.journaled(&answer.id()).await), expected);
    answer
}

/// As [`b_answers`], for a client that wants one JSON answer.
async fn b_answers_whole(reply: Reply) {
    let a = Provider::always(reply).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask_whole().await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "from B"));
}

#[tokio::test]
async fn b30_an_error_as_the_first_event_falls_over() {
    // Exhausted quota is our account's fault, whatever status carried it.
    b_answers(Reply::fixture("B30-error-first-openai.sse"), "auth").await;
    b_answers_whole(Reply::fixture("B30-error-first-openai.sse")).await;
}

#[tokio::test]
async fn b30_an_error_known_by_its_event_name_alone_falls_over() {
    let reply = Reply::fixture("B30-error-first-event-name-only.sse");
    let a = Provider::always(reply.clone()).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    let detail = relay.journaled(&answer.id()).await;
    // A bare string names no class; both readings of the design are failures of the rung.
    let outcome = detail.attempts[0].outcome.unwrap().as_str();
    assert!(matches!(outcome, "server_error" | "junk"), "{outcome}");
    b_answers_whole(reply).await;
}

#[tokio::test]
async fn b31_a_preamble_then_an_error_leaves_nothing_of_it() {
    let answer =
        b_answers(Reply::fixture("B31-preamble-then-error-openai.sse"), "rate_limited").await;
    assert!(!answer.body_text().contains("rate limited"));
    b_answers_whole(Reply::fixture("B31-preamble-then-error-openai.sse")).await;
}

#[tokio::test]
async fn b32_an_error_after_text_is_told_and_nobody_else_is_asked() {
    let reset = Reply::begins("Here is ").send(openai::text("the plan")).reset();
    for (reply, outcome) in
        [(Reply::fixture("B32-error-after-content.sse"), "stream_error"), (reset, "disconnect")]
    {
        let a = Provider::always(reply).await;
        let b = Provider::always(Reply::text("from B")).await;
        let relay = Relay::start(&Setup::over(&[&a, &b])).await;
        let answer = relay.ask().await;
        answer.assert_broken("Here is the plan");
        assert_eq!((a.count(), b.count()), (1, 0));
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), [format!("a first {outcome}")]);
        a.call(0).await.over().await;
    }
}

#[tokio::test]
async fn b33_a_clean_end_without_a_finish_is_a_break() {
    let a = Provider::always(Reply::fixture("B33-eof-no-finish.sse")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_broken("cut off");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first disconnect"]);
}

#[tokio::test]
async fn b33_a_finish_without_a_terminator_is_whole() {
    let a = Provider::always(Reply::fixture("B33-finish-no-done.sse")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_good("whole");
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
}

#[tokio::test]
async fn b33_a_terminator_without_a_finish_counts_after_content() {
    let a = Provider::always(Reply::fixture("B33-done-no-finish.sse")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    assert_eq!((answer.status, answer.text().as_str()), (200, "whole?"));
    assert!(answer.saw_done(), "{}", answer.body_text());
    assert_eq!(answer.error_object(), None);
    assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
}

#[tokio::test]
async fn b35_a_400_is_passed_on_with_its_message() {
    let a = Provider::always(Reply::fixture("B35-400.json")).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b])).await;
    let answer = relay.ask().await;
    let error = answer.assert_error(400);
    assert_eq!(error["message"], "messages[3].content must be a string");
    assert_eq!(error["param"], "messages");
    assert_eq!(b.count(), 0);
    let length: usize = answer.header("content-length").unwrap().parse().unwrap();
    assert_eq!(length, answer.body.len());
}

#[tokio::test]
async fn b35_a_5xx_falls_over_whatever_its_body() {
    b_answers(Reply::fixture("B35-529.json"), "overloaded").await;
    b_answers(Reply::body(500, "text/html", "<h1>oops</h1>"), "server_error").await;
    b_answers(Reply::status(502), "server_error").await;
}

#[tokio::test]
async fn b35_error_bodies_are_read_to_a_cap() {
    let long = format!("too long {}", "x".repeat(5 << 20));
    let a = Provider::always(Reply::error(400, &long, "invalid_request_error", &Value::Null)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let before = relay.memory();
    let answer = relay.ask().await;
    answer.assert_error(400);
    assert!(answer.body.len() < 256 * 1024, "{} bytes of error", answer.body.len());
    assert!(relay.memory().saturating_sub(before) < 16 << 20);
}

#[tokio::test]
async fn b35_an_error_body_that_never_ends_does_not_hold_the_walk() {
    let endless = Reply::status(500).header("content-type", "application/json").send("{").hold();
    let a = Provider::always(endless).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&Setup::over(&[&a, &b]).clocks("ttft = \"800ms\"")).await;
    let answer = relay.ask().await;
    answer.assert_good("from B");
    tests::clock::assert_within("the failover", answer.end_at, tests::clock::ms(1500));
}
