//! Keeps the parts of an answer that grows, and counts their memory.

use crate::common::fields::Fields;
use serde_json::value::RawValue;

/// The memory of a field or an element besides its text: two strings, a boxed value, and room in a
/// list and in an index that both double.
pub(crate) const FIELD: usize = 192;

/// The answer has grown over its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// How much may still be kept. Everything that is kept is counted here, data structures included:
/// twelve bytes of JSON can cost half a kilobyte.
#[derive(Debug)]
pub(crate) struct Allowance {
    pub(crate) left: usize,
}

impl Allowance {
    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), Full> {
        self.left = self.left.checked_sub(bytes).ok_or(Full)?;
        Ok(())
    }

    pub(crate) const fn give_back(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes);
    }
}

pub(crate) fn object(json: &str) -> Fields {
    serde_json::from_str(json).unwrap_or_default()
}

/// The elements of an array; none for any other value.
pub(crate) fn elements(json: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(json.get()).unwrap_or_default()
}

/// Keeps the last value of a field, but not an empty one: vendors send null or "" in chunks that
/// have no value.
pub(crate) fn keep(
    fields: &mut Fields,
    key: String,
    value: Box<RawValue>,
    budget: &mut Allowance,
) -> Result<(), Full> {
    let silent = matches!(value.get(), "null" | "\"\"");
    if silent && fields.get(&key).is_some() {
        return Ok(());
    }
    budget.take(value.get().len())?;
    // The key is in the list and in its index.
    let key_cost = key.len() * 2 + FIELD;
    match fields.set(key, value) {
        Some(old) => budget.give_back(old.get().len()),
        None => budget.take(key_cost)?,
    }
    Ok(())
}

/// Appends a raw JSON string, escaped as it is, to the text so far. `null` and other values are not
/// text.
pub(crate) fn join(
    text: &mut Option<String>,
    raw: &str,
    budget: &mut Allowance,
) -> Result<(), Full> {
    if let Some(piece) = crate::common::json::string_inner(raw) {
        budget.take(piece.len())?;
        text.get_or_insert_default().push_str(piece);
    }
    Ok(())
}
