//! The mock when it is well.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::{Mock, MockOptions};
use super::client::{End, ask, call};
use super::{ended, mock, question, start, with};

#[tokio::test]
async fn a_stream_is_role_tokens_finish_terminator() {
    let mock = mock().await;
    let reply = ask(mock.addr(), &question()).await;
    assert_eq!((reply.status(), reply.end == End::Proper), (200, true));
    assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"));
    let data = reply.data();
    assert_eq!(data.len(), 9, "{data:#?}");
    assert_eq!(data[8], "[DONE]");
    let events = reply.events();
    let role = json!({"role": "assistant", "content": "", "refusal": null});
    assert_eq!(events[0]["choices"][0]["delta"], role);
    assert_eq!(reply.tokens().concat(), "This is mock on belay: the");
    assert_eq!(events[7]["choices"][0]["delta"], json!({}));
    assert_eq!(events[7]["choices"][0]["finish_reason"], "stop");
    for event in &events {
        assert_eq!((&event["id"], &event["created"]), (&events[0]["id"], &events[0]["created"]));
        assert_eq!((&event["model"], event.get("usage")), (&json!("m"), None));
    }
    assert_eq!(ended(&mock).await, "done");
}

#[tokio::test]
async fn usage_comes_only_when_asked_for() {
    let mock = mock().await;
    let asking = with(json!({"stream_options": {"include_usage": true}}));
    let events = ask(mock.addr(), &asking).await.events();
    let (usage, others) = events.split_last().unwrap();
    assert_eq!(usage["choices"], json!([]));
    assert_eq!(usage["usage"]["completion_tokens"], 6);
    assert!(others.iter().all(|event| event.get("usage") == Some(&Value::Null)));
    let off = with(json!({"stream_options": {"include_usage": false}}));
    assert_eq!(ask(mock.addr(), &off).await.data().len(), 9);
}

#[tokio::test]
async fn the_pace_is_kept_and_does_not_drift() {
    let (ttft, gap) = (Duration::from_millis(120), Duration::from_millis(10));
    let options = MockOptions { ttft, gap, tokens: 41, ..MockOptions::default() };
    let mock = Mock::start(options).await.unwrap();
    let reply = ask(mock.addr(), &question()).await;
    let (first, last) = (reply.chunks[1].0, reply.chunks[41].0);
    assert!(first >= 120, "first token after {first} ms");
    assert!((380..600).contains(&(last - first)), "40 gaps took {} ms", last - first);
    let apart = reply.chunks.windows(2).filter(|two| two[1].0 > two[0].0 + 3).count();
    assert!(apart > 30, "tokens came in lumps: {:?}", reply.chunks);
}

#[tokio::test]
async fn a_whole_answer_carries_its_usage() {
    let mock = mock().await;
    let answer = ask(mock.addr(), &with(json!({"stream": false}))).await.json();
    assert_eq!(answer["object"], "chat.completion");
    let choice = &answer["choices"][0];
    assert_eq!(choice["message"]["content"], "This is mock on belay: the");
    assert_eq!(choice["finish_reason"], "stop");
    assert_eq!(answer["usage"]["completion_tokens"], 6);
    assert_eq!(ended(&mock).await, "done");
}

#[tokio::test]
async fn the_default_answer_is_a_whole_sentence_with_a_name_in_it() {
    let options = MockOptions { ttft: Duration::ZERO, gap: Duration::ZERO, ..Default::default() };
    let mock = Mock::start(options).await.unwrap();
    let text = ask(mock.addr(), &question()).await.tokens().concat();
    assert!(text.starts_with("This is mock on belay") && text.ends_with("hold you."), "{text}");
}

#[tokio::test]
async fn a_fixed_text_is_said_as_it_is() {
    let text = "One  two\nthree — vier.";
    let mock = start(MockOptions { text: Some(text.into()), ..MockOptions::default() }).await;
    assert_eq!(ask(mock.addr(), &question()).await.tokens().concat(), text);
}

#[tokio::test]
async fn max_tokens_ends_it_with_length() {
    let mock = mock().await;
    let reply = ask(mock.addr(), &with(json!({"max_completion_tokens": 2}))).await;
    assert_eq!(reply.tokens(), ["This", " is"]);
    assert_eq!(reply.finish().as_deref(), Some("length"));
}

fn forced(choice: &Value) -> Value {
    let properties = json!({"wall": {"type": "string"}, "metres": {"type": "integer"}});
    let parameters = json!({"type": "object", "properties": properties});
    let climb =
        json!({"type": "function", "function": {"name": "climb", "parameters": parameters}});
    let rest = json!({"type": "function", "function": {"name": "rest"}});
    with(json!({"tools": [climb, rest], "tool_choice": choice}))
}

#[tokio::test]
async fn a_required_tool_is_called() {
    let mock = mock().await;
    let reply = ask(mock.addr(), &forced(&json!("required"))).await;
    assert_eq!(reply.finish().as_deref(), Some("tool_calls"));
    let events = reply.events();
    let calls = events.iter().filter_map(|e| e["choices"][0]["delta"]["tool_calls"].get(0));
    let calls: Vec<&Value> = calls.collect();
    assert_eq!(calls[0]["function"], json!({"name": "climb", "arguments": ""}));
    assert!(calls[0]["id"].as_str().unwrap().starts_with("call_"));
    let pieces = calls.iter().filter_map(|call| call["function"]["arguments"].as_str());
    let arguments: Value = serde_json::from_str(&pieces.collect::<String>()).unwrap();
    assert_eq!(arguments, json!({"wall": "rope", "metres": 7}));
}

#[tokio::test]
async fn a_named_tool_is_called_whole_and_others_are_not() {
    let mock = mock().await;
    let named = json!({"type": "function", "function": {"name": "rest"}});
    let mut body = forced(&named);
    body["stream"] = json!(false);
    let choice = ask(mock.addr(), &body).await.json()["choices"][0].clone();
    assert_eq!(choice["message"]["tool_calls"][0]["function"]["name"], "rest");
    assert_eq!(choice["message"]["content"], Value::Null);
    assert_eq!(ask(mock.addr(), &forced(&json!("auto"))).await.tokens().len(), 6);
}

#[tokio::test]
async fn wrong_requests_are_refused_in_openais_shape() {
    let mock = mock().await;
    for body in [json!({"messages": []}), json!({"model": "m", "messages": []}), json!([1])] {
        let reply = ask(mock.addr(), &body).await;
        assert_eq!(reply.status(), 400);
        assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
    }
    assert_eq!(call(mock.addr(), "GET /v1/nothing", "").await.status(), 404);
    assert_eq!(call(mock.addr(), "GET /v1/chat/completions", "").await.status(), 405);
}

#[tokio::test]
async fn models_and_health() {
    let mock = start(MockOptions { name: "left".into(), ..MockOptions::default() }).await;
    let models = call(mock.addr(), "GET /v1/models", "").await.json();
    assert_eq!(models["data"][0]["id"], "left");
    assert_eq!(call(mock.addr(), "GET /healthz", "").await.body(), "ok");
}
