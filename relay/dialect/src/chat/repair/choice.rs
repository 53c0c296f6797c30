//! Corrects the calls of one choice, and keeps back those whose name is not whole yet.

use crate::chat::calls::{Calls, Entry, Step};
use crate::chat::repair::json::{object_of, set};
use crate::common::fields::{Fields, push_string};
use crate::common::json::is_bare;
use crate::neutral::{Names, Text};
use crate::stream::facts::End;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, HashSet};

/// What is the same for all entries of a chunk.
#[derive(Debug)]
pub(crate) struct Context<'c> {
    pub(crate) request: &'c str,
    pub(crate) names: &'c Names,
    /// The entries are pieces of a stream, not of a whole answer.
    pub(crate) is_stream: bool,
    /// The choice has its finish reason.
    pub(crate) has_ended: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Choice {
    calls: Calls,
    /// The index that the client has for each call.
    indexes: Vec<u64>,
    taken: HashSet<u64>,
    /// Calls whose beginning is kept back, since their name may still be incomplete.
    kept: BTreeMap<usize, Kept>,
    kept_bytes: usize,
}

/// The beginning of a call.
#[derive(Debug)]
struct Kept {
    /// Its first entry, corrected.
    fields: Fields,
    /// `function`, or `custom`.
    holder: &'static str,
    /// Its arguments so far, escaped.
    arguments: String,
}

/// The entries of a chunk as the client gets them.
#[derive(Debug)]
pub(crate) struct Entries {
    pub(crate) entries: Vec<String>,
    pub(crate) is_repair: bool,
}

/// What is done with one entry.
#[derive(Debug)]
enum Becomes {
    /// It is passed on unchanged.
    Same,
    /// It is passed on in this form. The flag: more than its name was changed.
    Told(String, bool),
    /// It is kept back.
    Waits,
}

impl Choice {
    pub(crate) const fn len(&self) -> usize {
        self.calls.len()
    }

    pub(crate) fn are_whole(&self) -> bool {
        self.calls.are_whole()
    }

    pub(crate) fn keeps_back(&self) -> bool {
        !self.kept.is_empty()
    }

    pub(crate) const fn held(&self) -> usize {
        self.calls.held().saturating_add(self.kept_bytes)
    }

    /// The old `function_call`, corrected.
    pub(crate) fn old(&mut self, raw: &RawValue) -> Option<String> {
        self.calls.next_delta();
        let entry = Entry::old(raw);
        let step = self.calls.step(&entry, 0);
        if let Step::Begins(_) = step {
            self.index(None);
        }
        let repeats = matches!(step, Step::GoesOn(_, true));
        if !repeats && !entry.is_bare {
            return None;
        }
        let mut inner: Fields = serde_json::from_str(raw.get()).unwrap_or_default();
        put_right(&mut inner, repeats);
        Some(object_of(&inner))
    }

    /// The entries of one delta, corrected; `None`: they are fine as they are.
    pub(crate) fn entries(
        &mut self,
        entries: &[&RawValue],
        context: &Context<'_>,
    ) -> Result<Option<Entries>, Box<End>> {
        let mut told = Vec::new();
        let (mut any, mut is_repair) = (false, false);
        if !entries.is_empty() {
            self.calls.next_delta();
        }
        for (position, raw) in entries.iter().enumerate() {
            let known = self.calls.len();
            let becomes = self.entry(raw, position, context)?;
            if self.calls.len() > known {
                // Another call has begun, so the names of those before it are whole.
                any |= self.release_before(known, context, &mut told);
            }
            match becomes {
                Becomes::Same => told.push(raw.get().to_owned()),
                Becomes::Told(entry, repairs) => {
                    (any, is_repair) = (true, is_repair || repairs);
                    told.push(entry);
                }
                Becomes::Waits => any = true,
            }
        }
        if context.has_ended && self.keeps_back() {
            any |= self.release_before(self.calls.len(), context, &mut told);
            if self.keeps_back() {
                return Err(Box::new(End::Broken("a tool call without a name")));
            }
        }
        Ok(any.then_some(Entries { entries: told, is_repair }))
    }

    fn entry(
        &mut self,
        raw: &RawValue,
        position: usize,
        context: &Context<'_>,
    ) -> Result<Becomes, Box<End>> {
        let entry = Entry::of(raw);
        let (call, begins, repeats) = match self.calls.step(&entry, position) {
            Step::Begins(call) => (call, true, false),
            Step::GoesOn(call, is_named_again) => (call, false, is_named_again),
            Step::Lost => {
                return Err(Box::new(End::Broken("arguments of a tool call that never began")));
            }
            Step::Nothing => return Ok(Becomes::Same),
        };
        if begins {
            self.index(entry.index);
        }
        if self.kept.contains_key(&call) {
            return Ok(self.go_on(call, &entry, context));
        }
        let mut fields: Fields = serde_json::from_str(raw.get()).unwrap_or_default();
        let mut repairs = self.number(call, &mut fields, context);
        if begins && entry.id.is_empty() {
            repairs |= set(&mut fields, "id", format!("\"call_{}_{call}\"", context.request));
        } else if !begins && !entry.id.is_empty() {
            repairs |= set(&mut fields, "id", "null".to_owned());
        }
        let holder = if entry.custom { "custom" } else { "function" };
        if entry.is_bare || repeats {
            let mut inner = inner(&fields, holder);
            put_right(&mut inner, repeats);
            repairs |= set(&mut fields, holder, object_of(&inner));
        }
        if begins && context.is_stream && self.name_may_go_on(call, &entry, context) {
            self.kept_bytes = self.kept_bytes.saturating_add(raw.get().len());
            let arguments = entry.json.escaped().to_owned();
            self.kept.insert(call, Kept { fields, holder, arguments });
            return Ok(Becomes::Waits);
        }
        let is_restored = begins && self.restore(call, holder, &mut fields, context);
        Ok(match repairs || is_restored {
            true => Becomes::Told(object_of(&fields), repairs),
            false => Becomes::Same,
        })
    }

