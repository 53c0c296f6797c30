//! One choice of an answer.

use crate::chat::collect::calls::{Call, Calls};
use crate::chat::collect::keep::{Allowance, FIELD, Full, elements, join, keep, object};
use crate::common::fields::{Fields, Writer, push_array};
use crate::common::json::string_inner;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Fields of a delta, besides `content`, whose text comes in pieces.
const TEXTS: [&str; 3] = ["refusal", "reasoning_content", "reasoning"];

/// Fields of a delta whose lists come in pieces.
const LISTS: [&str; 3] = ["reasoning_details", "annotations", "images"];

/// Named lists, each growing.
type Lists = BTreeMap<String, Vec<Box<RawValue>>>;

#[derive(Debug, Default)]
pub(crate) struct Choice {
    content: Option<String>,
    /// Content that came as parts (Mistral's thinking). Once there is a part, all content is kept
    /// as parts, in order.
    parts: Vec<Part>,
    texts: [Option<String>; 3],
    calls: Calls,
    function_call: Option<Call>,
    lists: Lists,
    message: Fields,
    /// The text of the old completions.
    text: Option<String>,
    logprobs: Option<(Lists, Fields)>,
    others: Fields,
}

#[derive(Debug)]
enum Part {
    Text(String),
    Other(Box<RawValue>),
}

impl Choice {
    pub(crate) fn absorb(&mut self, choice: Fields, budget: &mut Allowance) -> Result<(), Full> {
        // One of the three members has the content; some vendors send it twice.
        let named = ["delta", "message"].into_iter().find(|key| choice.text(key).is_some());
        for (key, value) in choice {
            match key.as_str() {
                "index" => {}
                "delta" | "message" if Some(key.as_str()) == named => {
                    self.absorb_delta(&value, budget)?;
                }
                "delta" | "message" => {}
                "text" if named.is_some() => {}
                "text" => join(&mut self.text, value.get(), budget)?,
                "logprobs" => self.absorb_logprobs(&value, budget)?,
                _ => keep(&mut self.others, key, value, budget)?,
            }
        }
        Ok(())
    }

    fn absorb_delta(&mut self, delta: &RawValue, budget: &mut Allowance) -> Result<(), Full> {
        for (key, value) in object(delta.get()) {
            let text = TEXTS.iter().position(|name| *name == key);
            if let Some(slot) = text.and_then(|at| self.texts.get_mut(at)) {
                join(slot, value.get(), budget)?;
                continue;
            }
            match key.as_str() {
                "content" => self.absorb_content(&value, budget)?,
                "tool_calls" => self.calls.absorb(&value, budget)?,
                "function_call" if value.get() == "null" => {}
                "function_call" => {
                    let call = self.function_call.get_or_insert_default();
                    call.absorb_inner("function", value.get(), budget)?;
                }
                name if LISTS.contains(&name) && value.get().starts_with('[') => {
                    extend(&mut self.lists, key, &value, budget)?;
                }
                _ => keep(&mut self.message, key, value, budget)?,
            }
        }
        Ok(())
    }

    fn absorb_content(&mut self, content: &RawValue, budget: &mut Allowance) -> Result<(), Full> {
        let raw = content.get();
        if raw.starts_with('[') {
            if let Some(text) = self.content.take().filter(|text| !text.is_empty()) {
                self.parts.push(Part::Text(text));
            }
            for part in elements(content) {
                budget.take(part.get().len() + FIELD)?;
                self.parts.push(Part::Other(part.to_owned()));
            }
            return Ok(());
        }
        if self.parts.is_empty() {
            return join(&mut self.content, raw, budget);
        }
        let Some(piece) = string_inner(raw).filter(|piece| !piece.is_empty()) else {
            return Ok(());
        };
        if let Some(Part::Text(text)) = self.parts.last_mut() {
            budget.take(piece.len())?;
            text.push_str(piece);
        } else {
            budget.take(piece.len() + FIELD)?;
            self.parts.push(Part::Text(piece.to_owned()));
        }
        Ok(())
    }

    fn absorb_logprobs(&mut self, logprobs: &RawValue, budget: &mut Allowance) -> Result<(), Full> {
        for (key, value) in object(logprobs.get()) {
            let (lists, others) = self.logprobs.get_or_insert_default();
            if value.get().starts_with('[') {
                extend(lists, key, &value, budget)?;
            } else if !lists.contains_key(&key) {
                keep(others, key, value, budget)?;
            }
        }
        Ok(())
    }

    /// Writes the choice at the end of `out`.
    pub(crate) fn write(&self, index: u64, out: Vec<u8>) -> Vec<u8> {
        let mut writer = Writer::new(out);
        writer.raw("index", &index.to_string());
        if let Some(text) = &self.text {
            writer.escaped("text", text);
        } else {
            let out = writer.key("message");
            let written = self.write_message(std::mem::take(out));
            *out = written;
        }
        self.write_logprobs(&mut writer);
        if self.others.get("finish_reason").is_none() {
            writer.raw("finish_reason", "null");
        }
        writer.all(&self.others);
        writer.finish()
    }

    fn write_message(&self, out: Vec<u8>) -> Vec<u8> {
        let mut writer = Writer::new(out);
        writer.raw("role", self.message.text("role").unwrap_or("\"assistant\""));
        self.write_content(&mut writer);
        for (key, text) in TEXTS.iter().zip(&self.texts) {
            if let Some(text) = text.as_ref().filter(|text| !text.is_empty()) {
                writer.escaped(key, text);
            }
        }
        for (key, value) in self.message.iter().filter(|(key, _)| *key != "role") {
            // A list that was put together replaces the field's other value.
            if !self.lists.contains_key(key) {
                writer.raw(key, value.get());
            }
        }
        write_lists(&mut writer, &self.lists);
        self.calls.write(&mut writer);
        if let Some(call) = &self.function_call {
            call.write_inner(writer.key("function_call"));
        }
        writer.finish()
    }

    fn write_content(&self, writer: &mut Writer) {
        if !self.parts.is_empty() {
            let parts: Vec<String> = self.parts.iter().map(Part::json).collect();
            push_array(parts.iter().map(String::as_str), writer.key("content"));
        } else if let Some(text) = self.content.as_ref().filter(|text| !text.is_empty()) {
            writer.escaped("content", text);
        } else {
            writer.raw("content", "null");
        }
    }

    fn write_logprobs(&self, writer: &mut Writer) {
        let Some((lists, others)) = &self.logprobs else {
            writer.raw("logprobs", "null");
            return;
        };
        let out = writer.key("logprobs");
        let mut inner = Writer::new(std::mem::take(out));
        write_lists(&mut inner, lists);
        for (key, value) in others.iter().filter(|(key, _)| !lists.contains_key(*key)) {
            inner.raw(key, value.get());
        }
        *out = inner.finish();
    }
}

impl Part {
    fn json(&self) -> String {
        match self {
            Self::Text(text) => format!(r#"{{"type":"text","text":"{text}"}}"#),
            Self::Other(part) => part.get().to_owned(),
        }
    }
}

fn extend(
    lists: &mut Lists,
    key: String,
    more: &RawValue,
    budget: &mut Allowance,
) -> Result<(), Full> {
    if !lists.contains_key(&key) {
        budget.take(key.len() + FIELD)?;
    }
    let list = lists.entry(key).or_default();
    for element in elements(more) {
        budget.take(element.get().len() + FIELD)?;
        list.push(element.to_owned());
    }
    Ok(())
}

fn write_lists(writer: &mut Writer, lists: &Lists) {
    for (key, list) in lists {
        push_array(list.iter().map(|element| element.get()), writer.key(key));
    }
}
