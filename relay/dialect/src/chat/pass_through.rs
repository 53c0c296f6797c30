//! Passes answers through if both sides speak chat: payloads stay as they are, and only the framing
//! is normalised.

use crate::chat::TERMINATOR;
use crate::chat::chunk::Chunk;
use crate::chat::collect::{Aggregate, Full};
use crate::chat::finish::FINISH_REASONS;
use crate::chat::repair::Repair;
use crate::chat::replay;
use crate::chat::usage;
use crate::chat::usage::Counts;
use crate::chat::words::DONE;
use crate::common::fields::{Fields, Writer};
use crate::common::json::{elements, members, raw_members, word};
use crate::errors::provider_error::{ProviderError, parse_error, parse_error_event};
use crate::neutral::{Finish, Meaning, Names};
use crate::stream::facts::{AnswerSpec, End, Facts, Form, Progress};
use crate::stream::frame;
use crate::stream::sse::Event;
use crate::stream::transform::Transform;
use bytes::BytesMut;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A whole answer.
#[derive(Debug)]
enum Body {
    /// Put together from chunks.
    Growing(Box<Aggregate>),
    /// It came in one piece and stays unchanged.
    Untouched(Vec<u8>),
}

/// Handles everything of an answer except the framing of the provider's events.
#[derive(Debug)]
pub(crate) struct PassThrough {
    spec: AnswerSpec,
    facts: Facts,
    counts: Counts,
    /// The last chunk had counts that were newer than those before.
    counts_are_new: bool,
    /// One bit for each choice that has its finish reason.
    finished: u128,
    told_finished: bool,
    /// Framed events that are kept back for the ending.
    tail: BytesMut,
    /// The usage chunk. It is kept apart from the tail, since it comes last and once.
    usage: String,
    repair: Repair,
    body: Body,
    /// The answer is of the old completions, whose choices have a `text` and no message.
    of_texts: bool,
}

impl PassThrough {
    pub(crate) fn of_texts(spec: AnswerSpec) -> Self {
        let aggregate = Aggregate::new("text_completion", spec.max_answer);
        Self { of_texts: true, body: Body::Growing(Box::new(aggregate)), ..Self::new(spec) }
    }

    pub(crate) fn new(spec: AnswerSpec) -> Self {
        Self {
            spec,
            facts: Facts::default(),
            counts: Counts::default(),
            counts_are_new: false,
            finished: 0,
            told_finished: false,
            tail: BytesMut::new(),
            usage: String::new(),
            repair: Repair::new(spec.request.to_string(), spec.max_answer),
            body: Body::Growing(Box::new(Aggregate::new("chat.completion", spec.max_answer))),
            of_texts: false,
        }
    }

    const fn all_finished(&self) -> bool {
        self.finished != 0 && self.finished.count_ones() >= self.spec.choices
    }

    /// What kind of end `[DONE]` is, or the end of an answer in one piece. Without a finish reason
    /// the end is proper only after content, only if the provider is not known to send finish
    /// reasons, and only if the arguments of all calls are whole. Of several choices one finish
    /// reason is enough: some proxies send only the first choice's.
    fn done(&mut self) -> End {
        self.facts.done = true;
        let open = self.facts.tool_open && !self.repair.are_whole() || self.repair.keeps_back();
        let ended = self.finished != 0 || (self.facts.content && !self.spec.finishes);
        if ended && !open { End::Proper } else { End::Cut }
    }

    /// A chunk is never an array, but Gemini's errors can be in one.
    fn array(&mut self, text: &str) -> Option<End> {
        let error = parse_error(text.as_bytes());
        if !error.message.is_empty() {
            return Some(End::Error(error));
        }
        self.facts.drop_one();
        None
    }

    /// The counts of a chunk that turns out to be an error are kept, too: the tokens were used.
    fn take_counts(&mut self, chunk: &Chunk) {
        self.counts_are_new = false;
        if chunk.counts.seen {
            self.counts_are_new = self.counts.replace(&chunk.counts);
            self.facts.usage = self.counts.usage();
        }
    }

    /// Updates the usage chunk that was kept back: newer counts have come in this chunk.
    fn renew_usage(&mut self, text: &str) {
        let mut kept: Fields = serde_json::from_str(&self.usage).unwrap_or_default();
        let chunk: Fields = serde_json::from_str(text).unwrap_or_default();
        let said = chunk.get("usage").filter(|raw| raw.get().starts_with('{'));
        let counts =
            said.map_or_else(|| usage::write(&self.facts.usage), |raw| raw.get().to_owned());
        if let Ok(counts) = RawValue::from_string(counts) {
            kept.set("usage".to_owned(), counts);
            self.facts.repaired = self.facts.repaired.saturating_add(1);
        }
        let mut writer = Writer::new(Vec::with_capacity(text.len()));
        writer.all(&kept);
        self.usage = String::from_utf8_lossy(&writer.finish()).into_owned();
    }

