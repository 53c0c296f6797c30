//! Anthropic's answers on the wire.

use bytes::Bytes;
use serde_json::{Value, json};

use super::super::answer::{Finish, Kind, Part};
use super::super::dialect::Turn;
use super::super::frame::named;
use super::super::plan::Plan;
use super::super::proof::sign;

/// What Anthropic sends while nothing happens.
pub(super) const PING: &[u8] = b"event: ping\ndata: {\"type\": \"ping\"}\n\n";
/// An event that breaks off in the middle.
pub(super) const BROKEN: Bytes = Bytes::from_static(
    b"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"ty\n\n",
);

/// An answer as a stream: its start, one block after the other, the stop reason and the usage, its
/// stop. A ping follows the first block's start.
pub(super) fn plan(turn: &Turn<'_>) -> Plan {
    let mut plan = Plan::default();
    plan.event(message_start(turn));
    let mut blocks: Vec<Option<&Part>> =
        turn.answer.parts.iter().filter(spoken).map(Some).collect();
    if turn.answer.finish == Finish::Refusal {
        blocks.push(None); // A refusal has a block, and nothing in it.
    }
    if blocks.first().is_none_or(|part| !part.is_some_and(is_call)) {
        first_block(&mut plan, blocks.first().copied().flatten());
        plan.open();
    } else {
        plan.open();
    }
    for (index, part) in blocks.iter().enumerate() {
        if index > 0 && !part.is_some_and(is_call) {
            plan.event(block_start(index, *part));
        }
        if let Some(part) = part {
            block(&mut plan, index, part);
        }
        plan.event(named(&json!({"type": "content_block_stop", "index": index})));
    }
    plan.event(message_delta(turn));
    plan.event(named(&json!({"type": "message_stop"})));
    plan
}

fn first_block(plan: &mut Plan, part: Option<&Part>) {
    plan.event(block_start(0, part));
    plan.event(Bytes::from_static(PING));
}

fn block(plan: &mut Plan, index: usize, part: &Part) {
    for (place, token) in part.tokens.iter().enumerate() {
        let delta = match &part.kind {
            Kind::Reasoning => json!({"type": "thinking_delta", "thinking": token}),
            Kind::Call { .. } => json!({"type": "input_json_delta", "partial_json": token}),
            Kind::Content | Kind::Refusal => json!({"type": "text_delta", "text": token}),
        };
        let delta = block_delta(index, &delta);
        if is_call(part) && place == 0 {
            plan.token(block_start(index, Some(part)));
            if index == 0 {
                plan.event(Bytes::from_static(PING));
            }
            plan.event(delta);
        } else {
            plan.token(delta);
        }
    }
    if matches!(part.kind, Kind::Reasoning) {
        let signature = sign("thinking", &part.text());
        let delta = json!({"type": "signature_delta", "signature": signature});
        plan.event(block_delta(index, &delta));
    }
}

fn block_delta(index: usize, delta: &Value) -> Bytes {
    named(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
}

fn block_start(index: usize, part: Option<&Part>) -> Bytes {
    let block = match part.map(|part| &part.kind) {
        Some(Kind::Reasoning) => json!({"type": "thinking", "thinking": "", "signature": ""}),
        Some(Kind::Call { id, name }) => {
            json!({"type": "tool_use", "id": format!("toolu_{id}"), "name": name, "input": {}})
        }
        _ => json!({"type": "text", "text": ""}),
    };
    named(&json!({"type": "content_block_start", "index": index, "content_block": block}))
}

fn is_call(part: &Part) -> bool {
    matches!(part.kind, Kind::Call { .. })
}

/// Whether a part is sent: Anthropic's models decline without any text.
fn spoken(part: &&Part) -> bool {
    !matches!(part.kind, Kind::Refusal)
}

fn message_start(turn: &Turn<'_>) -> Bytes {
    let mut message = message(turn);
    if let Some(fields) = message.as_object_mut() {
        fields.insert("content".into(), json!([]));
        fields.insert("stop_reason".into(), Value::Null);
        let mut usage = usage(turn, 1);
        if let Some(usage) = usage.as_object_mut() {
            usage.insert("service_tier".into(), json!("standard"));
        }
        fields.insert("usage".into(), usage);
        fields.shift_remove("stop_details");
    }
    named(&json!({"type": "message_start", "message": message}))
}

fn message_delta(turn: &Turn<'_>) -> Bytes {
    let mut delta = json!({"stop_reason": stop_reason(turn), "stop_sequence": null});
    if let (Some(details), Some(fields)) = (stop_details(turn), delta.as_object_mut()) {
        fields.insert("stop_details".into(), details);
    }
    let usage = usage(turn, turn.answer.count());
    named(&json!({"type": "message_delta", "delta": delta, "usage": usage}))
}

/// A stream without a block.
pub(super) fn empty(turn: &Turn<'_>, finish: bool) -> Vec<Bytes> {
    let finish = finish.then(|| message_delta(turn));
    let stop = named(&json!({"type": "message_stop"}));
    [message_start(turn)].into_iter().chain(finish).chain([stop]).collect()
}

/// A whole answer.
pub(super) fn whole(turn: &Turn<'_>) -> Value {
    message(turn)
}

fn message(turn: &Turn<'_>) -> Value {
    let content: Vec<Value> = turn.answer.parts.iter().filter(spoken).map(whole_block).collect();
    let mut message = json!({
        "id": format!("msg_{}", turn.id), "type": "message", "role": "assistant",
        "model": turn.request.model, "content": content,
        "stop_reason": stop_reason(turn), "stop_sequence": null,
        "usage": usage(turn, turn.answer.count()),
    });
    if let (Some(details), Some(fields)) = (stop_details(turn), message.as_object_mut()) {
        fields.insert("stop_details".into(), details);
    }
    message
}

fn whole_block(part: &Part) -> Value {
    let text = part.text();
    match &part.kind {
        Kind::Reasoning => {
            let signature = sign("thinking", &text);
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Kind::Call { id, name } => json!({
            "type": "tool_use", "id": format!("toolu_{id}"), "name": name,
            "input": part.arguments(),
        }),
        Kind::Content | Kind::Refusal => json!({"type": "text", "text": text}),
    }
}

fn stop_reason(turn: &Turn<'_>) -> &'static str {
    match turn.answer.finish {
        Finish::Stop => "end_turn",
        Finish::Calls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::Filter | Finish::Refusal => "refusal",
    }
}

fn stop_details(turn: &Turn<'_>) -> Option<Value> {
    let explanation = match turn.answer.finish {
        Finish::Refusal => turn.answer.declined(),
        Finish::Filter => "The answer was stopped by a filter.".into(),
        _ => return None,
    };
    Some(json!({"type": "refusal", "category": "mock", "explanation": explanation}))
}

fn usage(turn: &Turn<'_>, output: usize) -> Value {
    json!({
        "input_tokens": turn.request.prompt_tokens,
        "cache_creation_input_tokens": turn.answer.cache_written,
        "cache_read_input_tokens": turn.answer.cached,
        "output_tokens": output,
    })
}
