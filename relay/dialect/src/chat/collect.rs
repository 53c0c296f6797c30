//! A stream put together into one `chat.completion`.
//!
//! Upstream the relay always streams, since only a stream shows that a provider
//! is alive. A client that did not ask for one gets the whole answer, put
//! together as generically as can be: known pieces of text are joined, of
//! everything else the last word counts, and unknown fields survive.
//!
//! Texts are joined in their escaped form. That loses nothing, needs no decoding,
//! and even a character whose two escaped halves came in two chunks is whole
//! again.

mod calls;
mod choice;

use crate::common::fields::{Fields, Writer};
use crate::common::json::place;
use choice::Choice;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// What a field or an element costs in memory beside its text: two strings, a
/// boxed value, and room in a list and in an index that both double.
const FIELD: usize = 192;

/// The answer has grown over its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// What may still be kept. Everything that is kept is paid for here, structures
/// included: twelve bytes of JSON can cost half a kilobyte.
#[derive(Debug)]
struct Budget {
    left: usize,
}

impl Budget {
    fn take(&mut self, bytes: usize) -> Result<(), Full> {
        self.left = self.left.checked_sub(bytes).ok_or(Full)?;
        Ok(())
    }

    const fn give_back(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes);
    }
}

/// An answer that is growing.
#[derive(Debug)]
pub(crate) struct Aggregate {
    /// What the answer calls itself.
    object: &'static str,
    limit: usize,
    budget: Budget,
    top: Fields,
    choices: BTreeMap<u64, Choice>,
}

impl Aggregate {
    pub(crate) fn new(object: &'static str, limit: usize) -> Self {
        Self {
            object,
            limit,
            budget: Budget { left: limit },
            top: Fields::default(),
            choices: BTreeMap::new(),
        }
    }

    /// Adds one chunk, which is valid JSON.
    /// Whether its counts are kept is for others to say: they may be older than those before.
    pub(crate) fn absorb(&mut self, chunk: &str, keeps_usage: bool) -> Result<(), Full> {
        for (key, value) in object(chunk) {
            match key.as_str() {
                "object" => {}
                "usage" if !keeps_usage && value.get() != "null" => {}
                "choices" => self.absorb_choices(&value)?,
                _ => keep(&mut self.top, key, value, &mut self.budget)?,
            }
        }
        Ok(())
    }

    /// The answer so far; afterwards there is none.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        let limit = self.limit;
        let this = std::mem::replace(self, Self::new(self.object, limit));
        let mut writer = Writer::new(Vec::with_capacity(this.held().saturating_add(64)));
        let early = ["id"];
        let written = |key: &str| early.contains(&key);
        for (key, value) in this.top.iter().filter(|(key, _)| written(key)) {
            writer.raw(key, value.get());
        }
        writer.string("object", this.object);
        for (key, value) in this.top.iter().filter(|(key, _)| !written(key) && *key != "usage") {
            writer.raw(key, value.get());
        }
        let list = writer.key("choices");
        list.push(b'[');
        for (n, (index, choice)) in this.choices.iter().enumerate() {
            if n > 0 {
                list.push(b',');
            }
            let out = choice.write(*index, std::mem::take(list));
            *list = out;
        }
        list.push(b']');
        if let Some(usage) = this.top.get("usage") {
            writer.raw("usage", usage.get());
        }
        writer.finish()
    }

    /// Bytes that are held, estimated.
    pub(crate) const fn held(&self) -> usize {
        self.limit.saturating_sub(self.budget.left)
    }

    fn absorb_choices(&mut self, choices: &RawValue) -> Result<(), Full> {
        for (position, choice) in elements(choices).into_iter().enumerate() {
            let fields = object(choice.get());
            if fields.is_empty() {
                continue;
            }
            let index = place(fields.get("index")).unwrap_or(position as u64);
            if !self.choices.contains_key(&index) {
                // Nodes of the map are half empty.
                self.budget.take(2 * size_of::<Choice>())?;
            }
            self.choices.entry(index).or_default().absorb(fields, &mut self.budget)?;
        }
        Ok(())
    }
}

/// The fields of an object; none of anything else.
fn object(json: &str) -> Fields {
    serde_json::from_str(json).unwrap_or_default()
}

/// The elements of an array; none of anything else.
fn elements(json: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(json.get()).unwrap_or_default()
}

/// The last word on a field counts, but nothing is no word: vendors send null or
/// "" in chunks that have nothing to say.
fn keep(
    fields: &mut Fields,
    key: String,
    value: Box<RawValue>,
    budget: &mut Budget,
) -> Result<(), Full> {
    let silent = matches!(value.get(), "null" | "\"\"");
    if silent && fields.get(&key).is_some() {
        return Ok(());
    }
    budget.take(value.get().len())?;
    // The key stands in the list and in its index.
    let key_cost = key.len() * 2 + FIELD;
    match fields.set(key, value) {
        Some(old) => budget.give_back(old.get().len()),
        None => budget.take(key_cost)?,
    }
    Ok(())
}

/// Joins a raw JSON string, escaped as it is, to what there is. `null` and other
/// values are no text.
fn join(text: &mut Option<String>, raw: &str, budget: &mut Budget) -> Result<(), Full> {
    if let Some(piece) = crate::common::json::string_inner(raw) {
        budget.take(piece.len())?;
        text.get_or_insert_default().push_str(piece);
    }
    Ok(())
}
