//! Finds the call to which each entry of `tool_calls` belongs, for the reader and the pass-through.
//!
//! The index tells the call, but some vendors give all calls the same index, or none. Some repeat
//! id and name in every piece, some send the name in pieces, and some send it late.

use crate::common::json::{is_bare, members, place, raw_members};
use crate::neutral::{JsonEnd, Text};
use serde_json::value::RawValue;
use std::collections::HashMap;

raw_members! {
    /// An entry of `tool_calls`, or the object in it that holds the name.
    Members {
        index: "index",
        id: "id",
        function: "function",
        custom: "custom",
        name: "name",
        arguments: "arguments",
        input: "input",
        extra_content: "extra_content",
        google: "google",
        thought_signature: "thought_signature",
    }
}

/// One entry.
#[derive(Debug)]
pub(crate) struct Entry<'e> {
    pub(crate) index: Option<u64>,
    pub(crate) id: Text<'e>,
    pub(crate) name: Text<'e>,
    /// Arguments, escaped: JSON as text.
    pub(crate) json: Text<'e>,
    pub(crate) custom: bool,
    /// The arguments were not a string but the JSON itself.
    pub(crate) is_bare: bool,
    /// Google's signature.
    pub(crate) signature: Text<'e>,
}

impl<'e> Entry<'e> {
    pub(crate) fn of(raw: &'e RawValue) -> Self {
        let entry: Members<'_> = members(Some(raw));
        let extra: Members<'_> = members(entry.extra_content);
        let google: Members<'_> = members(extra.google);
        Self {
            index: place(entry.index),
            id: Text::of(entry.id),
            custom: entry.custom.is_some(),
            signature: Text::of(google.thought_signature),
            ..Self::inner(entry.function.or(entry.custom))
        }
    }

    /// The old `function_call`: there is only one.
    pub(crate) fn old(raw: &'e RawValue) -> Self {
        Self::inner(Some(raw))
    }

    fn inner(raw: Option<&'e RawValue>) -> Self {
        let inner: Members<'_> = members(raw);
        let said = inner.arguments.or(inner.input);
        Self {
            index: None,
            id: Text::default(),
            name: Text::of(inner.name),
            json: Text::json(said),
            custom: false,
            is_bare: said.is_some_and(|raw| is_bare(raw.get())),
            signature: Text::default(),
        }
    }
}

/// What an entry does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing: it is empty.
    Nothing,
    /// A call begins.
    Begins(usize),
    /// A call goes on. The flag: the entry repeats the name that the call already has.
    GoesOn(usize, bool),
    /// Arguments of a call whose beginning was lost.
    Lost,
}

/// The calls of one choice.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    list: Vec<BegunCall>,
    /// The latest call of each index.
    by_index: HashMap<u64, usize>,
    held: usize,
    /// How many deltas have come.
    deltas: u64,
}

/// A call that has begun. Its texts are escaped.
#[derive(Debug)]
pub(crate) struct BegunCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) custom: bool,
    pub(crate) signature: String,
    pub(crate) end: JsonEnd,
    /// Some arguments have come.
    pub(crate) has_json: bool,
    /// The number of the last delta that had a piece of it.
    delta: u64,
}

/// The memory of a call besides its texts.
const KNOWN: usize = 2 * size_of::<BegunCall>() + 64;

impl Calls {
    /// Call this before the entries of each chunk.
    pub(crate) const fn next_delta(&mut self) {
        self.deltas += 1;
    }

    /// Reads an entry; `position` is its place among the entries of its delta.
    pub(crate) fn step(&mut self, entry: &Entry<'_>, position: usize) -> Step {
        let open = match entry.index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.list.len().checked_sub(1),
        };
        let beside = entry.index.is_none() && position > 0;
        let deltas = self.deltas;
        let known = open.and_then(|at| self.list.get_mut(at));
        if let (Some(at), Some(known)) = (open, known)
            && known.goes_on(entry, beside, deltas)
        {
            let is_named_again = !known.name.is_empty() && known.name == entry.name.escaped();
            self.held = self.held.saturating_add(known.join(entry));
            known.feed(entry, deltas);
            return Step::GoesOn(at, is_named_again);
        }
        if entry.id.is_empty() && entry.name.is_empty() {
            return if entry.json.is_empty() { Step::Nothing } else { Step::Lost };
        }
        Step::Begins(self.begin(entry))
    }

    fn begin(&mut self, entry: &Entry<'_>) -> usize {
        let call = self.list.len();
        let mut known = BegunCall {
            id: entry.id.escaped().to_owned(),
            name: entry.name.escaped().to_owned(),
            custom: entry.custom,
            signature: entry.signature.escaped().to_owned(),
            end: JsonEnd::new(entry.custom),
            has_json: false,
            delta: 0,
        };
        known.feed(entry, self.deltas);
        let texts = known.id.len() + known.name.len() + known.signature.len();
        self.held = self.held.saturating_add(texts + KNOWN);
        self.list.push(known);
        if let Some(index) = entry.index {
            self.by_index.insert(index, call);
        }
        call
    }

    pub(crate) fn get(&self, call: usize) -> Option<&BegunCall> {
        self.list.get(call)
    }

    pub(crate) const fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the arguments of every call are known to be whole.
    pub(crate) fn are_whole(&self) -> bool {
        self.list.iter().all(|known| known.custom || known.end.is_reached())
    }

    pub(crate) const fn held(&self) -> usize {
        self.held
    }
}

impl BegunCall {
    /// Whether an entry at its index belongs to it.
    fn goes_on(&self, entry: &Entry<'_>, beside: bool, delta: u64) -> bool {
        let differs =
            |new: &Text<'_>, old: &str| !new.is_empty() && !old.is_empty() && new.escaped() != old;
        if differs(&entry.id, &self.id) {
            return false;
        }
        if differs(&entry.name, &self.name) {
            // The name is a piece, as long as no arguments have come. An entry that brings its own
            // arguments, for a call without an id, is another whole call.
            let is_whole = self.id.is_empty() && !entry.json.is_empty();
            return !self.has_json && self.delta != delta && !beside && !is_whole;
        }
        let same_id = !entry.id.is_empty() && entry.id.escaped() == self.id;
        // The same name again without an id: this is another call of the same tool, if this call is
        // whole or is in the same delta.
        let named_again = !entry.name.is_empty() && !entry.json.is_empty() && self.end.is_reached();
        same_id || !(named_again || (beside && !entry.name.is_empty()))
    }

    /// Takes the id and the name, or a piece of the name. Returns how many bytes that needs.
    fn join(&mut self, entry: &Entry<'_>) -> usize {
        let before = self.id.len() + self.name.len();
        if self.id.is_empty() {
            self.id.push_str(entry.id.escaped());
        }
        if entry.name.escaped() != self.name {
            self.name.push_str(entry.name.escaped());
        }
        self.id.len() + self.name.len() - before
    }

    fn feed(&mut self, entry: &Entry<'_>, delta: u64) {
        self.delta = delta;
        self.has_json |= !entry.json.is_empty();
        self.end.feed(entry.json.escaped());
    }
}
