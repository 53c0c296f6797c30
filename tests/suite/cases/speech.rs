//! What a provider of each dialect says: answers, beginnings of answers, errors.

use serde_json::{Value, json};
use tests::{Reply, openai};

/// A provider's dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speech {
    Chat,
    Messages,
    Responses,
    Gemini,
}

/// All of them.
pub(super) const SPEECHES: [Speech; 4] =
    [Speech::Chat, Speech::Messages, Speech::Responses, Speech::Gemini];

/// An event with its payload's type as its name.
fn named(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap())
}

impl Speech {
    /// Its name in the config.
    pub(super) const fn dialect(self) -> &'static str {
        match self {
            Self::Chat => "openai-chat",
            Self::Messages => "anthropic-messages",
            Self::Responses => "openai-responses",
            Self::Gemini => "gemini",
        }
    }

    /// What comes before the first token.
    pub(super) fn preamble(self) -> String {
        match self {
            Self::Chat => openai::role(),
            Self::Messages => {
                let message = json!({
                    "id": "msg_1", "type": "message", "role": "assistant", "model": "m-a",
                    "content": [], "stop_reason": null, "stop_sequence": null,
                    "usage": {"input_tokens": 11, "output_tokens": 1},
                });
                let block = json!({"type": "text", "text": ""});
                named(&json!({"type": "message_start", "message": message}))
                    + &named(
                        &json!({"type": "content_block_start", "index": 0, "content_block": block}),
                    )
            }
            Self::Responses => named(&json!({
                "type": "response.created", "sequence_number": 0,
                "response": {"id": "resp_1", "object": "response", "model": "m-r",
                    "status": "in_progress", "output": []},
            })),
            Self::Gemini => String::new(),
        }
    }

    /// A piece of text.
    pub(super) fn text(self, piece: &str) -> String {
        match self {
            Self::Chat => openai::text(piece),
            Self::Messages => named(&json!({
                "type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": piece},
            })),
            Self::Responses => named(&json!({
                "type": "response.output_text.delta", "sequence_number": 1, "item_id": "m",
                "output_index": 0, "content_index": 0, "delta": piece,
            })),
            Self::Gemini => openai::event(&json!({
                "candidates": [{"content": {"role": "model", "parts": [{"text": piece}]},
                    "index": 0}],
                "modelVersion": "m-g", "responseId": "g-1",
            })),
        }
    }

    /// The proper end, with 11 tokens in and 3 out.
    pub(super) fn stop(self) -> String {
        match self {
            Self::Chat => {
                [openai::finish("stop"), openai::usage(11, 3), openai::DONE.to_owned()].concat()
            }
            Self::Messages => [
                json!({"type": "content_block_stop", "index": 0}),
                json!({"type": "message_delta", "usage": {"output_tokens": 3},
                    "delta": {"stop_reason": "end_turn", "stop_sequence": null}}),
                json!({"type": "message_stop"}),
            ]
            .iter()
            .map(named)
            .collect(),
            Self::Responses => named(&json!({
                "type": "response.completed", "sequence_number": 2,
                "response": {"id": "resp_1", "object": "response", "model": "m-r",
                    "status": "completed", "output": [],
                    "usage": {"input_tokens": 11, "output_tokens": 3, "total_tokens": 14}},
            })),
            Self::Gemini => openai::event(&json!({
                "candidates": [{"finishReason": "STOP", "index": 0}],
                "modelVersion": "m-g", "responseId": "g-1",
                "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 3,
                    "totalTokenCount": 14},
            })),
        }
    }

    /// A good answer with this text.
    pub(super) fn good(self, words: &str) -> Reply {
        Reply::sse([self.preamble(), self.text(words), self.stop()].concat())
    }

    /// A stream whose first token is `words`; what follows is up to the script.
    pub(super) fn begins(self, words: &str) -> Reply {
        Reply::stream().send(self.preamble() + &self.text(words))
    }

    /// A body of an error.
    pub(super) fn error_body(self, status: u16, message: &str) -> Value {
        match self {
            Self::Chat | Self::Responses => {
                openai::error_body(message, "invalid_request_error", &Value::Null)
            }
            Self::Messages => json!({
                "type": "error",
                "error": {"type": "invalid_request_error", "message": message},
                "request_id": "req_upstream",
            }),
            Self::Gemini => json!({
                "error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"},
            }),
        }
    }

    /// An error as an event in a stream.
    pub(super) fn error_event(self, message: &str) -> String {
        match self {
            Self::Chat => openai::error_event(message, "server_error", &json!(500)),
            Self::Messages => named(&json!({
                "type": "error", "error": {"type": "api_error", "message": message},
            })),
            Self::Responses => named(&json!({
                "type": "error", "sequence_number": 2, "code": "server_error",
                "message": message, "param": null,
            })),
            Self::Gemini => openai::event(&json!({
                "error": {"code": 500, "message": message, "status": "INTERNAL"},
            })),
        }
    }

    /// The header that carries the key to such a provider, and how it stands there.
    pub(super) fn credential(self, key: &str) -> (&'static str, String) {
        match self {
            Self::Chat | Self::Responses => ("authorization", format!("Bearer {key}")),
            Self::Messages => ("x-api-key", key.to_owned()),
            Self::Gemini => ("x-goog-api-key", key.to_owned()),
        }
    }
}
