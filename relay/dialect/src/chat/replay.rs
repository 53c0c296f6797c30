//! Writes an answer that came in one piece as a stream.
//!
//! Some providers ignore `stream: true`. Their answers are valid. The client gets the shortest
//! stream with the same content: role, content, finish reason, usage.

use crate::common::fields::{Fields, Writer};
use crate::common::json::is_filled_array;
use bytes::{BufMut as _, BytesMut};
use serde_json::value::RawValue;

/// The members that every chunk of a stream repeats.
const IN_EACH: [&str; 5] = ["id", "created", "model", "system_fingerprint", "service_tier"];

/// Writes `body`, a valid `chat.completion`, as chunks: content to `out`, finish reasons to `tail`.
/// Returns the JSON of the chunk with its token counts, if it has any.
pub(crate) fn as_stream(body: &str, out: &mut BytesMut, tail: &mut BytesMut) -> Option<String> {
    let top = serde_json::from_str::<Fields>(body).ok()?;
    let choices = elements(top.text("choices").unwrap_or("[]"));
    let choices: Vec<Choice> =
        choices.iter().enumerate().map(|(n, raw)| Choice::of(n, raw)).collect();
    for choice in &choices {
        let role = choice.message.text("role").unwrap_or("\"assistant\"");
        let delta = format!(r#"{{"role":{role},"content":""}}"#);
        chunk(&top, &choice.chunk(&delta, None, &[]), None, out);
    }
    for choice in &choices {
        if let Some(delta) = choice.delta() {
            chunk(&top, &choice.chunk(&delta, None, &["logprobs"]), None, out);
        }
    }
    for (n, choice) in choices.iter().enumerate() {
        // Unknown fields are written once, when the answer is complete.
        let last = n + 1 == choices.len();
        if let Some(finish) = &choice.finish {
            chunk(&top, &choice.chunk("{}", Some(finish), &[]), last.then_some(&["usage"]), tail);
        }
    }
    let counts = top.text("usage")?;
    let mut writer = head(&top);
    writer.raw("choices", "[]");
    writer.raw("usage", counts);
    Some(text(writer))
}

struct Choice {
    index: String,
    message: Fields,
    finish: Option<String>,
    others: Fields,
}

impl Choice {
    fn of(n: usize, raw: &RawValue) -> Self {
        let others: Fields = serde_json::from_str(raw.get()).unwrap_or_default();
        let index = others.text("index").map_or_else(|| n.to_string(), str::to_owned);
        let message = others.text("message").and_then(|raw| serde_json::from_str(raw).ok());
        let finish = others.text("finish_reason").filter(|raw| *raw != "\"\"").map(str::to_owned);
        Self { index, message: message.unwrap_or_default(), finish, others }
    }

    /// The message without its role; `None`: nothing is left.
    fn delta(&self) -> Option<String> {
        let mut writer = Writer::new(Vec::new());
        let mut any = false;
        for (key, value) in self.message.iter() {
            match (key, value.get()) {
                ("role", _) | (_, "null" | "\"\"") => continue,
                ("tool_calls", raw) if is_filled_array(raw) => {
                    writer.key(key).extend_from_slice(&with_indexes(raw));
                }
                (_, raw) => writer.raw(key, raw),
            }
            any = true;
        }
        any.then(|| text(writer))
    }

    /// The one element of a chunk's `choices`.
    fn chunk(&self, delta: &str, finish: Option<&str>, also: &[&str]) -> String {
        let mut writer = Writer::new(Vec::new());
        writer.raw("index", &self.index);
        writer.raw("delta", delta);
        for (key, value) in self.others.iter() {
            let own = matches!(key, "index" | "message" | "finish_reason" | "logprobs");
            if also.contains(&key) || (finish.is_some() && !own) {
                writer.raw(key, value.get());
            }
        }
        writer.raw("finish_reason", finish.unwrap_or("null"));
        text(writer)
    }
}

/// Adds indexes to tool calls: a stream tells calls apart by an index, a whole answer by their
/// order.
fn with_indexes(calls: &str) -> Vec<u8> {
    let mut out = vec![b'['];
    for (n, call) in elements(calls).into_iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        match serde_json::from_str::<Fields>(call.get()) {
            Ok(call) => {
                let mut writer = Writer::new(out);
                writer.raw("index", &n.to_string());
                for (key, value) in call.iter().filter(|(key, _)| *key != "index") {
                    writer.raw(key, value.get());
                }
                out = writer.finish();
            }
            Err(_) => out.extend_from_slice(call.get().as_bytes()),
        }
    }
    out.push(b']');
    out
}

fn elements(array: &str) -> Vec<&RawValue> {
    serde_json::from_str(array).unwrap_or_default()
}

fn head(top: &Fields) -> Writer {
    let mut writer = Writer::new(Vec::new());
    for (key, value) in top.iter().filter(|(key, _)| IN_EACH.contains(key)) {
        writer.raw(key, value.get());
    }
    writer.string("object", "chat.completion.chunk");
    writer
}

/// Writes a chunk. With `but` it also gets the document's other fields, except those in `but`.
fn chunk(top: &Fields, choice: &str, but: Option<&[&str]>, out: &mut BytesMut) {
    let mut writer = head(top);
    writer.raw("choices", &format!("[{choice}]"));
    if let Some(but) = but {
        let written = |key| matches!(key, "choices" | "object") || IN_EACH.contains(&key);
        for (key, value) in top.iter().filter(|(key, _)| !written(key) && !but.contains(key)) {
            writer.raw(key, value.get());
        }
    }
    event(writer, out);
}

fn event(writer: Writer, out: &mut BytesMut) {
    out.put_slice(b"data: ");
    // A formatted document has line ends between its tokens.
    for byte in writer.finish() {
        out.put_u8(if matches!(byte, b'\n' | b'\r') { b' ' } else { byte });
    }
    out.put_slice(b"\n\n");
}

fn text(writer: Writer) -> String {
    String::from_utf8_lossy(&writer.finish()).into_owned()
}
