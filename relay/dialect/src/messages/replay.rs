//! Writes a whole message as the events of a stream.

use crate::common::fields::Fields;
use crate::common::json::{elements, is_filled_array, string_inner};
use crate::neutral::Text;
use crate::stream::replay::{Replayed, event, object};
use serde_json::value::RawValue;

/// The events of a whole Anthropic message.
pub(crate) fn replay(body: &str) -> Replayed {
    let mut replayed = Replayed::default();
    let fields: Fields = serde_json::from_str(body).unwrap_or_default();
    let last = ["stop_reason", "stop_sequence", "stop_details"];
    let start = object(fields.iter().map(|(key, value)| match key {
        "content" => (key, "[]"),
        key if last.contains(&key) => (key, "null"),
        key => (key, value.get()),
    }));
    event("message_start", &[("message", &start)], &mut replayed.out);
    for (index, block) in elements(fields.get("content")).into_iter().enumerate() {
        let index = index.to_string();
        let (start, deltas) = block_of(block);
        let at = ("index", index.as_str());
        event("content_block_start", &[at, ("content_block", &start)], &mut replayed.out);
        for delta in deltas {
            event("content_block_delta", &[at, ("delta", &delta)], &mut replayed.out);
        }
        event("content_block_stop", &[at], &mut replayed.out);
    }
    let delta = object(
        fields.iter().map(|(key, value)| (key, value.get())).filter(|(key, _)| last.contains(key)),
    );
    let usage = fields.get("usage").map_or("{}", RawValue::get);
    event("message_delta", &[("delta", &delta), ("usage", usage)], &mut replayed.tail);
    event("message_stop", &[], &mut replayed.terminator);
    replayed
}

/// A block's start, and the deltas that follow it.
fn block_of(block: &RawValue) -> (String, Vec<String>) {
    let fields: Fields = serde_json::from_str(block.get()).unwrap_or_default();
    let kind = fields.text("type").and_then(string_inner).unwrap_or_default();
    // Each member that grows, the type of its delta, the delta's member, and the value at the
    // start.
    let growing: &[(&str, &str, &str, &str)] = match kind {
        "text" => &[("text", "text_delta", "text", "\"\"")],
        "thinking" => &[
            ("thinking", "thinking_delta", "thinking", "\"\""),
            ("signature", "signature_delta", "signature", "\"\""),
        ],
        "tool_use" | "server_tool_use" | "mcp_tool_use" => {
            &[("input", "input_json_delta", "partial_json", "{}")]
        }
        _ => return (block.get().to_owned(), Vec::new()),
    };
    let cited = kind == "text" && fields.text("citations").is_some_and(is_filled_array);
    let start = object(fields.iter().map(|(key, value)| {
        let grows = growing.iter().find(|(name, ..)| *name == key);
        match grows {
            Some((.., begin)) => (key, *begin),
            None if key == "citations" && cited => (key, "[]"),
            None => (key, value.get()),
        }
    }));
    let mut deltas = Vec::new();
    for (name, delta, member, _) in growing {
        let Some(value) = fields.get(name) else { continue };
        let text = if *name == "input" {
            format!("\"{}\"", Text::plain(value.get()).escaped())
        } else {
            value.get().to_owned()
        };
        deltas.push(format!(r#"{{"type":"{delta}","{member}":{text}}}"#));
    }
    for citation in elements(fields.get("citations").filter(|_| cited)) {
        deltas.push(format!(r#"{{"type":"citations_delta","citation":{}}}"#, citation.get()));
    }
    (start, deltas)
}
