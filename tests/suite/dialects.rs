//! What follows from rungs that speak different dialects: who can be told what, who is
//! asked less, and what is kept for those who compare their answers.

mod capture;
mod degrade;
mod prompts;
mod words;

use serde_json::{Value, json};

/// An Anthropic stream that says this.
pub(crate) fn anthropic(text: &str) -> String {
    let event = |kind: &str, mut data: Value| {
        data["type"] = json!(kind);
        format!("event: {kind}\ndata: {data}\n\n")
    };
    let usage = json!({"input_tokens": 5, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "claude",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage});
    let block = json!({"type": "text", "text": ""});
    let delta = json!({"type": "text_delta", "text": text});
    [
        event("message_start", json!({"message": message})),
        event("content_block_start", json!({"index": 0, "content_block": block})),
        event("content_block_delta", json!({"index": 0, "delta": delta})),
        event("content_block_stop", json!({"index": 0})),
        event(
            "message_delta",
            json!({"delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 7}}),
        ),
        event("message_stop", json!({})),
    ]
    .concat()
}
