//! `stall`, `disconnect`, `stream_error`: the stream breaks after the client
//! has seen text. No other rung is asked, and the end tells the truth.

use super::belay;
use serde_json::{Value, json};
use shared::RequestOutcome;
use tests::clock::{assert_fired, assert_within, ms};
use tests::relay::tried;
use tests::{Answer, Provider, Relay, Reply, Setup, openai};

/// Runs a stream that breaks after `words`; a healthy second rung must not be asked.
async fn check(
    name: &str,
    reply: Reply,
    setup: fn(Setup) -> Setup,
    outcome: &str,
    words: &str,
) -> Answer {
    let a = Provider::always(reply).await;
    let b = Provider::always(Reply::text("from B")).await;
    let relay = Relay::start(&setup(Setup::over(&[&a, &b]))).await;
    let answer = relay.ask().await;
    answer.assert_broken(words);
    assert_eq!(answer.tried(), [format!("a {outcome}")], "{name}");
    assert_eq!(belay(&answer)["request_id"], answer.id(), "{name}");
    assert_eq!((a.count(), b.count()), (1, 0), "{name}: calls of A and B");
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), [format!("a first {outcome}")], "{name}");
    assert_eq!(detail.request.outcome, Some(RequestOutcome::Failed), "{name}");
    assert_eq!(detail.request.status, Some(200), "{name}: what the client saw");
    let stamp = answer.stamp().expect("stamped before the error event");
    assert_eq!(stamp["rung"], "a", "{name}");
    a.call(0).await.over().await;
    answer
}

const fn plain(setup: Setup) -> Setup {
    setup
}

fn hurried(setup: Setup) -> Setup {
    setup.clocks("ttft = \"2s\", inter_token = \"400ms\"")
}

#[tokio::test]
async fn stall_is_an_error_event_and_nobody_else_is_asked() {
    let answer = check("silence", Reply::begins("one").hold(), hurried, "stall", "one").await;
    let text_at = answer.events().iter().find(|event| event.data.is_some()).unwrap().at;
    assert_within("the second clock", answer.end_at - text_at, ms(550));
}

#[tokio::test]
async fn stall_is_not_put_off_by_comments_or_empty_deltas() {
    let mut reply = Reply::begins("one");
    for _ in 0..20 {
        reply = reply.pause(ms(100)).send(": ping\n\n").send(openai::text(""));
    }
    let a = Provider::always(reply.hold()).await;
    let relay = Relay::start(&hurried(Setup::over(&[&a]))).await;
    let answer = relay.ask().await;
    answer.assert_broken("one");
    let token_at = a.call(0).await.wrote(0).await;
    let ended_at = answer.sent_at + answer.end_at;
    assert_fired("the second clock", ended_at - token_at, ms(400));
    assert_eq!(answer.tried(), ["a stall"]);
}

#[tokio::test]
async fn disconnect_is_a_reset_a_cut_or_an_end_without_a_finish() {
    for (name, reply) in [
        ("reset", Reply::begins("one").reset()),
        ("cut", Reply::begins("one").cut()),
        ("a proper end of body", Reply::begins("one")),
    ] {
        check(name, reply, plain, "disconnect", "one").await;
    }
}

#[tokio::test]
async fn stream_error_is_an_error_event_whatever_follows_it() {
    let error = openai::error_event("worker lost", "server_error", &json!(500));
    for tail in [String::new(), openai::DONE.to_owned(), openai::finish("stop") + openai::DONE] {
        let reply = Reply::begins("one").send(error.clone() + &tail);
        let answer = check("an error event", reply, plain, "stream_error", "one").await;
        let message = answer.error_object().unwrap()["message"].to_string();
        assert!(!message.contains("127.0.0.1"), "{message}");
    }
}

#[tokio::test]
async fn stream_error_is_also_an_error_beside_choices_or_under_an_event_name() {
    let beside = openai::event(&json!({"id": "c-1", "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
        "error": {"code": 502, "message": "Provider disconnected"}}));
    let named = "event: error\ndata: {\"error\":{\"message\":\"gone\",\"status_code\":400}}\n\n";
    let vllm = openai::event(&json!({"object": "error", "message": "gone", "code": 500}));
    for event in [beside, named.to_owned(), vllm] {
        let reply = Reply::begins("one").send(event);
        check("an error of another shape", reply, plain, "stream_error", "one").await;
    }
}

