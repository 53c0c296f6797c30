//! Chat answers on the wire.

use bytes::Bytes;
use serde_json::{Value, json};

use super::super::answer::{Answer, Finish, Kind};
use super::super::dialect::Turn;
use super::super::frame::unnamed;
use super::super::plan::Plan;

/// The terminator.
const DONE: Bytes = Bytes::from_static(b"data: [DONE]\n\n");
/// A comment, as a gateway sends it while its model thinks.
pub(super) const PING: &[u8] = b": MOCK PROCESSING\n\n";
/// An event that breaks off in the middle.
pub(super) const BROKEN: Bytes = Bytes::from_static(
    b"data: {\"id\":\"chatcmpl-broken\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\n\n",
);

/// An answer as a stream: role, tokens, finish, usage if it was asked for, terminator.
pub(super) fn plan(turn: &Turn<'_>) -> Plan {
    let mut plan = Plan::default();
    plan.event(role(turn));
    plan.open();
    let mut call = 0;
    for part in &turn.answer.parts {
        for (place, token) in part.tokens.iter().enumerate() {
            plan.token(delta(turn, token_delta(&part.kind, call, place, token), None));
        }
        call += usize::from(matches!(part.kind, Kind::Call { .. }));
    }
    plan.event(delta(turn, json!({}), Some(finish(&turn.answer))));
    if turn.request.include_usage() {
        plan.event(chunk(turn, json!([]), usage(turn)));
    }
    plan.event(DONE);
    plan
}

/// A stream without content.
pub(super) fn empty(turn: &Turn<'_>, finishes: bool) -> Vec<Bytes> {
    let finish = finishes.then(|| delta(turn, json!({}), Some(finish(&turn.answer))));
    finish.into_iter().chain([DONE]).collect()
}

/// The chunk that has only the role.
fn role(turn: &Turn<'_>) -> Bytes {
    let content = match turn.answer.parts.first().map(|part| &part.kind) {
        Some(Kind::Call { .. }) => Value::Null,
        _ => json!(""),
    };
    delta(turn, json!({"role": "assistant", "content": content, "refusal": null}), None)
}

fn token_delta(kind: &Kind, call: usize, place: usize, token: &str) -> Value {
    match kind {
        Kind::Reasoning => json!({"reasoning_content": token}),
        Kind::Content => json!({"content": token}),
        Kind::Refusal => json!({"refusal": token}),
        Kind::Call { id, name } if place == 0 => json!({"tool_calls": [{
            "index": call, "id": format!("call_{id}"), "type": "function",
            "function": {"name": name, "arguments": token},
        }]}),
        Kind::Call { .. } => json!({"tool_calls": [{
            "index": call, "function": {"arguments": token},
        }]}),
    }
}

fn finish(answer: &Answer) -> &'static str {
    match answer.finish {
        Finish::Stop | Finish::Refusal => "stop",
        Finish::Calls => "tool_calls",
        Finish::Length => "length",
        Finish::Filter => "content_filter",
    }
}

fn delta(turn: &Turn<'_>, delta: Value, finish: Option<&str>) -> Bytes {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    chunk(turn, json!([choice]), Value::Null)
}

fn chunk(turn: &Turn<'_>, choices: Value, usage: Value) -> Bytes {
    let mut chunk = json!({
        "id": format!("chatcmpl-{}", turn.id), "object": "chat.completion.chunk",
        "created": turn.created, "model": turn.request.model, "service_tier": "default",
        "system_fingerprint": FINGERPRINT, "choices": choices,
    });
    // If usage is asked for, every chunk has a field for it.
    if turn.request.include_usage() {
        set(&mut chunk, "usage", usage);
    }
    unnamed(&chunk)
}

/// A whole answer.
pub(super) fn whole(turn: &Turn<'_>) -> Value {
    let mut message = json!({"role": "assistant", "content": null, "refusal": null});
    let mut calls = Vec::new();
    if turn.answer.parts.is_empty() {
        set(&mut message, "content", json!(""));
    }
    for part in &turn.answer.parts {
        match &part.kind {
            Kind::Reasoning => set(&mut message, "reasoning_content", json!(part.text())),
            Kind::Content => set(&mut message, "content", json!(part.text())),
            Kind::Refusal => set(&mut message, "refusal", json!(part.text())),
            Kind::Call { id, name } => {
                let function = json!({"name": name, "arguments": part.text()});
                let id = format!("call_{id}");
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
        }
    }
    if !calls.is_empty() {
        set(&mut message, "tool_calls", Value::Array(calls));
    }
    set(&mut message, "annotations", json!([]));
    json!({
        "id": format!("chatcmpl-{}", turn.id), "object": "chat.completion",
        "created": turn.created, "model": turn.request.model,
        "choices": [{
            "index": 0, "message": message, "logprobs": null,
            "finish_reason": finish(&turn.answer),
        }],
        "usage": usage(turn), "service_tier": "default", "system_fingerprint": FINGERPRINT,
    })
}

fn usage(turn: &Turn<'_>) -> Value {
    let (prompt, completion) = (turn.prompt_tokens(), turn.answer.count());
    let mut details = json!({"cached_tokens": turn.answer.cached, "audio_tokens": 0});
    if turn.answer.cache_written > 0 {
        set(&mut details, "cache_write_tokens", json!(turn.answer.cache_written));
    }
    json!({
        "prompt_tokens": prompt, "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": details,
        "completion_tokens_details": {
            "reasoning_tokens": turn.answer.reasoning(), "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}

const FINGERPRINT: &str = "fp_belaymock";

fn set(value: &mut Value, key: &str, to: Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.insert(key.into(), to);
    }
}
