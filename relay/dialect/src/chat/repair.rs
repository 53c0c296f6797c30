//! Corrects tool calls on their way to a client of the same dialect.
//!
//! Only what OpenAI's SDKs cannot read is corrected: entries of a stream without an index, or with
//! the index of another call; a call without an id; arguments that are not a string; an id or a
//! name that is repeated, because one SDK would join it to the first one; and a name in pieces,
//! because another SDK would keep only the last piece. If the rung got other tool names, the
//! client's own names are restored.

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

/// The most tool calls that an answer may have. No real answer has so many.
const MOST_CALLS: usize = 4096;

/// What is known about the calls so far, for each choice.
#[derive(Debug)]
pub(crate) struct Repair {
    /// The request's id. Ids that the provider does not give are made from it.
    request: String,
    names: Names,
    limit: usize,
    choices: BTreeMap<u64, Choice>,
}

/// The corrected form of a chunk.
#[derive(Debug)]
pub(crate) struct Mended {
    pub(crate) text: String,
    /// More than a tool's name was changed.
    pub(crate) is_repair: bool,
}

impl Repair {
    pub(crate) fn new(request: String, limit: usize) -> Self {
        Self { request, names: Names::default(), limit, choices: BTreeMap::new() }
    }

    /// Sets the names of the client's tools and the names that the rung got.
    pub(crate) fn restore(&mut self, names: &Names) {
        self.names = names.clone();
    }

    /// The corrected form of a chunk with tool calls or a finish reason; `None`: it is fine as it
    /// is. `holder` is `delta`, or `message` in an answer of one piece.
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

    /// Whether a call has begun of which the client has got nothing yet.
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

/// Leaves out a list without entries: SDKs join the lists of all chunks, and no list is the safest.
fn object_without_empty_calls(told: &Fields) -> String {
    let mut writer = Writer::new(Vec::new());
    for (key, value) in told.iter().filter(|(key, raw)| (*key, raw.get()) != ("tool_calls", "[]")) {
        writer.raw(key, value.get());
    }
    String::from_utf8_lossy(&writer.finish()).into_owned()
}
