//! What a chat provider says, for clients of other dialects.
//!
//! Only the first choice is read: several cannot be told to any other dialect, so
//! none are asked for.

use super::DONE;
use super::finish::FINISH_REASONS;
use super::usage::Counts;
use crate::dialect::answer::{End, Facts, Hearing, Reader};
use crate::dialect::json::{
    One, elements, is_truthy, members, number, place, raw_members, string_inner, word,
};
use crate::dialect::neutral::{Event, JsonEnd, Meaning, Text};
use crate::dialect::provider_error::{ProviderError, parse_error, parse_error_event};
use crate::dialect::sse;
use serde::de::DeserializeSeed as _;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Reads a stream of chunks.
#[derive(Debug, Default)]
pub(in crate::dialect) struct ChatReader {
    begun: bool,
    counts: Counts,
    /// The calls so far, in order.
    calls: Vec<Known>,
    /// The latest call of each index.
    by_index: HashMap<u64, usize>,
    /// Bytes that the calls take.
    held: usize,
}

raw_members! {
    /// The members of a chunk that are looked at.
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

raw_members! {
    /// An entry of `tool_calls`, or what holds its name.
    Call {
        index: "index",
        id: "id",
        function: "function",
        custom: "custom",
        name: "name",
        arguments: "arguments",
        input: "input",
        extra_content: "extra_content",
    }
}

impl Reader for ChatReader {
    fn event(&mut self, event: &sse::Event<'_>, hearing: &mut Hearing<'_>) -> Option<End> {
        let data = event.data.trim_ascii();
        if event.name == b"error" {
            return Some(End::Error(parse_error_event(data)));
        }
        if data == DONE {
            let facts = hearing.facts();
            facts.done = true;
            // Without a finish reason it is believed only after content.
            let answered = facts.finish.is_some() || facts.content;
            return Some(if answered { End::Proper } else { End::Cut });
        }
        let text = String::from_utf8_lossy(event.data);
        if data.first() == Some(&b'[') && serde_json::from_str::<&RawValue>(&text).is_ok() {
            // No chunk is an array, but Gemini's errors can be in one.
            let error = parse_error(text.as_bytes());
            if !error.message.is_empty() {
                return Some(End::Error(error));
            }
        }
        if data.first() != Some(&b'{') {
            hearing.facts().drop_one();
            return None;
        }
        let Ok(chunk) = serde_json::from_str::<Members<'_>>(&text) else {
            return hearing.facts().broken();
        };
        self.count(&chunk, hearing);
        if let Some(error) = error_of(&chunk, &text) {
            return Some(End::Error(error));
        }
        self.begin(&chunk, hearing);
        elements(chunk.choices).into_iter().find_map(|raw| self.choice(raw, hearing))
    }

    fn whole(&mut self, body: &str, hearing: &mut Hearing<'_>) -> End {
        let Ok(answer) = serde_json::from_str::<Members<'_>>(body) else {
            return End::Broken("the body is not JSON");
        };
        self.count(&answer, hearing);
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
        self.begin(&answer, hearing);
        if let Some(end) = choices.into_iter().find_map(|raw| self.choice(raw, hearing)) {
            return end;
        }
        let facts = hearing.facts();
        if facts.finish.is_none() && !facts.content {
            return End::Broken("the body has neither content nor a finish reason");
        }
        End::Proper
    }

    fn end_of_body(&mut self, facts: &Facts) -> End {
        if facts.finish.is_some() { End::Proper } else { End::Cut }
    }

    fn held(&self) -> usize {
        self.held
    }
}

impl ChatReader {
    fn begin(&mut self, chunk: &Members<'_>, hearing: &mut Hearing<'_>) {
        // Azure's prelude has neither; what follows it has both.
        let (id, model) = (Text::of(chunk.id), Text::of(chunk.model));
        let has_choices = chunk.choices.is_some_and(|raw| raw.get().len() > 2);
        if (has_choices || !id.is_empty()) && !std::mem::replace(&mut self.begun, true) {
            hearing.say(&Event::Begin { id, model });
        }
    }

