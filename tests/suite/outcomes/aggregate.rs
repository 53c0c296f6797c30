//! Answers in one piece: called upstream as a stream, put together for the
//! client, and free to fail over until their proper end.

use serde_json::{Value, json};
use tests::clock::ms;
use tests::relay::tried;
use tests::{End, Provider, Relay, Reply, Setup, openai};

#[tokio::test]
async fn a_whole_answer_is_put_together_from_a_stream() {
    let a = Provider::always(Reply::begins("one ").words(&["two ", "three"], ms(20)).stop()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask_whole().await;
    assert_eq!((answer.status, answer.end), (200, End::Proper), "{}", answer.body_text());
    assert!(answer.header("content-type").unwrap().starts_with("application/json"));
    let body = answer.json();
    assert_eq!(body["object"], "chat.completion");
    assert_eq!(body["id"], "c-1");
    assert_eq!(body["model"], "m-1");
    let choice = &body["choices"][0];
    assert_eq!(choice["message"]["role"], "assistant");
    assert_eq!(choice["message"]["content"], "one two three");
    assert_eq!(choice["finish_reason"], "stop");
    assert_eq!(body["usage"]["prompt_tokens"], 11);
    assert_eq!(body["usage"]["completion_tokens"], 3);
    assert_eq!(a.call(0).await.json()["stream"], true, "the clocks need a stream");
    assert_eq!(answer.header("x-belay-rung"), Some("a"));
    assert!(!answer.body_text().contains(": belay"), "the stamp is in headers here");
}

#[tokio::test]
async fn tool_calls_are_put_together() {
    let reply = Reply::stream()
        .send(openai::role() + &openai::tool_call(0, "call_1", "get", "{\"city\":"))
        .send(openai::tool_arguments(0, "\"Oslo\"}"))
        .send(openai::tool_call(1, "call_2", "put", "{}"))
        .send(openai::finish("tool_calls") + openai::DONE);
    let a = Provider::always(reply).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let body = relay.ask_whole().await.json();
    let choice = &body["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    let calls = choice["message"]["tool_calls"].as_array().unwrap();
    assert_eq!(calls.len(), 2);
    assert_eq!(calls[0]["id"], "call_1");
    assert_eq!(calls[0]["type"], "function");
    assert_eq!(calls[0]["function"], json!({"name": "get", "arguments": "{\"city\":\"Oslo\"}"}));
    assert_eq!(calls[1]["function"], json!({"name": "put", "arguments": "{}"}));
}

#[tokio::test]
async fn it_fails_over_even_after_a_break_in_the_middle() {
    let error = openai::error_event("worker lost", "server_error", &json!(500));
    for (reply, outcome) in [
        (Reply::begins("lost").hold(), "stall"),
        (Reply::begins("lost").reset(), "disconnect"),
        (Reply::begins("lost"), "disconnect"),
        (Reply::begins("lost").send(error), "stream_error"),
    ] {
        let a = Provider::always(reply).await;
        let b = Provider::always(Reply::text("from B")).await;
        let setup = Setup::over(&[&a, &b]).clocks("ttft = \"2s\", inter_token = \"400ms\"");
        let relay = Relay::start(&setup).await;
        let answer = relay.ask_whole().await;
        assert_eq!(answer.status, 200, "{outcome}: {}", answer.body_text());
        assert_eq!(answer.text(), "from B", "{outcome}: nothing of A is spliced in");
        assert_eq!(answer.header("x-belay-rung"), Some("b"));
        let detail = relay.journaled(&answer.id()).await;
        assert_eq!(tried(&detail), [format!("a first {outcome}"), "b failover ok".to_owned()]);
        a.call(0).await.over().await;
    }
}

#[tokio::test]
async fn a_failure_is_one_json_error() {
    let a = Provider::always(Reply::begins("lost").cut()).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask_whole().await;
    answer.assert_error(502);
    assert!(!answer.body_text().contains("lost"), "no half answer: {}", answer.body_text());
    let a = Provider::always(Reply::error(400, "bad field", "x", &Value::Null)).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    relay.ask_whole().await.assert_error(400);
}

#[tokio::test]
async fn it_gets_no_early_headers() {
    let a = Provider::always(Reply::error(500, "x", "x", &Value::Null).after(ms(700))).await;
    let setup = Setup::over(&[&a])
        .server("early_headers = \"200ms\"\nheartbeat = \"100ms\"")
        .ladder("fail_fast = true");
    let relay = Relay::start(&setup).await;
    relay.ask_whole().await.assert_error(502);
}

#[tokio::test]
async fn a_json_answer_from_upstream_is_passed_on_whole() {
    let a = Provider::always(Reply::fixture("B14-json-complete.json")).await;
    let relay = Relay::start(&Setup::over(&[&a])).await;
    let answer = relay.ask_whole().await;
    assert_eq!(answer.status, 200, "{}", answer.body_text());
    assert_eq!(answer.text(), "whole answer at once");
    assert_eq!(answer.json()["usage"]["total_tokens"], 11);
}
