//! Puts tool calls together from their pieces.
//!
//! The index tells the call of a piece: entries were corrected before, see
//! [`Repair`](crate::chat::repair::Repair). In an answer of one piece the position is the index.

use crate::chat::collect::keep::{Allowance, Full, elements, join, keep, object};
use crate::common::fields::{Fields, Writer, push_string};
use crate::common::json::{is_bare, place, string_inner};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// All calls of one choice.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    list: Vec<Call>,
    /// The call of each index.
    by_index: BTreeMap<u64, usize>,
}

/// One call. All texts are escaped as they came.
#[derive(Debug, Default)]
pub(crate) struct Call {
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
    pub(crate) fn absorb(
        &mut self,
        entries: &RawValue,
        budget: &mut Allowance,
    ) -> Result<(), Full> {
        for (position, entry) in elements(entries).into_iter().enumerate() {
            let fields = object(entry.get());
            let index = place(fields.get("index")).unwrap_or(position as u64);
            let at = self.place(index, budget)?;
            if let Some(call) = self.list.get_mut(at) {
                call.absorb(fields, budget)?;
            }
        }
        Ok(())
    }

    /// The call of this index; opens it if it is new.
    fn place(&mut self, index: u64, budget: &mut Allowance) -> Result<usize, Full> {
        if let Some(at) = self.by_index.get(&index) {
            return Ok(*at);
        }
        // The list doubles as it grows.
        budget.take(2 * size_of::<Call>())?;
        let at = self.list.len();
        self.list.push(Call::default());
        self.by_index.insert(index, at);
        Ok(at)
    }

    /// Writes `tool_calls`, if there are any.
    pub(crate) fn write(&self, writer: &mut Writer) {
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
    fn absorb(&mut self, entry: Fields, budget: &mut Allowance) -> Result<(), Full> {
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
    pub(crate) fn absorb_inner(
        &mut self,
        holder: &str,
        piece: &str,
        budget: &mut Allowance,
    ) -> Result<(), Full> {
        self.holder.get_or_insert_with(|| holder.to_owned());
        for (key, value) in object(piece) {
            match key.as_str() {
                "name" => self.join_name(value.get(), budget)?,
                "arguments" | "input" if is_bare(value.get()) => {
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

    /// Some vendors send the name in pieces. A name that is repeated stays one name.
    fn join_name(&mut self, raw: &str, budget: &mut Allowance) -> Result<(), Full> {
        if let Some(piece) = string_inner(raw).filter(|piece| *piece != self.name) {
            budget.take(piece.len())?;
            self.name.push_str(piece);
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
    pub(crate) fn write_inner(&self, out: &mut Vec<u8>) {
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
fn first(slot: &mut String, raw: &str, budget: &mut Allowance) -> Result<(), Full> {
    if let Some(text) = string_inner(raw).filter(|_| slot.is_empty()) {
        budget.take(text.len())?;
        slot.push_str(text);
    }
    Ok(())
}
