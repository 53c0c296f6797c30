//! What providers of each dialect say: one row each.

use serde_json::{Value, json};
use tests::openai;

/// The words of one dialect.
pub struct Speech {
    /// Its name in a config.
    pub dialect: &'static str,
    /// What comes before the first text.
    pub begin: fn() -> String,
    /// A piece of text.
    pub text: fn(&str) -> String,
    /// A good end.
    pub stop: fn() -> String,
    /// An end with a word for it that nobody knows.
    pub aborted: fn() -> String,
    /// The terminator alone, as if there had been an answer.
    pub bare: fn() -> String,
    /// An error in the stream.
    pub error: fn() -> String,
    /// The start of an event, cut off in the middle of its JSON.
    pub half: &'static str,
}

/// Everybody that a rung can be.
pub const ALL: [Speech; 4] = [
    Speech {
        dialect: "openai-chat",
        begin: openai::role,
        text: openai::text,
        stop: || [openai::finish("stop"), openai::usage(11, 3), openai::DONE.to_owned()].concat(),
        aborted: || openai::finish("abort") + openai::DONE,
        bare: || openai::DONE.to_owned(),
        error: || openai::error_event("broken", "server_error", &Value::Null),
        half: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"",
    },
    Speech {
        dialect: "anthropic-messages",
        begin: || {
            let message = json!({"id": "msg_1", "type": "message", "role": "assistant",
                "model": "m", "content": [], "stop_reason": null, "stop_sequence": null,
                "usage": {"input_tokens": 11, "output_tokens": 1}});
            let block = json!({"type": "text", "text": ""});
            named("message_start", json!({"message": message}))
                + &named("content_block_start", json!({"index": 0, "content_block": block}))
        },
        text: |piece| {
            let delta = json!({"type": "text_delta", "text": piece});
            named("content_block_delta", json!({"index": 0, "delta": delta}))
        },
        stop: || anthropic_end("end_turn"),
        aborted: || anthropic_end("abort"),
        bare: || named("message_stop", json!({})),
        error: || {
            let error = json!({"type": "api_error", "message": "broken"});
            named("error", json!({"error": error}))
        },
        half: "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"ind",
    },
    Speech {
        dialect: "openai-responses",
        begin: || {
            let item = json!({"id": "m-1", "type": "message", "role": "assistant",
                "status": "in_progress", "content": []});
            let part = json!({"type": "output_text", "text": "", "annotations": []});
            let place = json!({"item_id": "m-1", "output_index": 0, "content_index": 0});
            named("response.created", json!({"response": response("in_progress")}))
                + &named("response.output_item.added", json!({"output_index": 0, "item": item}))
                + &named("response.content_part.added", openai::with(place, &json!({"part": part})))
        },
        text: |piece| {
            let data = json!({"item_id": "m-1", "output_index": 0, "content_index": 0,
                "delta": piece});
            named("response.output_text.delta", data)
        },
        stop: || named("response.completed", json!({"response": response("completed")})),
        aborted: || named("response.completed", json!({"response": response("abort")})),
        bare: || named("response.completed", json!({"response": response("completed")})),
        error: || named("error", json!({"code": "server_error", "message": "broken"})),
        half: "event: response.output_text.delta\ndata: {\"type\":\"response.output_te",
    },
    Speech {
        dialect: "gemini",
        begin: String::new,
        text: |piece| gemini(&json!({"content": {"role": "model", "parts": [{"text": piece}]}})),
        stop: || gemini(&json!({"content": {"role": "model"}, "finishReason": "STOP"})),
        aborted: || gemini(&json!({"content": {"role": "model"}, "finishReason": "ABORT"})),
        bare: String::new,
        error: || {
            let error = json!({"code": 500, "status": "INTERNAL", "message": "broken"});
            openai::event(&json!({"error": error}))
        },
        half: "data: {\"candidates\":[{\"content\":{\"parts\":[{\"te",
    },
];

fn named(kind: &str, data: Value) -> String {
    let data = openai::with(data, &json!({"type": kind}));
    format!("event: {kind}\ndata: {data}\n\n")
}

fn anthropic_end(reason: &str) -> String {
    let usage = json!({"output_tokens": 3});
    named("content_block_stop", json!({"index": 0}))
        + &named("message_delta", json!({"delta": {"stop_reason": reason}, "usage": usage}))
        + &named("message_stop", json!({}))
}

fn response(status: &str) -> Value {
    json!({"id": "resp_1", "object": "response", "created_at": 1, "model": "m",
        "status": status, "output": [],
        "usage": {"input_tokens": 11, "output_tokens": 3, "total_tokens": 14}})
}

fn gemini(candidate: &Value) -> String {
    openai::event(&json!({"candidates": [candidate], "modelVersion": "m", "responseId": "r-1",
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 3}}))
}
