//! The items of a response's output.

use serde_json::{Value, json};

use super::super::answer::{Finish, Kind, Part};
use super::super::dialect::Turn;
use super::super::proof::seal;

/// The id of the item at this place.
pub(super) fn id(turn: &Turn<'_>, place: usize, part: &Part) -> String {
    let letters = match part.kind {
        Kind::Reasoning => "rs",
        Kind::Call { .. } => "fc",
        Kind::Content | Kind::Refusal => "msg",
    };
    format!("{letters}_{}{place:02}", turn.id)
}

/// An item as it is announced, before its first token.
pub(super) fn begun(turn: &Turn<'_>, place: usize, part: &Part) -> Value {
    item(turn, place, part, "in_progress", &Shown::Nothing)
}

/// An item with all that is in it.
pub(super) fn done(turn: &Turn<'_>, place: usize, part: &Part) -> Value {
    let last = place + 1 == turn.answer.parts.len();
    let cut = matches!(turn.answer.finish, Finish::Length | Finish::Filter);
    let status = if last && cut { "incomplete" } else { "completed" };
    item(turn, place, part, status, &Shown::All)
}

/// The part of a message that holds its text.
pub(super) fn content(part: &Part, text: &str) -> Value {
    match part.kind {
        Kind::Refusal => json!({"type": "refusal", "refusal": text}),
        _ => json!({"type": "output_text", "annotations": [], "logprobs": [], "text": text}),
    }
}

/// The part of a reasoning item that holds its words.
pub(super) fn summary(text: &str) -> Value {
    json!({"type": "summary_text", "text": text})
}

enum Shown {
    Nothing,
    All,
}

fn item(turn: &Turn<'_>, place: usize, part: &Part, status: &str, shown: &Shown) -> Value {
    let id = id(turn, place, part);
    let all = matches!(shown, Shown::All);
    match &part.kind {
        Kind::Reasoning => {
            let words = all && turn.request.shown;
            let summary = if words { json!([summary(&part.text())]) } else { json!([]) };
            let mut item = json!({"id": id, "type": "reasoning", "summary": summary});
            if let (true, Some(fields)) = (turn.request.proof, item.as_object_mut()) {
                // The text grows while the model thinks, so the first sealed content differs.
                let so_far = if all { part.text() } else { String::new() };
                fields.insert("encrypted_content".into(), json!(seal(&so_far)));
            }
            item
        }
        Kind::Call { id: call, name } => json!({
            "id": id, "type": "function_call", "status": status,
            "arguments": if all { part.text() } else { String::new() },
            "call_id": format!("call_{call}"), "name": name,
        }),
        Kind::Content | Kind::Refusal => {
            let content = if all { json!([content(part, &part.text())]) } else { json!([]) };
            json!({
                "id": id, "type": "message", "status": status, "content": content,
                "role": "assistant",
            })
        }
    }
}
