//! `POST /v1/responses`.

use serde_json::{Value, json};

use super::super::Mock;
use super::client::{Reply, post};
use super::mock;

async fn say(mock: &Mock, fields: Value) -> Reply {
    let mut body = json!({"model": "m", "stream": true, "input": "hello"});
    for (key, value) in fields.as_object().unwrap() {
        body[key] = value.clone();
    }
    post(mock.addr(), "/v1/responses", &["authorization: Bearer sk"], &body).await
}

/// Checks that the mock refuses with 400; returns the code and the message.
async fn refused(mock: &Mock, fields: Value) -> (Value, String) {
    let reply = say(mock, fields.clone()).await;
    assert_eq!(reply.status(), 400, "{fields}");
    let error = reply.json()["error"].clone();
    assert_eq!(error["type"], "invalid_request_error");
    (error["code"].clone(), error["message"].as_str().unwrap().to_owned())
}

fn tools() -> Value {
    let schema = json!({"type": "object", "properties": {"wall": {"type": "string"}}});
    json!([
        {"type": "function", "name": "climb", "parameters": schema, "strict": false},
        {"type": "function", "name": "rest", "parameters": {"type": "object"}},
    ])
}

/// Checks what every stream has: event names, and numbers without gaps.
fn numbered(reply: &Reply) {
    for (place, (name, data)) in reply.frames().iter().enumerate() {
        assert_eq!((&data["type"], &data["sequence_number"]), (&json!(name), &json!(place)));
    }
}

