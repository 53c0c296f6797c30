//! An answer that came in one piece although a stream was asked for, told as a stream of
//! the same dialect.
//!
//! Out of its own parts, as they are: what nobody here has heard of passes through whole,
//! in the event that begins it.

use crate::fields::{Fields, Writer};
use crate::frame;
use crate::json::{elements, is_filled_array, string_inner};
use crate::neutral::Text;
use bytes::BytesMut;
use serde_json::value::RawValue;

/// The parts of a stream.
#[derive(Debug, Default)]
pub(super) struct Retold {
    pub(super) out: BytesMut,
    /// What belongs to the ending, but the terminator.
    pub(super) tail: BytesMut,
    pub(super) terminator: BytesMut,
}

/// A whole Anthropic message as its events.
pub(super) fn message(body: &str) -> Retold {
    let mut retold = Retold::default();
    let fields: Fields = serde_json::from_str(body).unwrap_or_default();
    let last = ["stop_reason", "stop_sequence", "stop_details"];
    let start = object(fields.iter().map(|(key, value)| match key {
        "content" => (key, "[]"),
        key if last.contains(&key) => (key, "null"),
        key => (key, value.get()),
    }));
    event("message_start", &[("message", &start)], &mut retold.out);
    for (index, block) in elements(fields.get("content")).into_iter().enumerate() {
        let index = index.to_string();
        let (start, deltas) = block_of(block);
        let at = ("index", index.as_str());
        event("content_block_start", &[at, ("content_block", &start)], &mut retold.out);
        for delta in deltas {
            event("content_block_delta", &[at, ("delta", &delta)], &mut retold.out);
        }
        event("content_block_stop", &[at], &mut retold.out);
    }
    let delta = object(
        fields.iter().map(|(key, value)| (key, value.get())).filter(|(key, _)| last.contains(key)),
    );
    let usage = fields.get("usage").map_or("{}", RawValue::get);
    event("message_delta", &[("delta", &delta), ("usage", usage)], &mut retold.tail);
    event("message_stop", &[], &mut retold.terminator);
    retold
}

/// A block as it begins, and what grows in it.
fn block_of(block: &RawValue) -> (String, Vec<String>) {
    let fields: Fields = serde_json::from_str(block.get()).unwrap_or_default();
    let kind = fields.text("type").and_then(string_inner).unwrap_or_default();
    // Each member that grows, the delta that brings it, its member there, and its beginning.
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

/// A whole response as its events.
pub(super) fn response(body: &str) -> Retold {
    let mut retold = Retold::default();
    let mut sequence = 0;
    let fields: Fields = serde_json::from_str(body).unwrap_or_default();
    let begun = object(fields.iter().map(|(key, value)| match key {
        "output" => (key, "[]"),
        "status" => (key, "\"in_progress\""),
        "usage" | "incomplete_details" => (key, "null"),
        key => (key, value.get()),
    }));
    for name in ["response.created", "response.in_progress"] {
        numbered(name, &[("response", &begun)], &mut sequence, &mut retold.out);
    }
    for (place, item) in elements(fields.get("output")).into_iter().enumerate() {
        let place = place.to_string();
        response_item(&place, item, &mut sequence, &mut retold.out);
    }
    let status = fields.text("status").and_then(string_inner).unwrap_or("completed");
    let name = if status == "incomplete" { "response.incomplete" } else { "response.completed" };
    numbered(name, &[("response", body.trim())], &mut sequence, &mut retold.terminator);
    retold
}

fn response_item(place: &str, item: &RawValue, sequence: &mut u64, out: &mut BytesMut) {
    let fields: Fields = serde_json::from_str(item.get()).unwrap_or_default();
    let id = fields.text("id").unwrap_or("\"\"");
    let kind = fields.text("type").and_then(string_inner).unwrap_or_default();
    let at = [("item_id", id), ("output_index", place)];
    // What grows in it is not there yet when it begins.
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

fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut writer = Writer::new(Vec::new());
    members.for_each(|(key, value)| writer.raw(key, value));
    String::from_utf8_lossy(&writer.finish()).into_owned()
}

fn event(name: &str, members: &[(&str, &str)], out: &mut BytesMut) {
    let kind = format!("\"{name}\"");
    let all = std::iter::once(("type", kind.as_str())).chain(members.iter().copied());
    frame::named(name, &object(all), out);
}

fn numbered(name: &str, members: &[(&str, &str)], sequence: &mut u64, out: &mut BytesMut) {
    let number = sequence.to_string();
    *sequence += 1;
    let first = ("sequence_number", number.as_str());
    let all: Vec<_> = std::iter::once(first).chain(members.iter().copied()).collect();
    event(name, &all, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::{AnswerReader, AnswerSpec, End, Form};
    use serde_json::{Value, json};
    use shared::{Dialect, RequestId};

    /// Told as a stream, and put together again by the aggregate of streams.
    fn there_and_back(dialect: Dialect, body: &Value) -> Value {
        let spec = |form| AnswerSpec {
            from: dialect,
            to: dialect,
            form,
            wants_usage: true,
            choices: 1,
            finishes: false,
            max_event: 1 << 20,
            max_answer: 1 << 22,
            request: RequestId::from_number(1),
            created: 0,
        };
        let mut reader = AnswerReader::new(spec(Form::Stream));
        let mut out = BytesMut::new();
        let heard = reader.read_whole(body.to_string().as_bytes(), &mut out);
        assert_eq!(heard.end, Some(End::Proper));
        out.extend_from_slice(&reader.take_tail());
        out.extend_from_slice(&reader.take_terminator());
        let mut again = AnswerReader::new(spec(Form::Whole));
        let heard = again.read(&out, &mut BytesMut::new());
        assert_eq!(heard.end, Some(End::Proper), "{}", String::from_utf8_lossy(&out));
        serde_json::from_slice(&again.take_whole()).unwrap()
    }

    #[test]
    fn a_message_keeps_every_block_and_field() {
        let body = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "c", "x_new": [1],
            "content": [
                {"type": "thinking", "thinking": "h\"m", "signature": "c2ln"},
                {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "s", "content": [{"url": "u"}]},
                {"type": "text", "text": "hi", "citations": [{"type": "x", "url": "u"}]},
                {"type": "tool_use", "id": "t", "name": "f", "input": {"a": [1, "é"]}},
            ],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {"input_tokens": 3, "output_tokens": 4},
        });
        assert_eq!(there_and_back(Dialect::AnthropicMessages, &body), body);
    }

    #[test]
    fn a_response_keeps_every_item_and_id() {
        let body = json!({
            "id": "resp_1", "object": "response", "model": "m", "status": "completed",
            "output": [
                {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "h"}]},
                {"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"q": 1}},
                {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
                 "content": [{"type": "output_text", "text": "hi", "annotations": [{"url": "u"}]}]},
                {"id": "fc_1", "type": "function_call", "call_id": "c", "name": "f", "arguments": "{}",
                 "status": "completed"},
            ],
            "usage": {"input_tokens": 1, "output_tokens": 2},
        });
        assert_eq!(there_and_back(Dialect::OpenaiResponses, &body), body);
    }
}
