//! Puts a stream together into one `chat.completion`.
//!
//! The relay always asks a rung for a stream, since only a stream shows that a provider is alive. A
//! client that did not ask for one gets the whole answer. It is put together with as little
//! knowledge as possible: known pieces of text are joined, of all other fields the last value
//! counts, and unknown fields are kept.
//!
//! Texts are joined in their escaped form. That loses nothing, needs no decoding, and even a
//! character whose two escaped halves came in two chunks is whole again.

mod calls;
mod choice;
mod keep;

use crate::common::fields::{Fields, Writer};
use crate::common::json::place;
use choice::Choice;
pub(crate) use keep::Full;
use keep::{Allowance, elements, keep, object};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// An answer that is growing.
#[derive(Debug)]
pub(crate) struct Aggregate {
    /// The `object` of the answer.
    object: &'static str,
    limit: usize,
    budget: Allowance,
    top: Fields,
    choices: BTreeMap<u64, Choice>,
}

impl Aggregate {
    pub(crate) fn new(object: &'static str, limit: usize) -> Self {
        Self {
            object,
            limit,
            budget: Allowance { left: limit },
            top: Fields::default(),
            choices: BTreeMap::new(),
        }
    }

    /// Adds one chunk, which is valid JSON. The caller decides whether its counts are kept: they
    /// may be older than those before.
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

    /// Takes the answer so far.
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

    /// How many bytes are held, estimated.
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
                // The map's nodes are only half full.
                self.budget.take(2 * size_of::<Choice>())?;
            }
            self.choices.entry(index).or_default().absorb(fields, &mut self.budget)?;
        }
        Ok(())
    }
}
