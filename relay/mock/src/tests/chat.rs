//! What chat has besides text: reasoning, several calls, JSON, and what OpenAI checks in a
//! conversation.

use serde_json::{Value, json};

use super::client::ask;
use super::{mock, with};

fn tools() -> Value {
    let place = json!({"type": "object", "properties": {"wall": {"type": "string"}}});
    let climb = json!({"type": "function", "function": {"name": "climb", "parameters": place}});
    json!([climb, {"type": "function", "function": {"name": "rest"}}])
}

#[tokio::test]
async fn reasoning_comes_first_and_is_counted() {
    let mock = mock().await;
    let asking = with(json!({
        "reasoning_effort": "low", "stream_options": {"include_usage": true},
    }));
    let reply = ask(mock.addr(), &asking).await;
    assert_eq!(reply.said("/choices/0/delta/reasoning_content").split('?').count(), 3);
    assert_eq!(reply.tokens().len(), 6);
    let usage = reply.events().pop().unwrap()["usage"].clone();
    assert_eq!(usage["completion_tokens_details"]["reasoning_tokens"], 13);
    assert_eq!(usage["completion_tokens"], 19);
    let none = ask(mock.addr(), &with(json!({"reasoning_effort": "none"}))).await;
    assert_eq!(none.said("/choices/0/delta/reasoning_content"), "");
}

#[tokio::test]
async fn two_calls_have_an_index_and_an_id_each() {
    let mock = mock().await;
    let asking = with(json!({"tools": tools(), "x_mock": {"calls": 2}}));
    let events = ask(mock.addr(), &asking).await.events();
    let calls = events.iter().filter_map(|e| e["choices"][0]["delta"]["tool_calls"].get(0));
    let starts: Vec<&Value> = calls.filter(|call| call["id"].is_string()).collect();
    assert_eq!(starts.len(), 2);
    assert_eq!((&starts[0]["index"], &starts[0]["function"]["name"]), (&json!(0), &json!("climb")));
    assert_eq!((&starts[1]["index"], &starts[1]["function"]["name"]), (&json!(1), &json!("rest")));
    assert_ne!(starts[0]["id"], starts[1]["id"]);
    let asking = with(json!({"tools": tools(), "x_mock": {"calls": 2}, "stream": false}));
    let whole = ask(mock.addr(), &asking).await.json()["choices"][0].clone();
    assert_eq!(whole["message"]["tool_calls"].as_array().map(Vec::len), Some(2));
    assert_eq!(
        (&whole["message"]["content"], &whole["finish_reason"]),
        (&Value::Null, &json!("tool_calls"))
    );
}

#[tokio::test]
async fn json_is_said_when_a_schema_asks_for_it() {
    let mock = mock().await;
    let schema = json!({"type": "object", "properties": {"grade": {"type": "integer"}}});
    let format = json!({"type": "json_schema", "json_schema": {"name": "g", "schema": schema}});
    let reply = ask(mock.addr(), &with(json!({"response_format": format}))).await;
    assert_eq!(reply.tokens().concat(), r#"{"grade":7}"#);
}

#[tokio::test]
async fn every_call_wants_its_answer_and_every_answer_its_call() {
    let mock = mock().await;
    let call = |id: &str| {
        json!({
            "id": id, "type": "function", "function": {"name": "climb", "arguments": "{}"},
        })
    };
    let user = json!({"role": "user", "content": "go"});
    let calls = json!({"role": "assistant", "content": null, "tool_calls": [call("a"), call("b")]});
    let answer = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "done"});
    for (messages, status) in [
        (json!([user, calls, answer("b"), answer("a")]), 200),
        (json!([user, calls, answer("a"), answer("b"), user]), 200),
        (json!([user, calls, answer("a")]), 400),
        (json!([user, calls, answer("a"), user, answer("b")]), 400),
        (json!([user, calls, user]), 400),
        (json!([user, answer("a")]), 400),
        (json!([user, calls, answer("a"), answer("c")]), 400),
    ] {
        let reply = ask(mock.addr(), &with(json!({"messages": messages}))).await;
        assert_eq!(reply.status(), status, "{messages}");
    }
}