    fn count(&mut self, chunk: &Members<'_>, hearing: &mut Hearing<'_>) {
        let groq: Part<'_> = members(chunk.x_groq);
        for raw in [chunk.usage, groq.usage].into_iter().flatten() {
            self.take_counts(raw, hearing);
        }
    }

    fn take_counts(&mut self, raw: &RawValue, hearing: &mut Hearing<'_>) {
        let mut counts = Counts::default();
        let _ = One(&mut counts).deserialize(&mut serde_json::Deserializer::from_str(raw.get()));
        if counts.seen {
            self.counts.replace(&counts);
            hearing.usage(self.counts.usage());
        }
    }

    fn choice(&mut self, raw: &RawValue, hearing: &mut Hearing<'_>) -> Option<End> {
        let choice: Choice<'_> = members(Some(raw));
        if let Some(usage) = choice.usage {
            // Moonshot puts it here.
            self.take_counts(usage, hearing);
        }
        if number(choice.index).is_some_and(|index| index != 0) {
            return None;
        }
        match choice.delta.or(choice.message) {
            Some(delta) => {
                let end = self.delta(&members(Some(delta)), hearing);
                if end.is_some() {
                    return end;
                }
            }
            None => say(choice.text, hearing, Event::Text),
        }
        let reason = word(choice.finish_reason);
        let finish = match FINISH_REASONS.meaning(reason) {
            Meaning::NotYet => return None,
            Meaning::Finished(finish) => finish,
            Meaning::Interrupted => return Some(End::Error(ProviderError::interrupted(reason))),
        };
        hearing.say(&Event::Finish { finish, stop_sequence: None });
        None
    }

    fn delta(&mut self, delta: &Delta<'_>, hearing: &mut Hearing<'_>) -> Option<End> {
        reasoning(delta, hearing);
        match delta.content {
            Some(raw) if raw.get().starts_with('[') => parts(raw, hearing),
            content => say(content, hearing, Event::Text),
        }
        say(delta.refusal, hearing, Event::Refusal);
        // Pictures and sound, for which other dialects have no words.
        let seen = [delta.images, delta.audio].into_iter().flatten();
        if seen.into_iter().any(|raw| is_truthy(raw.get())) {
            hearing.activity();
        }
        for (position, entry) in elements(delta.tool_calls).into_iter().enumerate() {
            let end = self.call(&members(Some(entry)), position, hearing);
            if end.is_some() {
                return end;
            }
        }
        let old = delta.function_call.filter(|raw| raw.get().starts_with('{'))?;
        self.call(&Call { function: Some(old), ..Call::default() }, 0, hearing)
    }

    fn call(
        &mut self,
        entry: &Call<'_>,
        position: usize,
        hearing: &mut Hearing<'_>,
    ) -> Option<End> {
        let custom = entry.custom.is_some();
        let inner: Call<'_> = members(entry.function.or(entry.custom));
        let (id, name) = (Text::of(entry.id), Text::of(inner.name));
        let json = match inner.arguments.or(inner.input) {
            // Arguments are JSON in a string; this vendor left out the string.
            Some(raw) if raw.get().starts_with('{') => Text::plain(raw.get()),
            raw => Text::of(raw),
        };
        let index = place(entry.index);
        let open = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.calls.len().checked_sub(1),
        };
        let continues = open.filter(|&at| {
            self.calls.get(at).is_some_and(|known| {
                let beside = index.is_none() && position > 0;
                known.goes_on(&id, &name, !json.is_empty(), beside)
            })
        });
        let call = match continues {
            Some(call) => call,
            None if id.is_empty() && name.is_empty() => {
                // An empty entry says nothing; arguments of a call that never began are the
                // rest of one whose beginning was lost.
                let lost = "arguments of a tool call that never began";
                return (!json.is_empty()).then_some(End::Broken(lost));
            }
            None => self.begin_call(entry, (index, &id, &name), custom, hearing),
        };
        if !json.is_empty() {
            if let Some(known) = self.calls.get_mut(call) {
                known.end.feed(json.escaped());
            }
            hearing.say(&Event::Arguments { call, json });
        }
        None
    }

    fn begin_call(
        &mut self,
        entry: &Call<'_>,
        (index, id, name): (Option<u64>, &Text<'_>, &Text<'_>),
        custom: bool,
        hearing: &mut Hearing<'_>,
    ) -> usize {
        let call = self.calls.len();
        let known = Known {
            id: id.escaped().to_owned(),
            name: name.escaped().to_owned(),
            end: JsonEnd::new(custom),
        };
        self.held = self.held.saturating_add(known.id.len() + known.name.len() + KNOWN);
        self.calls.push(known);
        if let Some(index) = index {
            self.by_index.insert(index, call);
        }
        if let Some(signature) = google_signature(entry) {
            hearing.say(&Event::CallSignature { call, signature });
        }
        hearing.say(&Event::Call { call, id: id.clone(), name: name.clone(), custom });
        call
    }
}