    fn take_facts(&mut self, chunk: &Chunk, progress: &mut Progress) {
        // After the finish reason an empty piece of a call is only a sign of life.
        let is_token = chunk.content && (chunk.says || !self.told_finished);
        let kind = if is_token { &mut progress.tokens } else { &mut progress.pings };
        *kind = kind.saturating_add(1);
        if chunk.says && self.told_finished {
            // The answer goes on, so that was no finish reason, and the rest may still break.
            self.finished = 0;
            self.told_finished = false;
            progress.finished = false;
        }
        self.finished |= chunk.finished;
        let all_finished = self.all_finished();

        let facts = &mut self.facts;
        facts.content |= chunk.content;
        facts.answered |= chunk.answers;
        facts.refused |= chunk.refusal || chunk.filtered;
        facts.length |= chunk.length;
        let is_news = all_finished && !std::mem::replace(&mut self.told_finished, all_finished);
        progress.finished |= is_news && facts.believes_finish();
        facts.tool_open = (facts.tool_open || chunk.tool) && !all_finished;
        facts.text_bytes = facts.text_bytes.saturating_add(chunk.text_bytes);
        facts.finish = chunk.finish.map(Finish::as_str).or(facts.finish);
    }

    fn pass_on(&mut self, chunk: &Chunk, text: &str, was_finished: bool, out: &mut BytesMut) {
        if chunk.choices > 0 && self.counts_are_new && !self.usage.is_empty() {
            self.renew_usage(text);
        }
        if chunk.choices == 0 {
            // Clients read `choices[0]`: only the usage chunk that they asked for may lack it. Of
            // several usage chunks the newest is right.
            if self.spec.wants_usage && self.counts_are_new {
                self.usage = with_choices(text).into_owned();
            } else if self.spec.wants_usage && chunk.counts.seen {
                self.facts.repaired = self.facts.repaired.saturating_add(1);
            }
        } else if chunk.content && (chunk.says || !was_finished) {
            // Content after the finish reason: what was kept back was not the ending.
            out.extend_from_slice(&self.tail);
            self.tail.clear();
            frame::data(text, out);
        } else if !self.all_finished() {
            frame::data(text, out);
        } else if self.tail.len().saturating_add(text.len()) <= self.spec.max_event {
            frame::data(text, &mut self.tail);
        } else {
            self.facts.drop_one();
        }
    }

    /// The chunk, with its tool calls in a form that the client's SDK can read.
    fn mend<'t>(
        &mut self,
        chunk: &Chunk,
        text: Cow<'t, str>,
        holder: &str,
    ) -> Result<Cow<'t, str>, Box<End>> {
        let frees = chunk.finished != 0 && self.repair.keeps_back();
        if !chunk.tool && !frees {
            return Ok(text);
        }
        let mended = self.repair.chunk(&text, holder)?;
        let limit = self.spec.max_answer;
        if self.held() > limit {
            return Err(Box::new(End::TooLarge { limit }));
        }
        let Some(mended) = mended else { return Ok(text) };
        self.facts.repaired = self.facts.repaired.saturating_add(u32::from(mended.is_repair));
        Ok(Cow::Owned(mended.text))
    }

    fn grow(&mut self, text: &str) -> Option<End> {
        let Body::Growing(aggregate) = &mut self.body else { return None };
        let keeps_usage = self.counts_are_new || !self.counts.seen;
        match aggregate.absorb(text, keeps_usage) {
            Ok(()) => None,
            Err(Full) => Some(End::TooLarge { limit: self.spec.max_answer }),
        }
    }
}

impl Transform for PassThrough {
    fn event(
        &mut self,
        event: &Event<'_>,
        out: &mut BytesMut,
        progress: &mut Progress,
    ) -> Option<End> {
        progress.events = progress.events.saturating_add(1);
        if event.name == b"error" {
            return Some(End::Error(parse_error_event(event.data)));
        }
        let data = event.data.trim_ascii();
        if data == DONE {
            return Some(self.done());
        }
        if !matches!(data.first(), Some(b'{' | b'[')) {
            self.facts.drop_one();
            return None;
        }
        // Bad UTF-8 damages only its own characters in this event, and no other event.
        let text = String::from_utf8_lossy(event.data);
        let Ok(chunk) = Chunk::read(&text) else { return self.facts.broken() };
        if data.starts_with(b"[") {
            return self.array(&text);
        }
        self.take_counts(&chunk);
        if let Some(error) = error_of(&chunk, &text) {
            return Some(End::Error(error));
        }
        let was_finished = self.all_finished();
        let text = match self.mend(&chunk, text, "delta") {
            Ok(text) => text,
            Err(end) => return Some(*end),
        };
        self.take_facts(&chunk, progress);
        let end = match self.spec.form {
            Form::Stream => {
                self.pass_on(&chunk, &text, was_finished, out);
                None
            }
            Form::Whole => self.grow(&text),
        };
        // The client gets the provider's own finish reason, and the error that it means.
        end.or_else(|| interruption(&chunk, &text))
    }

