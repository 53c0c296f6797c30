//! Tool calls put right on their way to a client of the same dialect.
//!
//! What OpenAI's SDKs cannot read is mended, and nothing else is touched: entries of a stream
//! without an index, or with one that another call has; a call without an id; arguments as the
//! object itself; an id or a name that is repeated, which the SDKs would join to the first.

use super::calls::{Calls, Entry, Step};
use crate::dialect::answer::End;
use crate::dialect::fields::{Fields, Writer, push_array, push_string};
use crate::dialect::json::{elements, place};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashSet};

/// More calls than any answer has.
const MOST_CALLS: usize = 4096;

/// What is known of the calls so far, for each choice.
#[derive(Debug)]
pub(super) struct Repair {
    /// For ids that the provider does not give.
    request: String,
    limit: usize,
    choices: BTreeMap<u64, Choice>,
}

#[derive(Debug, Default)]
struct Choice {
    calls: Calls,
    /// The index under which the client knows each call.
    indexes: Vec<u64>,
    taken: HashSet<u64>,
}

impl Repair {
    pub(super) const fn new(request: String, limit: usize) -> Self {
        Self { request, limit, choices: BTreeMap::new() }
    }

    /// What a chunk with tool calls must look like instead; `None`: it is fine as it is.
    /// `holder` is `delta`, or `message` in an answer of one piece.
    pub(super) fn chunk(&mut self, text: &str, holder: &str) -> Result<Option<String>, Box<End>> {
        let Ok(top) = serde_json::from_str::<Fields>(text) else { return Ok(None) };
        let choices = elements(top.get("choices"));
        let mut mended = Vec::new();
        let mut any = false;
        for (position, raw) in choices.into_iter().enumerate() {
            let choice: Fields = serde_json::from_str(raw.get()).unwrap_or_default();
            let index = place(choice.get("index")).unwrap_or(position as u64);
            let told: Fields = choice
                .text(holder)
                .and_then(|delta| serde_json::from_str(delta).ok())
                .unwrap_or_default();
            if let Some(old) = told.get("function_call").filter(|raw| raw.get().starts_with('{')) {
                self.choices.entry(index).or_default().old(old);
            }
            let entries = elements(told.get("tool_calls"));
            let new = self.entries(index, &entries, holder == "delta")?;
            any |= new.is_some();
            mended.push(match new {
                Some(entries) => {
                    let told = with(&told, "tool_calls", &entries);
                    with(&choice, holder, &told)
                }
                None => raw.get().to_owned(),
            });
        }
        let calls: usize = self.choices.values().map(|choice| choice.calls.len()).sum();
        if calls.saturating_add(self.choices.len()) > MOST_CALLS {
            return Err(Box::new(End::TooLarge { limit: self.limit }));
        }
        Ok(any.then(|| {
            let mut list = Vec::new();
            push_array(mended.iter().map(String::as_str), &mut list);
            with(&top, "choices", &String::from_utf8_lossy(&list))
        }))
    }

    /// Whether the arguments of every call are known to be whole.
    pub(super) fn are_whole(&self) -> bool {
        self.choices.values().all(|choice| choice.calls.are_whole())
    }

    pub(super) fn held(&self) -> usize {
        let held = self.choices.values().map(|choice| choice.calls.held());
        held.fold(0, usize::saturating_add)
    }

    fn entries(
        &mut self,
        choice: u64,
        entries: &[&RawValue],
        is_stream: bool,
    ) -> Result<Option<String>, Box<End>> {
        if entries.is_empty() {
            return Ok(None);
        }
        let request = &self.request;
        let choice = self.choices.entry(choice).or_default();
        choice.calls.next_delta();
        let mut mended = Vec::new();
        let mut any = false;
        for (position, raw) in entries.iter().enumerate() {
            let new = choice.entry(raw, position, is_stream, request)?;
            any |= new.is_some();
            mended.push(new.unwrap_or_else(|| raw.get().to_owned()));
        }
        let mut list = Vec::new();
        push_array(mended.iter().map(String::as_str), &mut list);
        Ok(any.then(|| String::from_utf8_lossy(&list).into_owned()))
    }
}

impl Choice {
    /// The old `function_call` needs no repair, but its arguments may be cut.
    fn old(&mut self, raw: &RawValue) {
        self.calls.next_delta();
        if let Step::Begins(_) = self.calls.step(&Entry::old(raw), 0) {
            self.index(None);
        }
    }

    /// Gives the call that has just begun an index of its own.
    fn index(&mut self, wanted: Option<u64>) {
        let next = || self.taken.iter().max().map_or(0, |most| most.saturating_add(1));
        let index = wanted.filter(|index| !self.taken.contains(index)).unwrap_or_else(next);
        self.taken.insert(index);
        self.indexes.push(index);
    }

    fn entry(
        &mut self,
        raw: &RawValue,
        position: usize,
        is_stream: bool,
        request: &str,
    ) -> Result<Option<String>, Box<End>> {
        let entry = Entry::of(raw);
        let (call, begins, repeats) = match self.calls.step(&entry, position) {
            Step::Begins(call) => (call, true, false),
            Step::GoesOn(call, is_named_again) => (call, false, is_named_again),
            Step::Lost => {
                return Err(Box::new(End::Broken("arguments of a tool call that never began")));
            }
            Step::Nothing => return Ok(None),
        };
        if begins {
            self.index(entry.index);
        }
        let index = self.indexes.get(call).copied().unwrap_or_default();
        let mut fields: Fields = serde_json::from_str(raw.get()).unwrap_or_default();
        let mut any = false;
        if is_stream && fields.text("index") != Some(index.to_string().as_str()) {
            any |= set(&mut fields, "index", index.to_string());
        }
        if begins && entry.id.is_empty() {
            any |= set(&mut fields, "id", format!("\"call_{request}_{call}\""));
        } else if !begins && !entry.id.is_empty() {
            any |= set(&mut fields, "id", "null".to_owned());
        }
        if entry.is_object || repeats {
            let holder = if entry.custom { "custom" } else { "function" };
            let mut inner: Fields = fields
                .text(holder)
                .and_then(|raw| serde_json::from_str(raw).ok())
                .unwrap_or_default();
            if repeats {
                set(&mut inner, "name", "null".to_owned());
            }
            for key in ["arguments", "input"] {
                let object = inner.text(key).filter(|raw| raw.starts_with('{'));
                if let Some(object) = object {
                    let mut quoted = Vec::new();
                    push_string(object, &mut quoted);
                    set(&mut inner, key, String::from_utf8_lossy(&quoted).into_owned());
                }
            }
            any |= set(&mut fields, holder, object_of(&inner));
        }
        Ok(any.then(|| object_of(&fields)))
    }
}

fn set(fields: &mut Fields, key: &str, json: String) -> bool {
    RawValue::from_string(json).map(|raw| fields.set(key.to_owned(), raw)).is_ok()
}

fn object_of(fields: &Fields) -> String {
    let mut writer = Writer::new(Vec::new());
    writer.all(fields);
    String::from_utf8_lossy(&writer.finish()).into_owned()
}

/// The object with another value for `key`.
fn with(fields: &Fields, key: &str, json: &str) -> String {
    let mut writer = Writer::new(Vec::new());
    for (name, value) in fields.iter() {
        writer.raw(name, if name == key { json } else { value.get() });
    }
    String::from_utf8_lossy(&writer.finish()).into_owned()
}