/// A call that has begun.
#[derive(Debug)]
struct Known {
    id: String,
    name: String,
    end: JsonEnd,
}

/// What a call costs in memory beside its texts.
const KNOWN: usize = 2 * size_of::<Known>() + 64;

impl Known {
    /// Whether an entry at its index goes on with it. Vendors give all calls one index, or
    /// none, or no ids; some repeat id and name in each piece.
    fn goes_on(&self, id: &Text<'_>, name: &Text<'_>, has_json: bool, beside: bool) -> bool {
        let differs =
            |new: &Text<'_>, old: &str| !new.is_empty() && !old.is_empty() && new.escaped() != old;
        if differs(id, &self.id) || differs(name, &self.name) {
            return false;
        }
        let same_id = !id.is_empty() && id.escaped() == self.id;
        // Named again without an id: another call of the same tool, if this one is whole or
        // stands beside it.
        let named_again = !name.is_empty() && has_json && self.end.is_reached();
        same_id || !(named_again || (beside && !name.is_empty()))
    }
}

/// What it thought, under whichever name. The same text often stands under two: the first
/// one counts. Details hold its proofs.
fn reasoning(delta: &Delta<'_>, hearing: &mut Hearing<'_>) {
    let plain = [delta.reasoning_content, delta.reasoning];
    let said = plain.into_iter().find(|raw| !Text::of(*raw).is_empty()).flatten();
    say(said, hearing, Event::Reasoning);
    for raw in elements(delta.reasoning_details) {
        let detail: Part<'_> = members(Some(raw));
        if word(detail.kind) == "reasoning.encrypted" {
            say(detail.data, hearing, Event::Redacted);
            continue;
        }
        say(detail.signature, hearing, Event::Signature);
    }
}

fn google_signature<'e>(entry: &Call<'e>) -> Option<Text<'e>> {
    raw_members! {
        Extra { google: "google", thought_signature: "thought_signature" }
    }
    let extra: Extra<'_> = members(entry.extra_content);
    let google: Extra<'_> = members(extra.google);
    google.thought_signature.and_then(Text::of_raw).filter(|text| !text.is_empty())
}

/// Content as an array of parts: Mistral's text, and its thinking, which is parts again.
fn parts(raw: &RawValue, hearing: &mut Hearing<'_>) {
    for raw in elements(Some(raw)) {
        let part: Part<'_> = members(Some(raw));
        for inner in elements(part.thinking) {
            let inner: Part<'_> = members(Some(inner));
            say(inner.text, hearing, Event::Reasoning);
        }
        say(part.text, hearing, Event::Text);
    }
}

fn say<'e>(
    raw: Option<&'e RawValue>,
    hearing: &mut Hearing<'_>,
    event: impl FnOnce(Text<'e>) -> Event<'e>,
) {
    let text = Text::of(raw);
    if !text.is_empty() {
        hearing.say(&event(text));
    }
}

fn error_of(chunk: &Members<'_>, text: &str) -> Option<ProviderError> {
    // vLLM's error is the whole object.
    let is_error = chunk.error.is_some_and(|raw| is_truthy(raw.get()))
        || chunk.object.and_then(|raw| string_inner(raw.get())) == Some("error");
    is_error.then(|| parse_error(text.as_bytes()))
}