#[tokio::test]
async fn a_text_has_its_whole_life() {
    let mock = mock().await;
    let reply = say(&mock, json!({})).await;
    assert_eq!(
        reply.names(),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    numbered(&reply);
    let frames = reply.frames();
    assert_eq!(reply.said("/delta"), "This is mock on belay: the");
    let delta = &frames[4].1;
    assert_eq!((&delta["output_index"], &delta["content_index"]), (&json!(0), &json!(0)));
    assert_eq!(delta["item_id"], frames[2].1["item"]["id"]);
    let response = &frames.last().unwrap().1["response"];
    assert_eq!(response["id"], frames[0].1["response"]["id"]);
    assert_eq!(response["status"], "completed");
    assert_eq!(response["output"][0], frames[frames.len() - 2].1["item"]);
    assert_eq!(response["output"][0]["content"][0]["text"], "This is mock on belay: the");
    assert_eq!(response["usage"]["output_tokens"], 6);
    let whole = say(&mock, json!({"stream": false, "x_mock": {"cached_tokens": 9}})).await.json();
    assert_eq!((&whole["object"], &whole["status"]), (&json!("response"), &json!("completed")));
    assert_eq!(whole["usage"]["input_tokens_details"]["cached_tokens"], 9);
    let input = response["usage"]["input_tokens"].as_u64().unwrap() + 9;
    assert_eq!(whole["usage"]["input_tokens"], input);
}

#[tokio::test]
async fn calls_are_items() {
    let mock = mock().await;
    let reply = say(&mock, json!({"tools": tools(), "tool_choice": "required"})).await;
    assert_eq!(
        reply.names(),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    numbered(&reply);
    let frames = reply.frames();
    let item = &frames[2].1["item"];
    assert_eq!(
        (&item["type"], &item["name"], &item["arguments"]),
        (&json!("function_call"), &json!("climb"), &json!(""))
    );
    assert!(item["id"].as_str().unwrap().starts_with("fc_"));
    assert!(item["call_id"].as_str().unwrap().starts_with("call_"));
    assert_eq!(reply.said("/delta"), r#"{"wall":"rope"}"#);
    let two = say(&mock, json!({"tools": tools(), "x_mock": {"text": "I go.", "calls": 2}})).await;
    numbered(&two);
    let output = two.frames().pop().unwrap().1["response"]["output"].clone();
    let kinds: Vec<&Value> = output.as_array().unwrap().iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["message", "function_call", "function_call"]);
}

#[tokio::test]
async fn reasoning_is_shown_and_sealed_when_asked_for() {
    let mock = mock().await;
    let asking = json!({
        "reasoning": {"effort": "low", "summary": "auto"}, "include": ["reasoning.encrypted_content"],
    });
    let reply = say(&mock, asking.clone()).await;
    numbered(&reply);
    assert_eq!(
        reply.names()[2..8],
        [
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
        ]
    );
    let item = reply.frames().pop().unwrap().1["response"]["output"][0].clone();
    assert!(item["summary"][0]["text"].as_str().unwrap().ends_with("It is."));
    let again = |item: &Value| json!({"input": [{"role": "user", "content": "go"}, item]});
    assert_eq!(say(&mock, again(&item)).await.status(), 200);
    let mut spoilt = item.clone();
    spoilt["encrypted_content"] =
        json!(format!("{}0", item["encrypted_content"].as_str().unwrap()));
    assert_eq!(refused(&mock, again(&spoilt)).await.0, "invalid_encrypted_content");
    let hidden = say(&mock, json!({"reasoning": {"effort": "low"}})).await;
    numbered(&hidden);
    assert_eq!(hidden.names()[2..4], ["response.output_item.added", "response.output_item.done"]);
    let response = hidden.frames().pop().unwrap().1["response"].clone();
    assert_eq!(response["output"][0]["summary"], json!([]));
    assert_eq!(response["output"][0].get("encrypted_content"), None);
    assert_eq!(response["usage"]["output_tokens_details"]["reasoning_tokens"], 13);
}

#[tokio::test]
async fn endings_have_openais_names() {
    let mock = mock().await;
    for (wish, reason) in [("length", "max_output_tokens"), ("content_filter", "content_filter")] {
        let reply = say(&mock, json!({"x_mock": {"finish": wish}})).await;
        let (name, end) = reply.frames().pop().unwrap();
        assert_eq!(
            (name.as_str(), &end["response"]["status"]),
            ("response.incomplete", &json!("incomplete"))
        );
        assert_eq!(end["response"]["incomplete_details"], json!({"reason": reason}));
        assert_eq!(end["response"]["output"][0]["status"], "incomplete");
    }
    let reply = say(&mock, json!({"x_mock": {"finish": "refusal"}})).await;
    assert!(reply.names().contains(&"response.refusal.delta".into()));
    let (name, end) = reply.frames().pop().unwrap();
    assert_eq!(name, "response.completed");
    assert_eq!(
        end["response"]["output"][0]["content"][0]["refusal"],
        "I'm sorry, but I can't help with that."
    );
}

#[tokio::test]
async fn fields_are_minded() {
    let mock = mock().await;
    let unknown = json!("unknown_parameter");
    for (fields, code, words) in [
        (json!({"messages": []}), &unknown, "'messages'"),
        (json!({"max_tokens": 5}), &unknown, "'max_tokens'"),
        (
            json!({"stream_options": {"include_usage": true}}),
            &unknown,
            "'stream_options.include_usage'",
        ),
        (json!({"reasoning": {"budget": 1}}), &unknown, "'reasoning.budget'"),
        (
            json!({"tools": [{"type": "function", "name": "a", "function": {}}]}),
            &unknown,
            "'tools[0].function'",
        ),
        (
            json!({"tools": [{"type": "function", "function": {"name": "a"}}]}),
            &json!("missing_required_parameter"),
            "'tools[0].name'",
        ),
        (json!({"input": null}), &json!("missing_required_parameter"), "'input'"),
        (json!({"max_output_tokens": 5}), &json!("integer_below_min_value"), "16"),
    ] {
        let (found, said) = refused(&mock, fields.clone()).await;
        assert!(found == *code && said.contains(words), "{fields}: {found} {said}");
    }
    let reply =
        post(mock.addr(), "/v1/responses", &[], &json!({"model": "m", "input": "go"})).await;
    assert_eq!(reply.status(), 401);
}

#[tokio::test]
async fn inputs_are_minded() {
    let mock = mock().await;
    let call = json!({"type": "function_call", "call_id": "a", "name": "climb", "arguments": "{}"});
    let output =
        |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "done"});
    let go = json!({"role": "user", "content": "go"});
    let part =
        |role: &str, kind: &str| json!({"role": role, "content": [{"type": kind, "text": "x"}]});
    for (input, words) in [
        (json!([go, output("a")]), "No tool call found"),
        (json!([go, call]), "No tool output found"),
        (json!([go, call, output("b")]), "No tool call found"),
        (json!([part("assistant", "input_text")]), "'output_text' and 'refusal'"),
        (json!([part("user", "text")]), "'input_text'"),
        (json!([{"role": "tool", "content": "x"}]), "Invalid value: 'tool'"),
        (json!([{"role": "user", "content": "x", "name": "eva"}]), "'input[0].name'"),
        (json!([{"role": "user", "content": null}]), "'input[0].content'"),
    ] {
        let (_, said) = refused(&mock, json!({"input": input})).await;
        assert!(said.contains(words), "{input}: {said}");
    }
    let fine = json!([
        part("developer", "input_text"),
        go,
        part("assistant", "output_text"),
        call,
        output("a")
    ]);
    assert_eq!(say(&mock, json!({"input": fine})).await.status(), 200);
}