    /// Reads the body of a 200 that is one JSON document: an answer in one piece, or an error.
    fn whole(&mut self, body: &[u8], out: &mut BytesMut, progress: &mut Progress) -> End {
        let text = String::from_utf8_lossy(body);
        let Ok(chunk) = Chunk::read(&text) else {
            return End::Broken("the body is not JSON");
        };
        self.take_counts(&chunk);
        if let Some(error) = error_of(&chunk, &text) {
            return End::Error(error);
        }
        if let Some(end) = interruption(&chunk, &text) {
            return end;
        }
        if chunk.choices == 0 {
            // Some errors are only a message, and no answer has a message there.
            let error = parse_error(text.as_bytes());
            if error.message.is_empty() {
                return End::Broken("the body has no choices");
            }
            return End::Error(error);
        }
        if chunk.finished == 0 && !chunk.content {
            return End::Broken("the body has neither content nor a finish reason");
        }
        progress.events = 1;
        self.take_facts(&chunk, progress);
        let text = match self.mend(&chunk, text, "message") {
            Ok(text) => text,
            Err(end) => return *end,
        };
        if self.finished == 0 && self.done() != End::Proper {
            return End::Cut;
        }
        match self.spec.form {
            // An old text completion already has the form of a chunk.
            Form::Stream if self.of_texts => frame::data(&text, &mut self.tail),
            Form::Stream => {
                let usage = replay::as_stream(&text, out, &mut self.tail);
                self.usage = usage.filter(|_| self.spec.wants_usage).unwrap_or_default();
            }
            Form::Whole => self.body = Body::Untouched(text.into_owned().into_bytes()),
        }
        End::Proper
    }

    fn restore(&mut self, names: &Names) {
        self.repair.restore(names);
    }

    fn take_tail(&mut self) -> BytesMut {
        let mut tail = std::mem::take(&mut self.tail);
        if !self.usage.is_empty() {
            frame::data(&std::mem::take(&mut self.usage), &mut tail);
        }
        tail
    }

    fn end_of_body(&mut self) -> End {
        if self.all_finished() { End::Proper } else { End::Cut }
    }

    fn take_terminator(&mut self) -> BytesMut {
        TERMINATOR.into()
    }

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn facts_mut(&mut self) -> &mut Facts {
        &mut self.facts
    }

    fn take_whole(&mut self) -> Vec<u8> {
        match &mut self.body {
            Body::Growing(aggregate) => aggregate.take(),
            Body::Untouched(body) => std::mem::take(body),
        }
    }

    fn held(&self) -> usize {
        let body = match &self.body {
            Body::Growing(aggregate) => aggregate.held(),
            Body::Untouched(body) => body.len(),
        };
        let kept = self.tail.len().saturating_add(self.usage.len());
        kept.saturating_add(body).saturating_add(self.repair.held())
    }
}

fn error_of(chunk: &Chunk, text: &str) -> Option<ProviderError> {
    chunk.error.then(|| parse_error(text.as_bytes()))
}

/// The end of an answer in which a choice was interrupted.
fn interruption(chunk: &Chunk, text: &str) -> Option<End> {
    raw_members! {
        Body { choices: "choices", finish_reason: "finish_reason" }
    }
    if !chunk.interrupted {
        return None;
    }
    let body: Body<'_> = serde_json::from_str(text).unwrap_or_default();
    let reasons = elements(body.choices).into_iter().map(|raw| {
        let choice: Body<'_> = members(Some(raw));
        word(choice.finish_reason)
    });
    let mut interrupted =
        reasons.filter(|word| FINISH_REASONS.meaning(word) == Meaning::Interrupted);
    let word = interrupted.next().unwrap_or_default();
    Some(End::Error(ProviderError::interrupted(word)))
}

/// A usage chunk with the empty `choices` that OpenAI's clients expect.
fn with_choices(text: &str) -> Cow<'_, str> {
    let Ok(mut fields) = serde_json::from_str::<Fields>(text) else { return Cow::Borrowed(text) };
    let empty = fields.text("choices").and_then(|raw| raw.strip_prefix('['));
    if empty.is_some_and(|rest| rest.trim_ascii() == "]") {
        return Cow::Borrowed(text);
    }
    if let Ok(none) = RawValue::from_string("[]".to_owned()) {
        fields.set("choices".to_owned(), none);
    }
    let mut writer = Writer::new(Vec::with_capacity(text.len()));
    writer.all(&fields);
    Cow::Owned(String::from_utf8_lossy(&writer.finish()).into_owned())
}
