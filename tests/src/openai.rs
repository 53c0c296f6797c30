//! The OpenAI chat dialect as a provider writes it: chunks for scripts.

use serde_json::{Value, json};

/// One event: a data line and the blank line after it.
#[must_use]
pub fn event(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// The provider's terminator.
pub const DONE: &str = "data: [DONE]\n\n";

/// A chunk with this delta and finish reason.
#[must_use]
pub fn chunk(delta: &Value, finish: Option<&str>) -> String {
    event(&json!({
        "id": "c-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "m-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }))
}

/// The opening chunk: a role and no content.
#[must_use]
pub fn role() -> String {
    chunk(&json!({"role": "assistant", "content": ""}), None)
}

/// A piece of text.
#[must_use]
pub fn text(piece: &str) -> String {
    chunk(&json!({"content": piece}), None)
}

/// The last chunk, without content.
#[must_use]
pub fn finish(reason: &str) -> String {
    chunk(&json!({}), Some(reason))
}

/// The opening piece of a tool call.
#[must_use]
pub fn tool_call(index: u32, id: &str, name: &str, arguments: &str) -> String {
    let call = json!({
        "index": index,
        "id": id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    });
    chunk(&json!({"tool_calls": [call]}), None)
}

/// More of a tool call's arguments.
#[must_use]
pub fn tool_arguments(index: u32, arguments: &str) -> String {
    let call = json!({"index": index, "function": {"arguments": arguments}});
    chunk(&json!({"tool_calls": [call]}), None)
}

/// The usage chunk: no choices.
#[must_use]
pub fn usage(input: u64, output: u64) -> String {
    event(&json!({
        "id": "c-1",
        "object": "chat.completion.chunk",
        "created": 1_700_000_000,
        "model": "m-1",
        "choices": [],
        "usage": {
            "prompt_tokens": input,
            "completion_tokens": output,
            "total_tokens": input + output,
        },
    }))
}

/// An error as an event in a stream.
#[must_use]
pub fn error_event(message: &str, kind: &str, code: &Value) -> String {
    event(&json!({"error": {"message": message, "type": kind, "code": code}}))
}

/// A whole good stream: role, text, stop, usage, terminator.
#[must_use]
pub fn stream(words: &str) -> String {
    [role(), text(words), finish("stop"), usage(11, 3), DONE.to_owned()].concat()
}

/// A provider's error body.
#[must_use]
pub fn error_body(message: &str, kind: &str, code: &Value) -> Value {
    json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
}

/// A client's request for a stream.
#[must_use]
pub fn ask(model: &str) -> Value {
    json!({
        "model": model,
        "messages": [{"role": "user", "content": "Say something."}],
        "stream": true,
    })
}

/// The same request for one JSON answer.
#[must_use]
pub fn ask_whole(model: &str) -> Value {
    json!({
        "model": model,
        "messages": [{"role": "user", "content": "Say something."}],
    })
}

/// `request` with further fields.
#[must_use]
pub fn with(mut request: Value, more: &Value) -> Value {
    for (key, value) in more.as_object().into_iter().flatten() {
        request[key] = value.clone();
    }
    request
}
