//! What a chat provider says, for clients of other dialects.
//!
//! Only the first choice is read: several cannot be told to any other dialect, so
//! none are asked for.

use super::DONE;
use super::usage::Counts;
use crate::dialect::answer::{End, Facts, Hearing, Reader};
use crate::dialect::json::{One, elements, is_truthy, members, number, string_inner, word};
use crate::dialect::neutral::{Event, Finish, Text};
use crate::dialect::provider_error::{ProviderError, parse_error, parse_error_event};
use crate::dialect::sse;
use serde::Deserialize;
use serde::de::DeserializeSeed as _;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Reads a stream of chunks.
#[derive(Debug, Default)]
pub(in crate::dialect) struct ChatReader {
    begun: bool,
    counts: Counts,
    /// Ids of the calls so far, in order.
    calls: Vec<String>,
    /// The latest call of each index.
    by_index: HashMap<u64, usize>,
    /// Which of the two names its reasoning goes by; some vendors say it under both.
    reasoning: Option<&'static str>,
}

/// The members of a chunk that are looked at.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Members<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    object: Option<&'a RawValue>,
    #[serde(borrow)]
    choices: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
    #[serde(borrow)]
    x_groq: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Choice<'a> {
    #[serde(borrow)]
    index: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    finish_reason: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_content: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning: Option<&'a RawValue>,
    #[serde(borrow)]
    reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    refusal: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    #[serde(borrow)]
    function_call: Option<&'a RawValue>,
}

/// A part of content, a detail of reasoning, or an object with `usage`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Part<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    text: Option<&'a RawValue>,
    #[serde(borrow)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow)]
    signature: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

/// An entry of `tool_calls`, or what holds its name.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Call<'a> {
    #[serde(borrow)]
    index: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    function: Option<&'a RawValue>,
    #[serde(borrow)]
    custom: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    extra_content: Option<&'a RawValue>,
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
            Some(delta) => self.delta(&members(Some(delta)), hearing),
            None => say(choice.text, hearing, Event::Text),
        }
        let finish = match word(choice.finish_reason) {
            "" => return None,
            "stop" => Finish::Stop,
            "length" => Finish::Length,
            "tool_calls" | "function_call" => Finish::ToolCalls,
            "content_filter" => Finish::ContentFilter,
            "error" => return Some(End::Error(super::failed())),
            _ => Finish::Other,
        };
        hearing.say(&Event::Finish { finish, stop_sequence: None });
        None
    }

    fn delta(&mut self, delta: &Delta<'_>, hearing: &mut Hearing<'_>) {
        self.reasoning(delta, hearing);
        match delta.content {
            Some(raw) if raw.get().starts_with('[') => parts(raw, hearing),
            content => say(content, hearing, Event::Text),
        }
        say(delta.refusal, hearing, Event::Refusal);
        for (position, entry) in elements(delta.tool_calls).into_iter().enumerate() {
            let call: Call<'_> = members(Some(entry));
            self.call(&call, position, hearing);
        }
        if let Some(raw) = delta.function_call.filter(|raw| raw.get().starts_with('{')) {
            let call = Call { function: Some(raw), ..Call::default() };
            self.call(&call, 0, hearing);
        }
    }

    fn reasoning(&mut self, delta: &Delta<'_>, hearing: &mut Hearing<'_>) {
        let both = [
            ("reasoning_content", Text::of(delta.reasoning_content)),
            ("reasoning", Text::of(delta.reasoning)),
        ];
        for (name, text) in both {
            if !text.is_empty() && *self.reasoning.get_or_insert(name) == name {
                hearing.say(&Event::Reasoning(text));
            }
        }
        for raw in elements(delta.reasoning_details) {
            let detail: Part<'_> = members(Some(raw));
            match word(detail.kind) {
                "reasoning.encrypted" => say(detail.data, hearing, Event::Redacted),
                // Its text stands in `reasoning` as well.
                _ => say(detail.signature, hearing, Event::Signature),
            }
        }
    }

    fn call(&mut self, entry: &Call<'_>, position: usize, hearing: &mut Hearing<'_>) {
        let custom = entry.custom.is_some();
        let inner: Call<'_> = members(entry.function.or(entry.custom));
        let (id, name) = (Text::of(entry.id), Text::of(inner.name));
        let index = number(entry.index);
        let open = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.calls.len().checked_sub(1),
        };
        let continues = open.filter(|&at| {
            let known = self.calls.get(at).map(String::as_str).unwrap_or_default();
            let other_id = !id.is_empty() && !known.is_empty() && id.escaped() != known;
            // Without index and id, calls beside each other are told apart by place.
            let beside = index.is_none() && id.is_empty() && position > 0 && !name.is_empty();
            !other_id && !beside
        });
        let call = continues.unwrap_or_else(|| {
            let call = self.calls.len();
            self.calls.push(id.escaped().to_owned());
            if let Some(index) = index {
                self.by_index.insert(index, call);
            }
            if let Some(signature) = google_signature(entry) {
                hearing.say(&Event::CallSignature { call, signature });
            }
            hearing.say(&Event::Call { call, id, name, custom });
            call
        });
        let json = match inner.arguments.or(inner.input) {
            // Arguments are JSON in a string; this vendor left out the string.
            Some(raw) if raw.get().starts_with('{') => Text::plain(raw.get()),
            raw => Text::of(raw),
        };
        if !json.is_empty() {
            hearing.say(&Event::Arguments { call, json });
        }
    }
}

fn google_signature<'e>(entry: &Call<'e>) -> Option<Text<'e>> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Extra<'a> {
        #[serde(borrow)]
        google: Option<&'a RawValue>,
        #[serde(borrow)]
        thought_signature: Option<&'a RawValue>,
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
