//! Tool calls, put together from their pieces.
//!
//! The index says which call a piece belongs to, except where a vendor gives all
//! calls the same one, or none. A new id then says that a new call has begun.

use super::super::super::fields::{Fields, Writer, push_string};
use super::{Budget, Full, elements, join, keep, object};
use crate::dialect::json::string_inner;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// All calls of one choice.
#[derive(Debug, Default)]
pub(super) struct Calls {
    list: Vec<Call>,
    /// The latest call of each index.
    by_index: BTreeMap<u64, usize>,
}

/// One call. All texts are escaped as they came.
#[derive(Debug, Default)]
pub(super) struct Call {
    id: String,
    kind: String,
    /// The key that holds name and arguments: `function`, or `custom`.
    holder: Option<String>,
    name: String,
    arguments: Option<String>,
    inner: Fields,
    others: Fields,
}

impl Calls {
    /// Adds the entries of one delta's `tool_calls`.
    pub(super) fn absorb(&mut self, entries: &RawValue, budget: &mut Budget) -> Result<(), Full> {
        for (position, entry) in elements(entries).into_iter().enumerate() {
            let fields = object(entry.get());
            let at = self.place(&fields, position, budget)?;
            if let Some(call) = self.list.get_mut(at) {
                call.absorb(fields, budget)?;
            }
        }
        Ok(())
    }

    /// The call that an entry belongs to; opens it where it is new.
    fn place(
        &mut self,
        entry: &Fields,
        position: usize,
        budget: &mut Budget,
    ) -> Result<usize, Full> {
        let index: Option<u64> = entry.text("index").and_then(|raw| raw.parse().ok());
        let open = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.list.len().checked_sub(1),
        };
        let id = inner_text(entry, "id");
        let continues = open.filter(|&at| {
            let Some(call) = self.list.get(at) else { return false };
            let differs = |new: &str, old: &str| !new.is_empty() && !old.is_empty() && new != old;
            let other_id = differs(id, &call.id) || differs(&name_of(entry), &call.name);
            // Without index and id, calls beside each other are told apart by place.
            let beside =
                index.is_none() && id.is_empty() && position > 0 && !name_of(entry).is_empty();
            !other_id && !beside
        });
        if let Some(at) = continues {
            return Ok(at);
        }
        // The list doubles as it grows.
        budget.take(2 * size_of::<Call>())?;
        let at = self.list.len();
        self.list.push(Call::default());
        if let Some(index) = index {
            self.by_index.insert(index, at);
        }
        Ok(at)
    }

    /// Writes `tool_calls`, if there are any.
    pub(super) fn write(&self, writer: &mut Writer) {
        if self.list.is_empty() {
            return;
        }
        let out = writer.key("tool_calls");
        out.push(b'[');
        for (n, call) in self.list.iter().enumerate() {
            if n > 0 {
                out.push(b',');
            }
            call.write(out);
        }
        out.push(b']');
    }
}

impl Call {
    fn absorb(&mut self, entry: Fields, budget: &mut Budget) -> Result<(), Full> {
        for (key, value) in entry {
            match key.as_str() {
                "index" => {}
                "id" => first(&mut self.id, value.get(), budget)?,
                "type" => first(&mut self.kind, value.get(), budget)?,
                "function" | "custom" => self.absorb_inner(&key, value.get(), budget)?,
                _ => keep(&mut self.others, key, value, budget)?,
            }
        }
        Ok(())
    }

    /// Adds a piece of the object that holds name and arguments.
    pub(super) fn absorb_inner(
        &mut self,
        holder: &str,
        piece: &str,
        budget: &mut Budget,
    ) -> Result<(), Full> {
        self.holder.get_or_insert_with(|| holder.to_owned());
        for (key, value) in object(piece) {
            match key.as_str() {
                // Some repeat the name in every piece: taken once, never joined.
                "name" => first(&mut self.name, value.get(), budget)?,
                "arguments" | "input" if value.get().starts_with('{') => {
                    // Arguments are JSON in a string; this vendor left out the string.
                    let mut quoted = Vec::new();
                    push_string(value.get(), &mut quoted);
                    join(&mut self.arguments, &String::from_utf8_lossy(&quoted), budget)?;
                }
                "arguments" | "input" => join(&mut self.arguments, value.get(), budget)?,
                _ => keep(&mut self.inner, key, value, budget)?,
            }
        }
        Ok(())
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::new(std::mem::take(out));
        writer.escaped("id", &self.id);
        let holder = self.holder.as_deref().unwrap_or("function");
        writer.escaped("type", if self.kind.is_empty() { holder } else { &self.kind });
        self.write_inner(writer.key(holder));
        writer.all(&self.others);
        *out = writer.finish();
    }

    /// Writes the object that holds name and arguments.
    pub(super) fn write_inner(&self, out: &mut Vec<u8>) {
        let mut writer = Writer::new(std::mem::take(out));
        writer.escaped("name", &self.name);
        let custom = self.holder.as_deref() == Some("custom");
        let key = if custom { "input" } else { "arguments" };
        writer.escaped(key, self.arguments.as_deref().unwrap_or_default());
        writer.all(&self.inner);
        *out = writer.finish();
    }
}

/// Takes the first text that is not empty.
fn first(slot: &mut String, raw: &str, budget: &mut Budget) -> Result<(), Full> {
    if let Some(text) = string_inner(raw).filter(|_| slot.is_empty()) {
        budget.take(text.len())?;
        slot.push_str(text);
    }
    Ok(())
}

fn inner_text<'f>(fields: &'f Fields, key: &str) -> &'f str {
    fields.text(key).and_then(string_inner).unwrap_or_default()
}

/// The function that an entry names; empty where it names none.
fn name_of(entry: &Fields) -> String {
    entry
        .text("function")
        .map(|raw| inner_text(&object(raw), "name").to_owned())
        .unwrap_or_default()
}
