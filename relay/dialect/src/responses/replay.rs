//! Writes a whole response as the events of a stream.

use crate::common::fields::Fields;
use crate::common::json::{elements, string_inner};
use crate::stream::replay::{Replayed, event, object};
use bytes::BytesMut;
use serde_json::value::RawValue;

/// The events of a whole response.
pub(crate) fn replay(body: &str) -> Replayed {
    let mut replayed = Replayed::default();
    let mut sequence = 0;
    let fields: Fields = serde_json::from_str(body).unwrap_or_default();
    let begun = object(fields.iter().map(|(key, value)| match key {
        "output" => (key, "[]"),
        "status" => (key, "\"in_progress\""),
        "usage" | "incomplete_details" => (key, "null"),
        key => (key, value.get()),
    }));
    for name in ["response.created", "response.in_progress"] {
        numbered(name, &[("response", &begun)], &mut sequence, &mut replayed.out);
    }
    for (place, item) in elements(fields.get("output")).into_iter().enumerate() {
        let place = place.to_string();
        response_item(&place, item, &mut sequence, &mut replayed.out);
    }
    let status = fields.text("status").and_then(string_inner).unwrap_or("completed");
    let name = if status == "incomplete" { "response.incomplete" } else { "response.completed" };
    numbered(name, &[("response", body.trim())], &mut sequence, &mut replayed.terminator);
    replayed
}

fn response_item(place: &str, item: &RawValue, sequence: &mut u64, out: &mut BytesMut) {
    let fields: Fields = serde_json::from_str(item.get()).unwrap_or_default();
    let id = fields.text("id").unwrap_or("\"\"");
    let kind = fields.text("type").and_then(string_inner).unwrap_or_default();
    let at = [("item_id", id), ("output_index", place)];
    // The members that grow are empty at the start of the item.
    let start = object(fields.iter().map(|(key, value)| match (kind, key) {
        ("message" | "reasoning", "content" | "summary") => (key, "[]"),
        ("function_call", "arguments") | ("custom_tool_call", "input") => (key, "\"\""),
        (_, "status") => (key, "\"in_progress\""),
        _ => (key, value.get()),
    }));
    let added = [("output_index", place), ("item", start.as_str())];
    numbered("response.output_item.added", &added, sequence, out);
    let parts = [("content", "content_index"), ("summary", "summary_index")];
    for (list, index_name) in parts {
        for (index, part) in elements(fields.get(list)).into_iter().enumerate() {
            let index = index.to_string();
            let at = [at[0], at[1], (index_name, index.as_str())];
            response_part(&at, part, sequence, out);
        }
    }
    for (member, event) in
        [("arguments", "function_call_arguments"), ("input", "custom_tool_call_input")]
    {
        if let Some(text) = fields.get(member).filter(|_| kind.ends_with("_call")) {
            let delta = [at[0], at[1], ("delta", text.get())];
            numbered(&format!("response.{event}.delta"), &delta, sequence, out);
            let done = [at[0], at[1], (member, text.get())];
            numbered(&format!("response.{event}.done"), &done, sequence, out);
        }
    }
    let done = [("output_index", place), ("item", item.get())];
    numbered("response.output_item.done", &done, sequence, out);
}

fn response_part(at: &[(&str, &str); 3], part: &RawValue, sequence: &mut u64, out: &mut BytesMut) {
    let fields: Fields = serde_json::from_str(part.get()).unwrap_or_default();
    let kind = fields.text("type").and_then(string_inner).unwrap_or_default();
    let (family, event, member) = match kind {
        "output_text" => ("content_part", "output_text", "text"),
        "refusal" => ("content_part", "refusal", "refusal"),
        "reasoning_text" => ("content_part", "reasoning_text", "text"),
        "summary_text" => ("reasoning_summary_part", "reasoning_summary_text", "text"),
        _ => return,
    };
    let text = fields.get(member).map_or("\"\"", RawValue::get);
    let start = object(fields.iter().map(|(key, value)| match key {
        key if key == member => (key, "\"\""),
        "annotations" => (key, "[]"),
        key => (key, value.get()),
    }));
    let with = |last| [at[0], at[1], at[2], last];
    numbered(&format!("response.{family}.added"), &with(("part", &start)), sequence, out);
    numbered(&format!("response.{event}.delta"), &with(("delta", text)), sequence, out);
    numbered(&format!("response.{event}.done"), &with((member, text)), sequence, out);
    numbered(&format!("response.{family}.done"), &with(("part", part.get())), sequence, out);
}

fn numbered(name: &str, members: &[(&str, &str)], sequence: &mut u64, out: &mut BytesMut) {
    let number = sequence.to_string();
    *sequence += 1;
    let first = ("sequence_number", number.as_str());
    let all: Vec<_> = std::iter::once(first).chain(members.iter().copied()).collect();
    event(name, &all, out);
}
