//! Reads the spanned TOML tree, reporting instead of failing.
//!
//! serde would stop at the first mistake and forget where keys stand. A
//! [`Table`] remembers which keys were asked for: those are the known ones, so
//! that the list for "unknown key" can never differ from the code.

use super::report::{At, Report, join, shown};
use super::suggest;
use std::cell::RefCell;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A value together with where it stands in the file.
#[derive(Debug, Clone)]
pub(super) struct Placed<T> {
    pub(super) at: At,
    pub(super) it: T,
}

/// One value of the tree.
#[derive(Debug, Clone)]
pub(super) struct Value<'t> {
    pub(super) report: &'t Report<'t>,
    /// Where the value stands.
    pub(super) at: At,
    /// Where its key stands; for an element of a list, the same as `at`.
    key_offset: usize,
    pub(super) raw: &'t DeValue<'t>,
}

/// One table of the tree, being read.
#[derive(Debug)]
pub(super) struct Table<'t> {
    pub(super) report: &'t Report<'t>,
    /// Where its name stands.
    pub(super) at: At,
    raw: &'t DeTable<'t>,
    known: RefCell<Vec<&'static str>>,
}

impl<'t> Table<'t> {
    /// The whole document.
    pub(super) fn root(raw: &'t DeTable<'t>, report: &'t Report<'t>) -> Self {
        Self::new(report, At { offset: 0, key: String::new() }, raw)
    }

    fn new(report: &'t Report<'t>, at: At, raw: &'t DeTable<'t>) -> Self {
        Self { report, at, raw, known: RefCell::default() }
    }

    /// The value of `key`, which is hereby a known key of this table.
    pub(super) fn get(&self, key: &'static str) -> Option<Value<'t>> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&key) {
            known.push(key);
        }
        self.raw.get_key_value(key).map(|(name, value)| self.value(name, value))
    }

    /// A value one table down, if both are there: for a second look, so that
    /// nothing is reported.
    pub(super) fn peek(&self, table: &str, key: &str) -> Option<Value<'t>> {
        let (name, value) = self.raw.get_key_value(table)?;
        let section = self.value(name, value);
        let DeValue::Table(raw) = section.raw else { return None };
        let inner = Table::new(self.report, section.key_at(), raw);
        raw.get_key_value(key).map(|(name, value)| inner.value(name, value))
    }

    /// As [`get`](Self::get); its absence is an error that shows `example`.
    pub(super) fn need(&self, key: &'static str, example: &str) -> Option<Value<'t>> {
        let value = self.get(key);
        if value.is_none() {
            let fix = format!("write one, such as {key} = {example}");
            self.report.error(&self.at.child(key), format!("'{key}' is missing"), fix);
        }
        value
    }

    /// Every entry in the order of the file, for tables whose keys are names.
    pub(super) fn entries(&self) -> Vec<(&'t str, Value<'t>)> {
        let mut entries: Vec<_> = self
            .raw
            .iter()
            .map(|(name, value)| (&**name.get_ref(), self.value(name, value)))
            .collect();
        entries.sort_by_key(|(_, value)| value.key_offset);
        entries
    }

    /// To be called last: every key that was not asked for is unknown.
    pub(super) fn check_keys(&self) {
        let known = self.known.borrow();
        for (name, value) in self.entries() {
            if !known.contains(&name) {
                let fix = suggest::fix(name, known.iter().copied());
                let text = format!("'{}' is no key that belongs here", shown(name));
                self.report.error(&value.key_at(), text, fix);
            }
        }
    }

    fn value(&self, name: &Spanned<DeString<'t>>, value: &'t Spanned<DeValue<'t>>) -> Value<'t> {
        Value {
            report: self.report,
            at: At { offset: value.span().start, key: join(&self.at.key, name.get_ref()) },
            key_offset: name.span().start,
            raw: value.get_ref(),
        }
    }
}

impl<'t> Value<'t> {
    /// Where its key stands.
    pub(super) fn key_at(&self) -> At {
        At { offset: self.key_offset, key: self.at.key.clone() }
    }

    pub(super) fn error(&self, text: impl Into<String>, fix: impl Into<String>) {
        self.report.error(&self.at, text, fix);
    }

    pub(super) fn warn(&self, text: impl Into<String>, fix: impl Into<String>) {
        self.report.warn(&self.at, text, fix);
    }

    /// Reports a wrong type.
    pub(super) fn wrong(&self, wanted: &str, fix: impl Into<String>) {
        let found = match self.raw {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "an integer",
            DeValue::Float(_) => "a float",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        // A table's own span is that of its header; its name is the better place.
        let at = if self.raw.is_table() { self.key_at() } else { self.at.clone() };
        self.report.error(&at, format!("must be {wanted}, not {found}"), fix);
    }

    /// A table.
    pub(super) fn table(&self) -> Option<Table<'t>> {
        let DeValue::Table(raw) = self.raw else {
            self.wrong("a table", "write a table, such as { key = value } or [a.section]");
            return None;
        };
        Some(Table::new(self.report, self.key_at(), raw))
    }

    /// The elements of a list, under the keys `key[0]`, `key[1]`, ….
    pub(super) fn list(&self, fix: &str) -> Option<Vec<Self>> {
        let DeValue::Array(raw) = self.raw else {
            self.wrong("a list", fix);
            return None;
        };
        let elements = raw.iter().enumerate().map(|(index, element)| {
            let offset = element.span().start;
            let at = At { offset, key: format!("{}[{index}]", self.at.key) };
            Self { report: self.report, at, key_offset: offset, raw: element.get_ref() }
        });
        Some(elements.collect())
    }
}