#[tokio::test]
async fn stream_error_is_an_event_over_the_limit() {
    let small = |setup: Setup| setup.server("max_event = 65536");
    let flood = tests::provider::Step::Flood(vec![b'x'; 8192]);
    let endless = Reply::begins("one").send("data: {\"x\":\"").step(flood);
    check("no end of line", endless, small, "stream_error", "one").await;
    let big = openai::text(&"x".repeat(100_000));
    let reply = Reply::begins("one").send(big).stop();
    check("one big event", reply, small, "stream_error", "one").await;
}

#[tokio::test]
async fn stream_error_is_a_broken_event_inside_a_tool_call() {
    let reply = Reply::stream()
        .send(openai::role() + &openai::tool_call(0, "call_1", "f", "{\"a\":"))
        .send("data: {\"id\":\"c-1\",\"choices\":[{\"index\"\n\n")
        .send(openai::tool_arguments(0, "1}"))
        .send(openai::finish("tool_calls") + openai::DONE);
    check("half a tool call", reply, plain, "stream_error", "").await;
}

#[tokio::test]
async fn a_broken_event_in_plain_text_is_dropped_and_stamped() {
    let reply = Reply::begins("one ")
        .send("data: {\"id\":\"c-1\",\"choices\":[{\"index\"\n\n")
        .send("data:\n\n")
        .send("data: not json\n\n")
        .send(openai::text("two"))
        .stop();
    let a = Provider::always(reply).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_good("one two");
    let stamp = answer.stamp().expect("a stamp");
    let counted = stamp.as_object().unwrap().iter().any(|(key, value)| {
        key.contains("dropped") && value.as_u64().is_some_and(|count| count >= 1)
    });
    assert!(counted, "the stamp tells of dropped events: {stamp}");
}

#[tokio::test]
async fn ok_after_the_finish_reason_even_if_the_upstream_never_ends() {
    let reply = Reply::begins("one").send(openai::finish("stop")).hold();
    let a = Provider::always(reply).await;
    let setup =
        Setup::over(&[&a]).clocks("ttft = \"1s\", inter_token = \"500ms\", total = \"1500ms\"");
    let relay = Relay::start(&setup).await;
    let answer = relay.ask().await;
    answer.assert_good("one");
    assert_fired(
        "the end",
        answer.sent_at + answer.end_at - a.call(0).await.wrote(1).await,
        ms(2000),
    );
    let detail = relay.journaled(&answer.id()).await;
    assert_eq!(tried(&detail), ["a first ok"]);
    assert_eq!(detail.attempts[0].output_tokens.filter(|_| !detail.attempts[0].estimated), None);
    a.call(0).await.closed().await;
}

#[tokio::test]
async fn ok_after_the_finish_reason_even_if_the_upstream_then_breaks() {
    for reply in [
        Reply::begins("one").send(openai::finish("stop")).reset(),
        Reply::begins("one").send(openai::finish("stop")).cut(),
    ] {
        let a = Provider::always(reply).await;
        let relay = Relay::start(&Setup::over(&[&a])).await;
        let answer = relay.ask().await;
        answer.assert_good("one");
        assert_eq!(tried(&relay.journaled(&answer.id()).await), ["a first ok"]);
    }
}

#[tokio::test]
async fn an_error_event_names_nothing_of_the_provider() {
    let message =
        "upstream https://gw.internal.example.com/v1 said no to UPSTREAM-KEY-PLACEHOLDER-a";
    let event = openai::error_event(message, "server_error", &Value::Null);
    let a = Provider::always(Reply::begins("one").send(event)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask().await;
    answer.assert_broken("one");
    for secret in ["internal.example.com", "UPSTREAM-KEY"] {
        assert!(!answer.body_text().contains(secret), "{secret}: {}", answer.body_text());
    }
}
