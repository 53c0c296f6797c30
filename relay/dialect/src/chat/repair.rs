//! Tool calls put right on their way to a client of the same dialect.
//!
//! What OpenAI's SDKs cannot read is mended, and nothing else is touched: entries of a stream
//! without an index, or with one that another call has; a call without an id; arguments that
//! are no string; an id or a name that is repeated, which one SDK would join to the first; and
//! a name in pieces, of which another SDK would keep the last. Names that the rung was told in
//! another form are the client's own again.

mod choice;
mod json;

use crate::chat::finish::FINISH_REASONS;
use crate::common::fields::{Fields, Writer, push_array};
use crate::common::json::{elements, place, word};
use crate::neutral::{Meaning, Names};
use crate::stream::facts::End;
use choice::{Choice, Context};
use json::{object_of, set};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// More calls than any answer has.
const MOST_CALLS: usize = 4096;

/// What is known of the calls so far, for each choice.
#[derive(Debug)]
pub(crate) struct Repair {
    /// For ids that the provider does not give.
    request: String,
    names: Names,
    limit: usize,
    choices: BTreeMap<u64, Choice>,
}

/// What a chunk must look like instead.
#[derive(Debug)]
pub(crate) struct Mended {
    pub(crate) text: String,
    /// It was more than another name.
    pub(crate) is_repair: bool,
}

impl Repair {
    pub(crate) fn new(request: String, limit: usize) -> Self {
        Self { request, names: Names::default(), limit, choices: BTreeMap::new() }
    }

    /// The names of the client's tools, and those that the rung was told.
    pub(crate) fn restore(&mut self, names: &Names) {
        self.names = names.clone();
    }

    /// What a chunk with tool calls, or with a finish reason, must look like instead; `None`:
    /// it is fine as it is. `holder` is `delta`, or `message` in an answer of one piece.
    pub(crate) fn chunk(&mut self, text: &str, holder: &str) -> Result<Option<Mended>, Box<End>> {
        let Ok(mut top) = serde_json::from_str::<Fields>(text) else { return Ok(None) };
        let mut mended = Vec::new();
        let (mut any, mut is_repair) = (false, false);
        for (position, raw) in elements(top.get("choices")).into_iter().enumerate() {
            match self.choice(raw, position as u64, holder)? {
                Some(new) => {
                    (any, is_repair) = (true, is_repair || new.is_repair);
                    mended.push(new.text);
                }
                None => mended.push(raw.get().to_owned()),
            }
        }
        let calls: usize = self.choices.values().map(Choice::len).sum();
        if calls.saturating_add(self.choices.len()) > MOST_CALLS {
            return Err(Box::new(End::TooLarge { limit: self.limit }));
        }
        if !any {
            return Ok(None);
        }
        set(&mut top, "choices", array_of(&mended));
        Ok(Some(Mended { text: object_of(&top), is_repair }))
    }

    fn choice(
        &mut self,
        raw: &RawValue,
        position: u64,
        holder: &str,
    ) -> Result<Option<Mended>, Box<End>> {
        let mut choice: Fields = serde_json::from_str(raw.get()).unwrap_or_default();
        let mut told: Fields = choice
            .text(holder)
            .and_then(|told| serde_json::from_str(told).ok())
            .unwrap_or_default();
        let index = place(choice.get("index")).unwrap_or(position);
        let context = Context {
            request: &self.request,
            names: &self.names,
            is_stream: holder == "delta",
            has_ended: FINISH_REASONS.meaning(word(choice.get("finish_reason"))) != Meaning::NotYet,
        };
        let known = self.choices.entry(index).or_default();
        let old = told.get("function_call").filter(|raw| raw.get().starts_with('{'));
        let old = old.and_then(|raw| known.old(raw));
        let calls = known.entries(&elements(told.get("tool_calls")), &context)?;
        let is_repair = old.is_some() || calls.as_ref().is_some_and(|calls| calls.is_repair);
        if old.is_none() && calls.is_none() {
            return Ok(None);
        }
        if let Some(old) = old {
            set(&mut told, "function_call", old);
        }
        if let Some(calls) = calls {
            set(&mut told, "tool_calls", array_of(&calls.entries));
        }
        set(&mut choice, holder, object_without_empty_calls(&told));
        Ok(Some(Mended { text: object_of(&choice), is_repair }))
    }

    /// Whether the arguments of every call are known to be whole.
    pub(crate) fn are_whole(&self) -> bool {
        self.choices.values().all(Choice::are_whole)
    }

    /// Whether a call has begun that the client has not been told.
    pub(crate) fn keeps_back(&self) -> bool {
        self.choices.values().any(Choice::keeps_back)
    }

    pub(crate) fn held(&self) -> usize {
        self.choices.values().map(Choice::held).fold(0, usize::saturating_add)
    }
}

fn array_of(values: &[String]) -> String {
    let mut list = Vec::new();
    push_array(values.iter().map(String::as_str), &mut list);
    String::from_utf8_lossy(&list).into_owned()
}

/// A list without entries is left out: SDKs put lists together, and no list is the safest.
fn object_without_empty_calls(told: &Fields) -> String {
    let mut writer = Writer::new(Vec::new());
    for (key, value) in told.iter().filter(|(key, raw)| (*key, raw.get()) != ("tool_calls", "[]")) {
        writer.raw(key, value.get());
    }
    String::from_utf8_lossy(&writer.finish()).into_owned()
}
