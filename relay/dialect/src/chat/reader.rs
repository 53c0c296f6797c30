//! Reads a chat provider's answer, for clients of other dialects.
//!
//! Only the first choice is read: no other dialect can express several, so the relay does not ask
//! for more.

use crate::chat::DONE;
use crate::chat::calls::{Calls, Entry, Step};
use crate::chat::finish::FINISH_REASONS;
use crate::chat::usage::Counts;
use crate::common::json::{
    One, elements, is_truthy, members, place, raw_members, string_inner, word,
};
use crate::errors::provider_error::{ProviderError, parse_error, parse_error_event};
use crate::neutral::{Event, Meaning, Text};
use crate::stream::facts::{End, Facts};
use crate::stream::observer::{Observer, Reader};
use crate::stream::sse;
use serde::de::DeserializeSeed as _;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// Reads a stream of chunks.
#[derive(Debug, Default)]
pub(crate) struct ChatReader {
    begun: bool,
    counts: Counts,
    calls: Calls,
    /// How many of the calls were emitted.
    emitted: usize,
    /// Arguments of calls that cannot be emitted yet, and how many bytes they need.
    waiting: BTreeMap<usize, String>,
    waiting_bytes: usize,
    /// The provider is known to send finish reasons.
    finishes: bool,
}

raw_members! {
    /// The members of a chunk that are read.
    Members {
        id: "id",
        model: "model",
        object: "object",
        choices: "choices",
        usage: "usage",
        x_groq: "x_groq",
        error: "error",
    }
}

raw_members! {
    Choice {
        index: "index",
        delta: "delta",
        message: "message",
        text: "text",
        finish_reason: "finish_reason",
        usage: "usage",
    }
}

raw_members! {
    Delta {
        content: "content",
        reasoning_content: "reasoning_content",
        reasoning: "reasoning",
        reasoning_details: "reasoning_details",
        refusal: "refusal",
        tool_calls: "tool_calls",
        function_call: "function_call",
        images: "images",
        audio: "audio",
    }
}

raw_members! {
    /// A part of content, a detail of reasoning, or an object with `usage`.
    Part {
        kind: "type",
        text: "text",
        thinking: "thinking",
        signature: "signature",
        data: "data",
        usage: "usage",
    }
}

impl Reader for ChatReader {
    fn event(&mut self, event: &sse::Event<'_>, observer: &mut Observer<'_>) -> Option<End> {
        let data = event.data.trim_ascii();
        if event.name == b"error" {
            return Some(End::Error(parse_error_event(data)));
        }
        if data == DONE {
            return Some(self.done(observer));
        }
        let text = String::from_utf8_lossy(event.data);
        if data.first() == Some(&b'[') && serde_json::from_str::<&RawValue>(&text).is_ok() {
            // A chunk is never an array, but Gemini's errors can be in one.
            let error = parse_error(text.as_bytes());
            if !error.message.is_empty() {
                return Some(End::Error(error));
            }
        }
        if data.first() != Some(&b'{') {
            observer.facts().drop_one();
            return None;
        }
        let Ok(chunk) = serde_json::from_str::<Members<'_>>(&text) else {
            return observer.facts().broken();
        };
        self.count(&chunk, observer);
        if let Some(error) = error_of(&chunk, &text) {
            return Some(End::Error(error));
        }
        self.begin(&chunk, observer);
        elements(chunk.choices).into_iter().find_map(|raw| self.choice(raw, observer))
    }

    fn whole(&mut self, body: &str, observer: &mut Observer<'_>) -> End {
        let Ok(answer) = serde_json::from_str::<Members<'_>>(body) else {
            return End::Broken("the body is not JSON");
        };
        self.count(&answer, observer);
        if let Some(error) = error_of(&answer, body) {
            return End::Error(error);
        }
        let choices = elements(answer.choices);
        if choices.is_empty() {
            let error = parse_error(body.as_bytes());
            return if error.message.is_empty() {
                End::Broken("the body has no choices")
            } else {
                End::Error(error)
            };
        }
        self.begin(&answer, observer);
        if let Some(end) = choices.into_iter().find_map(|raw| self.choice(raw, observer)) {
            return end;
        }
        if let Some(end) = self.emit_all_calls(observer) {
            return end;
        }
        let facts = observer.facts();
        match (facts.finish, facts.content) {
            (Some(_), _) => End::Proper,
            (None, true) => self.done(observer),
            (None, false) => End::Broken("the body has neither content nor a finish reason"),
        }
    }

    fn end_of_body(&mut self, facts: &Facts) -> End {
        if facts.finish.is_some() { End::Proper } else { End::Cut }
    }

    fn held(&self) -> usize {
        self.calls.held().saturating_add(self.waiting_bytes)
    }
}

