//! Answers in OpenAI's words.

use bytes::Bytes;
use serde_json::{Value, json};

use super::answer::{Answer, Kind};
use super::refusal::error;

/// What all chunks of one answer have in common.
#[derive(Debug)]
pub(super) struct Wire {
    id: String,
    created: u64,
    model: String,
    /// The usage was asked for, so that every chunk has a place for it.
    include_usage: bool,
    prompt_tokens: usize,
}

/// The terminator.
pub(super) const DONE: Bytes = Bytes::from_static(b"data: [DONE]\n\n");
/// A comment, as a gateway sends it while its model thinks.
pub(super) const PING: &[u8] = b": MOCK PROCESSING\n\n";
/// An event that was cut off in the making.
pub(super) const BROKEN: Bytes = Bytes::from_static(
    b"data: {\"id\":\"chatcmpl-broken\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\n\n",
);

impl Wire {
    /// A new answer of its own id.
    pub(super) fn new(
        model: &str,
        created: u64,
        include_usage: bool,
        prompt_tokens: usize,
    ) -> Self {
        let id = format!("chatcmpl-{}", random(29));
        Self { id, created, model: model.into(), include_usage, prompt_tokens }
    }

    /// The chunk that only says who speaks.
    pub(super) fn role(&self, answer: &Answer) -> Bytes {
        let content = match answer.kind {
            Kind::Call(_) => Value::Null,
            Kind::Content | Kind::Refusal => json!(""),
        };
        self.delta(json!({"role": "assistant", "content": content, "refusal": null}), None)
    }

    /// The chunk of one token.
    pub(super) fn token(&self, answer: &Answer, place: usize, token: &str) -> Bytes {
        let delta = match &answer.kind {
            Kind::Content => json!({"content": token}),
            Kind::Refusal => json!({"refusal": token}),
            Kind::Call(name) if place == 0 => json!({"tool_calls": [{
                "index": 0, "id": call_id(), "type": "function",
                "function": {"name": name, "arguments": token},
            }]}),
            Kind::Call(_) => json!({"tool_calls": [{
                "index": 0, "function": {"arguments": token},
            }]}),
        };
        self.delta(delta, None)
    }

    /// The chunk that says why the answer ends.
    pub(super) fn finish(&self, answer: &Answer) -> Bytes {
        self.delta(json!({}), Some(answer.finish))
    }

    /// The chunk of the usage, if it was asked for.
    pub(super) fn usage(&self, answer: &Answer) -> Option<Bytes> {
        self.include_usage.then(|| self.chunk(json!([]), self.usage_of(answer)))
    }

    fn delta(&self, delta: Value, finish: Option<&str>) -> Bytes {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        self.chunk(json!([choice]), Value::Null)
    }

    fn chunk(&self, choices: Value, usage: Value) -> Bytes {
        let mut chunk = json!({
            "id": self.id, "object": "chat.completion.chunk", "created": self.created,
            "model": self.model, "service_tier": "default",
            "system_fingerprint": FINGERPRINT, "choices": choices,
        });
        if let (true, Some(fields)) = (self.include_usage, chunk.as_object_mut()) {
            fields.insert("usage".into(), usage);
        }
        event(&chunk)
    }

    /// A whole answer.
    pub(super) fn whole(&self, answer: &Answer) -> Bytes {
        let text = answer.tokens.concat();
        let mut message = json!({"role": "assistant", "content": null, "refusal": null});
        match &answer.kind {
            Kind::Content => set(&mut message, "content", json!(text)),
            Kind::Refusal => set(&mut message, "refusal", json!(text)),
            Kind::Call(name) => {
                let function = json!({"name": name, "arguments": text});
                let call = json!({"id": call_id(), "type": "function", "function": function});
                set(&mut message, "tool_calls", json!([call]));
            }
        }
        set(&mut message, "annotations", json!([]));
        let body = json!({
            "id": self.id, "object": "chat.completion", "created": self.created,
            "model": self.model,
            "choices": [{
                "index": 0, "message": message, "logprobs": null,
                "finish_reason": answer.finish,
            }],
            "usage": self.usage_of(answer), "service_tier": "default",
            "system_fingerprint": FINGERPRINT,
        });
        Bytes::from(body.to_string())
    }

    fn usage_of(&self, answer: &Answer) -> Value {
        let (prompt, completion) = (self.prompt_tokens, answer.tokens.len());
        json!({
            "prompt_tokens": prompt, "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
            "completion_tokens_details": {
                "reasoning_tokens": 0, "audio_tokens": 0,
                "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
            },
        })
    }
}

/// An error in a stream. What is called an error already is a type; the rest
/// (`overloaded`, `rate_limit_exceeded`) are codes that serve as their own type.
pub(super) fn error_event(kind: &str, message: &str) -> Bytes {
    event(&error_body(kind, message))
}

/// The same, in place of a whole answer.
pub(super) fn error_body(kind: &str, message: &str) -> Value {
    let code = (!kind.ends_with("_error")).then_some(kind);
    error(message, kind, None, code)
}

/// A random id of so many letters.
pub(super) fn random(letters: usize) -> String {
    (0..letters).map(|_| fastrand::alphanumeric()).collect()
}

fn call_id() -> String {
    format!("call_{}", random(24))
}

const FINGERPRINT: &str = "fp_belaymock";

fn set(value: &mut Value, key: &str, to: Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert(key.into(), to);
    }
}

fn event(data: &Value) -> Bytes {
    Bytes::from(format!("data: {data}\n\n"))
}
