//! Puts a stream of messages together into one message.
//!
//! With as little knowledge as possible: known pieces of text are joined, of all other fields the
//! last value counts, and unknown blocks and fields are kept.

use crate::common::fields::{Fields, Writer, push_array};
use crate::common::json::{members, number, raw_members, string_inner, word};
use crate::neutral::{Text, decode};
use crate::stream::pass_through::Collect;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// The memory of a field besides its text.
const FIELD: usize = 192;

/// A message that is growing.
#[derive(Debug, Default)]
pub(crate) struct Collected {
    message: Fields,
    usage: Fields,
    /// The blocks with their indexes; an index may be used twice.
    blocks: Vec<(u64, Block)>,
    /// The latest block of each index.
    by_index: BTreeMap<u64, usize>,
    held: usize,
}

/// One content block.
#[derive(Debug, Default)]
struct Block {
    fields: Fields,
    /// Texts that came in pieces, escaped as they came.
    texts: BTreeMap<&'static str, String>,
    /// Citations that came one by one.
    citations: Vec<String>,
}

raw_members! {
    Members {
        kind: "type",
        index: "index",
        message: "message",
        content_block: "content_block",
        delta: "delta",
        usage: "usage",
    }
}

/// Each kind of delta, the member that holds its piece, and the block's member that grows.
const PIECES: &[(&str, &str, &str)] = &[
    ("text_delta", "text", "text"),
    ("thinking_delta", "thinking", "thinking"),
    ("signature_delta", "signature", "signature"),
    ("input_json_delta", "partial_json", "input"),
    ("compaction_delta", "content", "content"),
];

impl Collect for Collected {
    /// Adds one event, which is valid JSON.
    fn event(&mut self, event: &str, _is_last: bool) {
        let Ok(raw) = serde_json::from_str::<&RawValue>(event) else { return };
        let event: Members<'_> = members(Some(raw));
        let index = number(event.index).unwrap_or_default();
        match word(event.kind) {
            // Some proxies send it twice.
            "message_start" if self.message.is_empty() => {
                for (key, value) in object(event.message) {
                    match key.as_str() {
                        "content" => {}
                        "usage" => self.keep_usage(&value),
                        _ => keep(&mut self.message, key, value, &mut self.held),
                    }
                }
            }
            "content_block_start" => {
                let mut block = Block::default();
                for (key, value) in object(event.content_block) {
                    keep(&mut block.fields, key, value, &mut self.held);
                }
                self.begin(index, block);
            }
            "content_block_delta" => {
                let known = self.by_index.get(&index).copied();
                let at = known.or_else(|| Some(self.begin(index, Block::unbegun(event.delta)?)));
                if let Some((_, block)) = at.and_then(|at| self.blocks.get_mut(at)) {
                    block.add(event.delta, &mut self.held);
                }
            }
            "message_delta" => {
                for (key, value) in object(event.delta) {
                    keep(&mut self.message, key, value, &mut self.held);
                }
                if let Some(usage) = event.usage {
                    self.keep_usage(usage);
                }
            }
            _ => {}
        }
    }

    /// Takes the message so far.
    fn take(&mut self) -> Vec<u8> {
        let mut this = std::mem::take(self);
        this.blocks.sort_by_key(|(index, _)| *index);
        let mut writer = Writer::new(Vec::with_capacity(this.held));
        let last = ["stop_reason", "stop_sequence"];
        for (key, value) in this.message.iter().filter(|(key, _)| !last.contains(key)) {
            writer.raw(key, value.get());
        }
        let blocks: Vec<_> = this.blocks.iter().map(|(_, block)| block.write()).collect();
        push_array(blocks.iter().map(String::as_str), writer.key("content"));
        for (key, value) in this.message.iter().filter(|(key, _)| last.contains(key)) {
            writer.raw(key, value.get());
        }
        let mut usage = Writer::new(Vec::new());
        usage.all(&this.usage);
        writer.raw("usage", &String::from_utf8_lossy(&usage.finish()));
        writer.finish()
    }

