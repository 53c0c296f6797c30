//! Writes a whole message from the neutral form.

use crate::common::fields::{Writer, push_array};
use crate::messages::usage::write;
use crate::messages::words::stop_reason;
use crate::neutral::{Answer, Piece, Signed, decode};
use crate::stream::facts::Facts;
use serde_json::value::RawValue;
use shared::Dialect;

/// The body of a message. `request` is used for ids that the provider did not give.
pub(crate) fn message(answer: &Answer, facts: &Facts, from: Dialect, request: &str) -> Vec<u8> {
    let signed = |data: &str| Signed::write(Dialect::AnthropicMessages, from, data);
    let mut blocks = Vec::new();
    let mut called = false;
    for piece in &answer.pieces {
        let mut block = Writer::new(Vec::new());
        match piece {
            Piece::Text(text) | Piece::Refusal(text) => {
                block.string("type", "text");
                block.escaped("text", text);
            }
            Piece::Reasoning { text, signature } => {
                block.string("type", "thinking");
                block.escaped("thinking", text);
                block.escaped("signature", &signature.as_deref().map(signed).unwrap_or_default());
            }
            Piece::Redacted(data) => {
                block.string("type", "redacted_thinking");
                block.escaped("data", &signed(data));
            }
            Piece::Call { call, id, name, arguments, signature, .. } => {
                called = true;
                if let Some(data) = signature {
                    let mut proof = Writer::new(Vec::new());
                    proof.string("type", "redacted_thinking");
                    proof.escaped("data", &signed(data));
                    blocks.push(proof.finish());
                }
                block.string("type", "tool_use");
                let made = format!("call_{request}_{call}");
                block.escaped("id", if id.is_empty() { &made } else { id });
                block.escaped("name", name);
                block.raw("input", &input(arguments));
            }
        }
        blocks.push(block.finish());
    }
    let mut message = Writer::new(Vec::new());
    let made = format!("msg_{request}");
    message.escaped("id", if answer.id.is_empty() { &made } else { &answer.id });
    message.string("type", "message");
    message.string("role", "assistant");
    message.escaped("model", &answer.model);
    let blocks: Vec<_> = blocks.iter().map(|block| String::from_utf8_lossy(block)).collect();
    push_array(blocks.iter().map(AsRef::as_ref), message.key("content"));
    message.string("stop_reason", stop_reason(answer.finish, called, facts.refused));
    match &answer.stop_sequence {
        Some(text) => message.escaped("stop_sequence", text),
        None => message.raw("stop_sequence", "null"),
    }
    message.raw("usage", &write(&facts.usage));
    message.finish()
}

/// Arguments as an object. If they were cut or are not an object, they are passed on as text, under
/// a key that says so: nothing is repaired and nothing is lost.
fn input(arguments: &str) -> String {
    let plain = decode(arguments);
    let is_object =
        serde_json::from_str::<&RawValue>(plain.trim()).is_ok_and(|raw| raw.get().starts_with('{'));
    if is_object {
        plain.trim().to_owned()
    } else if plain.trim().is_empty() {
        "{}".to_owned()
    } else {
        format!(r#"{{"INVALID_JSON":"{arguments}"}}"#)
    }
}
