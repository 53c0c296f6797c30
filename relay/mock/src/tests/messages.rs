//! `POST /v1/messages`.

use serde_json::{Value, json};

use super::super::Mock;
use super::client::{Reply, post};
use super::mock;

const KEYS: &[&str] = &["x-api-key: sk-ant", "anthropic-version: 2023-06-01"];

fn body(fields: &Value) -> Value {
    let mut body = json!({
        "model": "m", "max_tokens": 4096, "stream": true,
        "messages": [{"role": "user", "content": "hello"}],
    });
    for (key, value) in fields.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

async fn say(mock: &Mock, fields: Value) -> Reply {
    post(mock.addr(), "/v1/messages", KEYS, &body(&fields)).await
}

/// Checks that the mock refuses with 400; returns the message.
async fn refused(mock: &Mock, fields: Value) -> String {
    let reply = say(mock, fields.clone()).await;
    assert_eq!(reply.status(), 400, "{fields}");
    let error = reply.json();
    assert_eq!(
        (&error["type"], &error["error"]["type"]),
        (&json!("error"), &json!("invalid_request_error"))
    );
    assert!(error["request_id"].is_string());
    error["error"]["message"].as_str().unwrap().to_owned()
}

fn tools() -> Value {
    let schema = json!({"type": "object", "properties": {"wall": {"type": "string"}}});
    json!([{"name": "climb", "input_schema": schema}, {"name": "rest", "input_schema": {"type": "object"}}])
}

#[tokio::test]
async fn a_text_is_one_block() {
    let mock = mock().await;
    let reply = say(&mock, json!({})).await;
    assert_eq!(reply.header("content-type"), Some("text/event-stream; charset=utf-8"));
    assert_eq!(
        reply.names(),
        [
            "message_start",
            "content_block_start",
            "ping",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert_eq!(reply.said("/delta/text"), "This is mock on belay: the");
    let frames = reply.frames();
    assert!(frames.iter().all(|(name, data)| data["type"] == **name));
    let message = &frames[0].1["message"];
    assert_eq!((&message["content"], &message["stop_reason"]), (&json!([]), &Value::Null));
    assert_eq!(message["usage"]["output_tokens"], 1);
    let (_, end) = &frames[frames.len() - 2];
    assert_eq!(end["delta"], json!({"stop_reason": "end_turn", "stop_sequence": null}));
    assert_eq!(end["usage"]["output_tokens"], 6);
    assert_eq!(end["usage"]["input_tokens"], message["usage"]["input_tokens"]);
}

#[tokio::test]
async fn a_whole_answer_has_the_same_parts() {
    let mock = mock().await;
    let whole = say(
        &mock,
        json!({"stream": false, "tools": tools(),
        "x_mock": {"text": "I go.", "calls": 2, "cached_tokens": 50, "cache_write_tokens": 8}}),
    )
    .await
    .json();
    let kinds: Vec<&Value> =
        whole["content"].as_array().unwrap().iter().map(|b| &b["type"]).collect();
    assert_eq!(kinds, ["text", "tool_use", "tool_use"]);
    assert_eq!(whole["content"][1]["input"], json!({"wall": "rope"}));
    assert_eq!((&whole["type"], &whole["stop_reason"]), (&json!("message"), &json!("tool_use")));
    assert_eq!(whole["usage"]["cache_read_input_tokens"], 50);
    assert_eq!(whole["usage"]["cache_creation_input_tokens"], 8);
    assert_eq!(whole["usage"]["input_tokens"], 8);
}

#[tokio::test]
async fn calls_are_blocks_whose_input_comes_in_pieces() {
    let mock = mock().await;
    let choice = json!({"tools": tools(), "tool_choice": {"type": "tool", "name": "climb"}});
    let reply = say(&mock, choice).await;
    assert_eq!(
        reply.names(),
        [
            "message_start",
            "content_block_start",
            "ping",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    let frames = reply.frames();
    let block = &frames[1].1["content_block"];
    assert_eq!(
        (&block["type"], &block["name"], &block["input"]),
        (&json!("tool_use"), &json!("climb"), &json!({}))
    );
    assert!(block["id"].as_str().unwrap().starts_with("toolu_"));
    assert_eq!(frames[3].1["delta"]["partial_json"], "");
    assert_eq!(reply.said("/delta/partial_json"), r#"{"wall":"rope"}"#);
    assert_eq!(frames[frames.len() - 2].1["delta"]["stop_reason"], "tool_use");
    let two = say(&mock, json!({"tools": tools(), "x_mock": {"calls": 2}})).await.frames();
    let starts: Vec<_> = two.iter().filter(|(name, _)| name == "content_block_start").collect();
    assert_eq!(starts.len(), 2);
    assert_eq!(
        (&starts[1].1["index"], &starts[1].1["content_block"]["name"]),
        (&json!(1), &json!("rest"))
    );
}

#[tokio::test]
async fn keys_and_version_are_minded() {
    let mock = mock().await;
    let bearer = ["authorization: Bearer sk-ant", "anthropic-version: 2023-06-01"];
    let reply = post(mock.addr(), "/v1/messages", &bearer, &body(&json!({}))).await;
    assert_eq!(
        (reply.status(), &reply.json()["error"]["type"]),
        (401, &json!("authentication_error"))
    );
    let reply = post(mock.addr(), "/v1/messages", &["x-api-key: k"], &body(&json!({}))).await;
    assert_eq!(reply.status(), 400);
    assert_eq!(reply.json()["error"]["message"], "anthropic-version: header is required");
}

#[tokio::test]
async fn fields_are_minded() {
    let mock = mock().await;
    let no = |fields| refused(&mock, fields);
    assert_eq!(no(json!({"n": 1})).await, "n: Extra inputs are not permitted");
    assert_eq!(no(json!({"max_tokens": null})).await, "max_tokens: Field required");
    assert_eq!(no(json!({"temperature": 1.5})).await, "temperature: range: 0..1");
    assert!(no(json!({"stop_sequences": ["\n"]})).await.contains("non-whitespace"));
    assert!(no(json!({"system": [{"type": "text", "text": ""}]})).await.contains("non-empty"));
    let thinking = |budget: u64| json!({"thinking": {"type": "enabled", "budget_tokens": budget}});
    assert!(no(thinking(1000)).await.contains("1024"));
    assert!(no(thinking(4096)).await.contains("`max_tokens` must be greater"));
    let mut forced = thinking(2000);
    forced["tools"] = tools();
    forced["tool_choice"] = json!({"type": "any"});
    assert!(no(forced).await.contains("tool_choice forces tool use"));
    let openai = json!([{"type": "function", "function": {"name": "climb"}}]);
    assert_eq!(
        say(&mock, json!({"tools": [{"name": "climb", "parameters": {}}]})).await.status(),
        400
    );
    assert_eq!(
        say(&mock, json!({"tools": openai})).await.status(),
        200,
        "a tool that Anthropic runs"
    );
    let choice = json!({"tools": tools(), "tool_choice": {"type": "tool", "name": "sleep"}});
    assert!(no(choice).await.contains("not found"));
}

fn user(content: Value) -> Value {
    json!({"role": "user", "content": content})
}

fn assistant(content: Value) -> Value {
    json!({"role": "assistant", "content": content})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "climb", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

#[tokio::test]
async fn conversations_are_minded() {
    let mock = mock().await;
    let (go, text) = (user(json!("go")), json!({"type": "text", "text": "well"}));
    for (messages, words) in [
        (json!([]), "at least one message"),
        (json!([assistant(json!("go"))]), "first message"),
        (json!([go, go]), "multiple \"user\" roles"),
        (json!([{"role": "system", "content": "be"}, go]), "top-level `system`"),
        (json!([user(json!(""))]), "non-empty content"),
        (
            json!([user(json!([{"type": "text", "text": ""}]))]),
            "text content blocks must be non-empty",
        ),
        (json!([go, assistant(json!([call("a")])), go]), "without `tool_result`"),
        (json!([go, assistant(json!([call("a")]))]), "without `tool_result`"),
        (
            json!([go, assistant(json!([call("a"), call("b")])), user(json!([result("a")]))]),
            "without `tool_result`",
        ),
        (
            json!([go, assistant(json!([call("a")])), user(json!([text, result("a")]))]),
            "without `tool_result`",
        ),
        (
            json!([go, assistant(json!([call("a")])), user(json!([result("a"), result("b")]))]),
            "unexpected `tool_use_id`",
        ),
        (json!([user(json!([result("a")]))]), "unexpected `tool_use_id`"),
        (json!([go, assistant(json!([call("a:1")])), user(json!([result("a:1")]))]), "pattern"),
        (
            json!([
                go,
                assistant(json!([{"type": "tool_use", "id": "a", "name": "climb", "input": "{}"}])),
                user(json!([result("a")]))
            ]),
            "valid dictionary",
        ),
        (
            json!([{"role": "user", "content": "go", "name": "eva"}]),
            "messages.0.name: Extra inputs",
        ),
    ] {
        let said = refused(&mock, json!({"messages": messages})).await;
        assert!(said.contains(words), "{messages}: {said}");
    }
    let fine = json!([
        go,
        assistant(json!([text, call("a"), call("b")])),
        user(json!([result("b"), result("a"), text]))
    ]);
    assert_eq!(say(&mock, json!({"messages": fine})).await.status(), 200);
}

#[tokio::test]
async fn thinking_is_signed_and_the_signature_has_to_come_back() {
    let mock = mock().await;
    let thinking = json!({"type": "enabled", "budget_tokens": 2000});
    let reply =
        say(&mock, json!({"thinking": thinking, "tools": tools(), "x_mock": {"calls": 1}})).await;
    let thought = reply.said("/delta/thinking");
    let signature = reply.said("/delta/signature");
    assert!(thought.ends_with("It is.") && signature.len() > 40, "{thought}: {signature}");
    let frames = reply.frames();
    assert_eq!(
        frames[1].1["content_block"],
        json!({"type": "thinking", "thinking": "", "signature": ""})
    );
    let deltas: Vec<&Value> =
        frames.iter().map(|(_, data)| &data["delta"]["type"]).filter(|t| t.is_string()).collect();
    let signed = deltas.iter().position(|kind| **kind == "signature_delta").unwrap();
    assert!(deltas[..signed].iter().all(|kind| **kind == "thinking_delta"));
    let again = |block: Value| {
        json!({"thinking": thinking, "tools": tools(), "messages": [
            user(json!("go")), assistant(json!([block, call("a")])), user(json!([result("a")])),
        ]})
    };
    let block =
        |thought: &str| json!({"type": "thinking", "thinking": thought, "signature": signature});
    assert_eq!(say(&mock, again(block(&thought))).await.status(), 200);
    assert!(refused(&mock, again(block("other"))).await.contains("Invalid `signature`"));
    let unsigned = json!({"type": "thinking", "thinking": thought});
    assert!(refused(&mock, again(unsigned)).await.contains("signature: Field required"));
    let text = json!({"type": "text", "text": "well"});
    assert!(refused(&mock, again(text.clone())).await.contains("but found `text`"));
    let mut off = again(text);
    off["thinking"] = json!({"type": "disabled"});
    assert_eq!(say(&mock, off).await.status(), 200);
    let whole = say(&mock, json!({"thinking": thinking, "stream": false})).await.json();
    assert_eq!(whole["content"][0], block(&thought));
}

#[tokio::test]
async fn endings_have_anthropics_names() {
    let mock = mock().await;
    for (wish, reason) in [
        (json!({"finish": "length"}), "max_tokens"),
        (json!({"finish": "content_filter"}), "refusal"),
        (json!({"finish": "refusal"}), "refusal"),
    ] {
        let reply = say(&mock, json!({"x_mock": wish})).await;
        let frames = reply.frames();
        let delta = &frames[frames.len() - 2].1["delta"];
        assert_eq!(delta["stop_reason"], reason);
        assert_eq!(delta.get("stop_details").is_some(), reason == "refusal");
        assert_eq!(reply.said("/delta/text").is_empty(), wish["finish"] == "refusal");
    }
    let short = say(&mock, json!({"max_tokens": 2})).await;
    assert_eq!(short.said("/delta/text"), "This is");
    assert_eq!(short.said("/delta/stop_reason"), "max_tokens");
}