impl ChatReader {
    /// `finishes`: the provider is known to send finish reasons.
    pub(crate) fn new(finishes: bool) -> Self {
        Self { finishes, ..Self::default() }
    }

    /// What kind of end `[DONE]` is, or the end of an answer in one piece. Without a finish reason
    /// the end is proper only after content, only if the provider is not known to send finish
    /// reasons, and only if the arguments of all calls are whole.
    fn done(&mut self, observer: &mut Observer<'_>) -> End {
        observer.facts().done = true;
        if observer.facts().finish.is_some() {
            return End::Proper;
        }
        if !observer.facts().content || self.finishes || !self.calls.are_whole() {
            return End::Cut;
        }
        self.emit_all_calls(observer).unwrap_or(End::Proper)
    }

    fn begin(&mut self, chunk: &Members<'_>, observer: &mut Observer<'_>) {
        // Azure's first chunk has neither; the chunk after it has both.
        let (id, model) = (Text::of(chunk.id), Text::of(chunk.model));
        let has_choices = chunk.choices.is_some_and(|raw| raw.get().len() > 2);
        if (has_choices || !id.is_empty()) && !std::mem::replace(&mut self.begun, true) {
            observer.emit(&Event::Begin { id, model });
        }
    }

    fn count(&mut self, chunk: &Members<'_>, observer: &mut Observer<'_>) {
        let groq: Part<'_> = members(chunk.x_groq);
        for raw in [chunk.usage, groq.usage].into_iter().flatten() {
            self.take_counts(raw, observer);
        }
    }

    fn take_counts(&mut self, raw: &RawValue, observer: &mut Observer<'_>) {
        let mut counts = Counts::default();
        let _ = One(&mut counts).deserialize(&mut serde_json::Deserializer::from_str(raw.get()));
        if counts.seen {
            self.counts.replace(&counts);
            observer.usage(self.counts.usage());
        }
    }

    fn choice(&mut self, raw: &RawValue, observer: &mut Observer<'_>) -> Option<End> {
        let choice: Choice<'_> = members(Some(raw));
        if let Some(usage) = choice.usage {
            // Moonshot puts it here.
            self.take_counts(usage, observer);
        }
        if place(choice.index).is_some_and(|index| index != 0) {
            return None;
        }
        match choice.delta.or(choice.message) {
            Some(delta) => {
                let end = self.delta(&members(Some(delta)), observer);
                if end.is_some() {
                    return end;
                }
            }
            None => emit_text(choice.text, observer, Event::Text),
        }
        let reason = word(choice.finish_reason);
        let finish = match FINISH_REASONS.meaning(reason) {
            Meaning::NotYet => return None,
            Meaning::Finished(finish) => finish,
            Meaning::Interrupted => return Some(End::Error(ProviderError::interrupted(reason))),
        };
        if let Some(end) = self.emit_all_calls(observer) {
            return Some(end);
        }
        observer.emit(&Event::Finish { finish, stop_sequence: None });
        None
    }

    fn delta(&mut self, delta: &Delta<'_>, observer: &mut Observer<'_>) -> Option<End> {
        reasoning(delta, observer);
        match delta.content {
            Some(raw) if raw.get().starts_with('[') => parts(raw, observer),
            content => emit_text(content, observer, Event::Text),
        }
        emit_text(delta.refusal, observer, Event::Refusal);
        // Pictures and audio: other dialects cannot express them.
        let seen = [delta.images, delta.audio].into_iter().flatten();
        if seen.into_iter().any(|raw| is_truthy(raw.get())) {
            observer.activity();
        }
        self.calls.next_delta();
        for (position, raw) in elements(delta.tool_calls).into_iter().enumerate() {
            let end = self.call(&Entry::of(raw), position, observer);
            if end.is_some() {
                return end;
            }
        }
        let old = delta.function_call.filter(|raw| raw.get().starts_with('{'))?;
        self.call(&Entry::old(old), 0, observer)
    }