    /// How many bytes are held, estimated.
    fn held(&self) -> usize {
        self.held
    }
}

impl Collected {
    fn begin(&mut self, index: u64, block: Block) -> usize {
        self.held = self.held.saturating_add(2 * size_of::<Block>());
        let at = self.blocks.len();
        self.by_index.insert(index, at);
        self.blocks.push((index, block));
        at
    }

    fn keep_usage(&mut self, usage: &RawValue) {
        for (key, value) in object(Some(usage)) {
            if value.get() != "null" || self.usage.get(&key).is_none() {
                keep(&mut self.usage, key, value, &mut self.held);
            }
        }
    }
}

impl Block {
    /// A block for a delta whose block start was left out: the reader has read its text, too.
    fn unbegun(delta: Option<&RawValue>) -> Option<Self> {
        let kind = match word(members::<Members<'_>>(delta).kind) {
            "text_delta" => "\"text\"",
            "thinking_delta" => "\"thinking\"",
            _ => return None,
        };
        let mut block = Self::default();
        block.fields.set("type".to_owned(), RawValue::from_string(kind.to_owned()).ok()?);
        Some(block)
    }

    fn add(&mut self, delta: Option<&RawValue>, held: &mut usize) {
        let fields: Fields = members_of(delta);
        let kind = fields.text("type").and_then(string_inner).unwrap_or_default();
        if kind == "citations_delta" {
            if let Some(citation) = fields.text("citation") {
                *held = held.saturating_add(citation.len() + FIELD);
                self.citations.push(citation.to_owned());
            }
            return;
        }
        let Some((_, from, to)) = PIECES.iter().find(|(name, ..)| *name == kind) else { return };
        let piece =
            if *to == "input" { Text::json(fields.get(from)) } else { Text::of(fields.get(from)) };
        if !piece.is_empty() {
            *held = held.saturating_add(piece.escaped().len());
            self.texts.entry(*to).or_default().push_str(piece.escaped());
        }
    }

    fn write(&self) -> String {
        let mut writer = Writer::new(Vec::new());
        for (key, value) in self.fields.iter() {
            match (key, self.texts.get(key)) {
                ("input", Some(json)) => writer.raw(key, &input(json, value.get())),
                (_, Some(text)) => {
                    let begun = string_inner(value.get()).unwrap_or_default();
                    writer.escaped(key, &format!("{begun}{text}"));
                }
                ("citations", None) if !self.citations.is_empty() => {}
                (_, None) => writer.raw(key, value.get()),
            }
        }
        for (key, text) in &self.texts {
            if self.fields.get(key).is_none() {
                if *key == "input" {
                    writer.raw(key, &input(text, "{}"));
                } else {
                    writer.escaped(key, text);
                }
            }
        }
        if !self.citations.is_empty() {
            push_array(self.citations.iter().map(String::as_str), writer.key("citations"));
        }
        String::from_utf8_lossy(&writer.finish()).into_owned()
    }
}

/// A tool's input from its pieces; `start` if there were none. An input that was cut is not JSON:
/// it is passed on as a text.
fn input(pieces: &str, start: &str) -> String {
    let plain = decode(pieces);
    if plain.trim().is_empty() {
        return start.to_owned();
    }
    if serde_json::from_str::<&RawValue>(plain.trim()).is_ok() {
        return plain.trim().to_owned();
    }
    format!(r#"{{"INVALID_JSON":"{pieces}"}}"#)
}

fn object(raw: Option<&RawValue>) -> Fields {
    members_of(raw)
}

fn members_of(raw: Option<&RawValue>) -> Fields {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

fn keep(fields: &mut Fields, key: String, value: Box<RawValue>, held: &mut usize) {
    *held = held.saturating_add(value.get().len());
    let key_cost = key.len() * 2 + FIELD;
    match fields.set(key, value) {
        Some(old) => *held = held.saturating_sub(old.get().len()),
        None => *held = held.saturating_add(key_cost),
    }
}