    /// Handles an entry of a call that is kept back. If the call has a name, arguments release it.
    fn go_on(&mut self, call: usize, entry: &Entry<'_>, context: &Context<'_>) -> Becomes {
        if let Some(kept) = self.kept.get_mut(&call) {
            kept.arguments.push_str(entry.json.escaped());
        }
        self.kept_bytes = self.kept_bytes.saturating_add(entry.json.escaped().len());
        if self.name_may_go_on(call, entry, context) {
            return Becomes::Waits;
        }
        self.release(call, context).map_or(Becomes::Waits, |told| Becomes::Told(told, true))
    }

    /// Whether the name of a call may be incomplete. Arguments come after the name; only a call
    /// without any name may still get one later.
    fn name_may_go_on(&self, call: usize, entry: &Entry<'_>, context: &Context<'_>) -> bool {
        let name = self.calls.get(call).map_or("", |known| &known.name);
        let has_json = self.calls.get(call).is_some_and(|known| known.has_json);
        let is_nameless = name.is_empty() && context.names.are_known();
        let goes_on = || context.names.may_go_on(&Text::of_escaped(name).decoded());
        is_nameless || (entry.json.is_empty() && !has_json && goes_on())
    }

    /// Releases the calls before `end` that are kept back and have a name. Returns whether there
    /// were any.
    fn release_before(
        &mut self,
        end: usize,
        context: &Context<'_>,
        told: &mut Vec<String>,
    ) -> bool {
        let named = |call: &usize| self.calls.get(*call).is_some_and(|it| !it.name.is_empty());
        let calls: Vec<usize> =
            self.kept.range(..end).map(|(call, _)| *call).filter(named).collect();
        let before = told.len();
        told.extend(calls.into_iter().filter_map(|call| self.release(call, context)));
        told.len() > before
    }

    /// The beginning of a call that was kept back, now with its whole name.
    fn release(&mut self, call: usize, context: &Context<'_>) -> Option<String> {
        let Kept { mut fields, holder, arguments } = self.kept.remove(&call)?;
        let known = self.calls.get(call)?;
        let mut inner = inner(&fields, holder);
        let key = if holder == "custom" { "input" } else { "arguments" };
        set(&mut inner, "name", format!("\"{}\"", known.name));
        set(&mut inner, key, format!("\"{arguments}\""));
        if !known.id.is_empty() {
            set(&mut fields, "id", format!("\"{}\"", known.id));
        }
        set(&mut fields, holder, object_of(&inner));
        self.restore(call, holder, &mut fields, context);
        if self.kept.is_empty() {
            self.kept_bytes = 0;
        }
        Some(object_of(&fields))
    }

    /// Sets the index that the client has for a call. Returns whether it was another one.
    fn number(&self, call: usize, fields: &mut Fields, context: &Context<'_>) -> bool {
        let index = self.indexes.get(call).copied().unwrap_or_default().to_string();
        context.is_stream
            && fields.text("index") != Some(index.as_str())
            && set(fields, "index", index)
    }

    /// Restores the client's own name of a call's tool. Returns whether it was another one.
    fn restore(
        &self,
        call: usize,
        holder: &str,
        fields: &mut Fields,
        context: &Context<'_>,
    ) -> bool {
        let Some(known) = self.calls.get(call).filter(|_| !context.names.is_empty()) else {
            return false;
        };
        let told = Text::of_escaped(&known.name);
        let Some(own) = context.names.own(&told.decoded()) else { return false };
        let mut inner = inner(fields, holder);
        set(&mut inner, "name", format!("\"{}\"", Text::plain(&own.name).escaped()))
            && set(fields, holder, object_of(&inner))
    }

    /// Gives a new call an index of its own.
    fn index(&mut self, wanted: Option<u64>) {
        let next = || self.taken.iter().max().map_or(0, |most| most.saturating_add(1));
        let index = wanted.filter(|index| !self.taken.contains(index)).unwrap_or_else(next);
        self.taken.insert(index);
        self.indexes.push(index);
    }
}

fn inner(fields: &Fields, holder: &str) -> Fields {
    fields.text(holder).and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default()
}

/// Removes a name that is repeated, and puts arguments that are not a string into one.
fn put_right(inner: &mut Fields, repeats: bool) {
    if repeats {
        set(inner, "name", "null".to_owned());
    }
    for key in ["arguments", "input"] {
        let bare = inner.text(key).filter(|raw| is_bare(raw));
        if let Some(bare) = bare {
            let mut quoted = Vec::new();
            push_string(bare, &mut quoted);
            set(inner, key, String::from_utf8_lossy(&quoted).into_owned());
        }
    }
}