    /// A call is emitted when its arguments begin, or those of a later call, or at the end: some
    /// vendors send its name in pieces, or late.
    fn call(
        &mut self,
        entry: &Entry<'_>,
        position: usize,
        observer: &mut Observer<'_>,
    ) -> Option<End> {
        let call = match self.calls.step(entry, position) {
            Step::Nothing => return None,
            Step::Lost => return Some(End::Broken("arguments of a tool call that never began")),
            Step::Begins(call) | Step::GoesOn(call, _) => call,
        };
        let is_named = self.calls.get(call).is_some_and(|known| !known.name.is_empty());
        if entry.json.is_empty() || !is_named {
            if call >= self.emitted {
                // It counts as content nevertheless.
                observer.activity();
                observer.facts().tool_open = true;
                self.waiting_bytes = self.waiting_bytes.saturating_add(entry.json.escaped().len());
                self.waiting.entry(call).or_default().push_str(entry.json.escaped());
            }
            return None;
        }
        let end = self.emit_calls(call.saturating_add(1), observer);
        if end.is_none() {
            observer.emit(&Event::Arguments { call, json: entry.json.clone() });
        }
        end
    }

    fn emit_all_calls(&mut self, observer: &mut Observer<'_>) -> Option<End> {
        self.emit_calls(self.calls.len(), observer)
    }

    /// Emits the first `count` calls, without those that were emitted before.
    fn emit_calls(&mut self, count: usize, observer: &mut Observer<'_>) -> Option<End> {
        while self.emitted < count {
            let call = self.emitted;
            self.emitted += 1;
            let Some(known) = self.calls.get(call) else { break };
            if known.name.is_empty() {
                return Some(End::Broken("a tool call without a name"));
            }
            if !known.signature.is_empty() {
                let signature = Text::of_escaped(&known.signature);
                observer.emit(&Event::CallSignature { call, signature });
            }
            let (id, name) = (Text::of_escaped(&known.id), Text::of_escaped(&known.name));
            observer.emit(&Event::Call { call, id, name, custom: known.custom });
            let waited = self.waiting.remove(&call).unwrap_or_default();
            if !waited.is_empty() {
                observer.emit(&Event::Arguments { call, json: Text::of_escaped(&waited) });
            }
        }
        None
    }
}

/// Emits reasoning, from any of its fields. The same text is often in two fields: the first one
/// counts. The details hold the signatures.
fn reasoning(delta: &Delta<'_>, observer: &mut Observer<'_>) {
    let plain = [delta.reasoning_content, delta.reasoning];
    let said = plain.into_iter().find(|raw| !Text::of(*raw).is_empty()).flatten();
    emit_text(said, observer, Event::Reasoning);
    for raw in elements(delta.reasoning_details) {
        let detail: Part<'_> = members(Some(raw));
        if word(detail.kind) == "reasoning.encrypted" {
            emit_text(detail.data, observer, Event::Redacted);
            continue;
        }
        emit_text(detail.signature, observer, Event::Signature);
    }
}

/// Emits content that is an array of parts: Mistral's text, and its thinking, which has parts
/// again.
fn parts(raw: &RawValue, observer: &mut Observer<'_>) {
    for raw in elements(Some(raw)) {
        let part: Part<'_> = members(Some(raw));
        for inner in elements(part.thinking) {
            let inner: Part<'_> = members(Some(inner));
            emit_text(inner.text, observer, Event::Reasoning);
        }
        emit_text(part.text, observer, Event::Text);
    }
}

fn emit_text<'e>(
    raw: Option<&'e RawValue>,
    observer: &mut Observer<'_>,
    event: impl FnOnce(Text<'e>) -> Event<'e>,
) {
    let text = Text::of(raw);
    if !text.is_empty() {
        observer.emit(&event(text));
    }
}

fn error_of(chunk: &Members<'_>, text: &str) -> Option<ProviderError> {
    // vLLM's error is the whole object.
    let is_error = chunk.error.is_some_and(|raw| is_truthy(raw.get()))
        || chunk.object.and_then(|raw| string_inner(raw.get())) == Some("error");
    is_error.then(|| parse_error(text.as_bytes()))
}
