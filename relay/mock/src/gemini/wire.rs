//! Google's answers on the wire.

use bytes::Bytes;
use serde_json::{Value, json};

use super::super::answer::{Finish, Kind, Part};
use super::super::dialect::Turn;
use super::super::frame::crlf;
use super::super::plan::Plan;
use super::super::proof::sign_call;

/// A comment, because Google has no event for this.
pub(super) const PING: &[u8] = b": MOCK PROCESSING\r\n\r\n";
/// An event that breaks off in the middle.
pub(super) const BROKEN: Bytes =
    Bytes::from_static(b"data: {\"candidates\": [{\"content\": {\"parts\": [{\"te\r\n\r\n");

/// An answer as a stream: each event is a whole response that has only what is new; the last one
/// has the finish reason, and nothing follows it.
pub(super) fn plan(turn: &Turn<'_>) -> Plan {
    let mut plan = Plan::default();
    let (mut thought, mut said) = (0, 0);
    let mut last = None;
    let mut signed = false;
    for part in turn.answer.parts.iter().filter(spoken) {
        // A call is sent whole, however many tokens it has.
        let pieces = match part.kind {
            Kind::Call { .. } => vec![(call(turn, part, !signed), part.tokens.len())],
            _ => part.tokens.iter().map(|token| (text(part, token), 1)).collect(),
        };
        signed |= matches!(part.kind, Kind::Call { .. });
        for (piece, tokens) in pieces {
            match part.kind {
                Kind::Reasoning => thought += tokens,
                _ => said += tokens,
            }
            let parts = json!([piece]);
            let usage = usage(turn, said, thought);
            plan.token(crlf(&response(turn, &parts, None, usage.clone())));
            last = Some(crlf(&response(turn, &parts, Some(turn.answer.finish), usage)));
        }
    }
    plan.last = last;
    plan.event(finish(turn));
    plan
}

/// A stream without content.
pub(super) fn empty(turn: &Turn<'_>, finishes: bool) -> Vec<Bytes> {
    finishes.then(|| finish(turn)).into_iter().collect()
}

/// The last event of an answer without a token that could carry the finish reason.
fn finish(turn: &Turn<'_>) -> Bytes {
    let (said, thought) = counts(turn);
    let parts =
        if turn.answer.finish == Finish::Refusal { json!([]) } else { json!([{"text": ""}]) };
    crlf(&response(turn, &parts, Some(turn.answer.finish), usage(turn, said, thought)))
}

/// A whole answer.
pub(super) fn whole(turn: &Turn<'_>) -> Value {
    let mut signed = false;
    let parts: Vec<Value> = turn
        .answer
        .parts
        .iter()
        .filter(spoken)
        .map(|part| match part.kind {
            Kind::Call { .. } => call(turn, part, !std::mem::replace(&mut signed, true)),
            _ => text(part, &part.text()),
        })
        .collect();
    let (said, thought) = counts(turn);
    response(turn, &json!(parts), Some(turn.answer.finish), usage(turn, said, thought))
}

fn counts(turn: &Turn<'_>) -> (usize, usize) {
    let said: usize = turn.answer.parts.iter().filter(spoken).map(|part| part.tokens.len()).sum();
    let thought = turn.answer.reasoning();
    (said - thought, thought)
}

/// Whether a part is sent: Google's models decline without any text.
fn spoken(part: &&Part) -> bool {
    !matches!(part.kind, Kind::Refusal)
}

fn text(part: &Part, text: &str) -> Value {
    match part.kind {
        Kind::Reasoning => json!({"text": text, "thought": true}),
        _ => json!({ "text": text }),
    }
}

/// A call. Of several calls, the first one is signed.
fn call(turn: &Turn<'_>, part: &Part, first: bool) -> Value {
    let Kind::Call { id, name } = &part.kind else { return Value::Null };
    let args = part.arguments();
    let signature = (first && turn.request.proof).then(|| sign_call(name, &args));
    let mut call = json!({"name": name, "args": args});
    // Only from the third generation on do calls have ids.
    if let (true, Some(fields)) = (turn.request.model.starts_with("gemini-3"), call.as_object_mut())
    {
        fields.insert("id".into(), json!(id.chars().take(8).collect::<String>()));
    }
    let mut part = json!({ "functionCall": call });
    if let (Some(signature), Some(fields)) = (signature, part.as_object_mut()) {
        fields.insert("thoughtSignature".into(), json!(signature));
    }
    part
}

fn response(turn: &Turn<'_>, parts: &Value, finish: Option<Finish>, usage: Value) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}});
    if let Some(fields) = candidate.as_object_mut() {
        if parts.as_array().is_some_and(Vec::is_empty) {
            fields.shift_remove("content");
        }
        if let Some(finish) = finish {
            fields.insert("finishReason".into(), json!(reason(finish)));
        }
        fields.insert("index".into(), json!(0));
        if finish == Some(Finish::Calls) {
            let words = "Model generated function call(s).";
            fields.insert("finishMessage".into(), json!(words));
        }
    }
    json!({
        "candidates": [candidate], "usageMetadata": usage,
        "modelVersion": turn.request.model, "responseId": turn.id,
    })
}

fn reason(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop | Finish::Calls => "STOP",
        Finish::Length => "MAX_TOKENS",
        Finish::Filter | Finish::Refusal => "SAFETY",
    }
}

/// The usage so far; what is 0 is left out, as Google does.
fn usage(turn: &Turn<'_>, said: usize, thought: usize) -> Value {
    let prompt = turn.prompt_tokens();
    let mut usage = json!({"promptTokenCount": prompt});
    if let Some(fields) = usage.as_object_mut() {
        let mut set = |key: &str, count: usize| {
            if count > 0 {
                fields.insert(key.into(), json!(count));
            }
        };
        set("candidatesTokenCount", said);
        set("totalTokenCount", prompt + said + thought);
        set("cachedContentTokenCount", turn.answer.cached);
        set("thoughtsTokenCount", thought);
        let details = json!([{"modality": "TEXT", "tokenCount": prompt}]);
        fields.insert("promptTokensDetails".into(), details);
    }
    usage
}
