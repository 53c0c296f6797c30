//! One upstream answer, being read and put into the client's form.
//!
//! The reader hears the bytes of an attempt and says what they meant: how many
//! tokens, whether it is finished, how it ended. What may go to the client it
//! writes to `out`; what belongs to the ending it keeps back, so that finish
//! reason, usage, stamp and terminator can leave in one write.
//!
//! Where both sides speak one dialect the payloads pass through; else they are
//! read into the neutral words and written out of them.
//!
//! It never decides. Whether the bytes in `out` are sent, and what an end means
//! for the ladder, is for others.

mod between;
mod hearing;
mod restoring;
mod retold;
mod through;

pub(super) use hearing::{Hearing, Listening, Reader, Sink, Writer};

use super::matchers::classify;
use super::neutral::{Answer, Names};
use super::provider_error::ProviderError;
use super::request::Endpoint;
use super::spots::{Found, edit};
use super::sse::{Decoder, Event, Item};
use super::{anthropic_messages, gemini, openai_chat, openai_responses};
use between::Between;
use bytes::BytesMut;
use serde::de::IgnoredAny;
use shared::{Dialect, RequestId, Usage};
use through::Through;

/// How the client wants its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// As an event stream.
    Stream,
    /// As one JSON body.
    Whole,
}

/// What the reader must know of the request and of the relay's limits.
#[derive(Debug, Clone, Copy)]
pub struct AnswerSpec {
    /// What the provider speaks.
    pub from: Dialect,
    /// What the client speaks; never [`Dialect::Gemini`], which no client here does.
    pub to: Dialect,
    /// How the client wants it.
    pub form: Form,
    /// Whether a chat client asked for the usage chunk.
    pub wants_usage: bool,
    /// How many choices it asked for.
    pub choices: u32,
    /// The provider is known to send finish reasons: an end without one is a cut.
    pub finishes: bool,
    /// The most bytes that one upstream event may have.
    pub max_event: usize,
    /// The most bytes that an answer in one body may have.
    pub max_answer: usize,
    /// The request, for ids that the provider does not give.
    pub request: RequestId,
    /// When the request came, in Unix seconds, for answers that name a time.
    pub created: i64,
}

/// What one call of the reader heard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// Events dispatched, whatever they were.
    pub events: u32,
    /// Events with content.
    pub tokens: u32,
    /// Comments and events without content: signs of life, no more.
    pub pings: u32,
    /// All choices have their finish reason. Said once per answer.
    pub finished: bool,
    /// The answer has ended. Said once; what comes later is not read.
    pub end: Option<End>,
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// As it should. Whether it had content is among the facts.
    Proper,
    /// The body ended, or `[DONE]` came, before there was an answer.
    Cut,
    /// The provider said that it failed.
    Error(ProviderError),
    /// An event, or the whole answer, went over this limit.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// It does not speak the dialect; the text says how, and quotes nothing.
    Broken(&'static str),
}

/// What is known of an answer so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Tokens, as far as the provider has told.
    pub usage: Usage,
    /// There was content.
    pub content: bool,
    /// There was content beyond reasoning.
    pub answered: bool,
    /// There was refusal text, or a content filter ended it.
    pub refused: bool,
    /// A choice ended because of its length.
    pub length: bool,
    /// A tool call has begun and its choice has not finished.
    pub tool_open: bool,
    /// Events that were thrown away: empty, no JSON, broken, or beyond the
    /// room for what follows the finish reason.
    pub dropped: u32,
    /// Events that were put right for the client's SDK, or left out since it knew them.
    pub repaired: u32,
    /// Bytes of text in all content, to estimate tokens from.
    pub text_bytes: u64,
    /// The dialect's terminator was read.
    pub done: bool,
    /// The last finish reason, in the words of chat completions; `other` for one that
    /// is not known.
    pub finish: Option<&'static str>,
}

impl Facts {
    pub(super) const fn drop_one(&mut self) {
        self.dropped = self.dropped.saturating_add(1);
    }

    /// Whether a finish reason is believed as soon as it comes. Some providers put one on
    /// their last piece of reasoning, and the text follows seconds later.
    pub(super) const fn believes_finish(&self) -> bool {
        self.answered || !self.content || self.length || self.refused
    }

    /// Broken JSON. Plain text survives the loss of an event; a tool call's
    /// arguments would be silently wrong.
    pub(super) const fn broken(&mut self) -> Option<End> {
        if !self.content {
            return Some(End::Broken("broken JSON before the first token"));
        }
        if self.tool_open {
            return Some(End::Broken("broken JSON inside a tool call"));
        }
        self.drop_one();
        None
    }
}

/// Everything of an answer but its framing.
pub(super) trait Telling: std::fmt::Debug + Send {
    /// One event of the stream.
    fn event(&mut self, event: &Event<'_>, out: &mut BytesMut, heard: &mut Heard) -> Option<End>;

    /// A 200 whose body is one JSON document.
    fn whole(&mut self, body: &[u8], out: &mut BytesMut, heard: &mut Heard) -> End;

    /// Bytes of the body as they came, before their events. Only where a provider says
    /// something outside of events.
    fn beside(&mut self, _bytes: &[u8]) -> Option<End> {
        None
    }

    /// What it means that the body has ended here.
    fn end_of_body(&mut self) -> End;

    /// What was kept back for the ending of a stream, but the terminator.
    fn take_tail(&mut self) -> BytesMut;

    /// What ends the client's stream.
    fn take_terminator(&mut self) -> BytesMut;

    /// The answer as one JSON body.
    fn take_whole(&mut self) -> Vec<u8>;

    fn facts(&self) -> &Facts;

    fn facts_mut(&mut self) -> &mut Facts;

    /// Bytes that are held.
    fn held(&self) -> usize;

    /// From now on it tells tools by their own names, where it looks at each call.
    fn restore(&mut self, _names: &Names) {}

    /// Events that were written, where the client's dialect numbers them.
    fn sequence(&self) -> u64 {
        0
    }
}

/// Reads one answer.
#[derive(Debug)]
pub struct AnswerReader {
    from: Dialect,
    max_event: usize,
    max_answer: usize,
    decoder: Decoder,
    telling: Box<dyn Telling>,
    spec: AnswerSpec,
    /// What the provider calls the client's tools, where payloads pass through.
    names: Names,
    /// The whole body, once its text has been asked for.
    whole: Option<Vec<u8>>,
    ended: bool,
}

impl AnswerReader {
    /// A reader for one attempt.
    #[must_use]
    pub fn new(spec: AnswerSpec) -> Self {
        let telling: Box<dyn Telling> = match (spec.from, spec.to) {
            (Dialect::OpenaiChat, Dialect::OpenaiChat) => Box::new(openai_chat::Through::new(spec)),
            (from, to) if from == to => Box::new(Through::new(spec)),
            _ => Box::new(Between::new(spec)),
        };
        Self {
            from: spec.from,
            max_event: spec.max_event,
            max_answer: spec.max_answer,
            decoder: Decoder::new(spec.max_event),
            telling,
            spec,
            names: Names::default(),
            whole: None,
            ended: false,
        }
    }

    /// A reader for one attempt at `endpoint`.
    #[must_use]
    pub fn at(endpoint: Endpoint, spec: AnswerSpec) -> Self {
        let telling: Box<dyn Telling> = match endpoint {
            Endpoint::Answer | Endpoint::CountTokens => return Self::new(spec),
            Endpoint::Completions => Box::new(openai_chat::Through::of_texts(spec)),
            Endpoint::Embeddings => Box::new(openai_chat::Opaque::new("data")),
            Endpoint::Moderations => Box::new(openai_chat::Opaque::new("results")),
        };
        Self { telling, ..Self::new(spec) }
    }

    /// Gives the tools back the names that the client has for them.
    #[must_use]
    pub fn restoring(mut self, names: Names) -> Self {
        self.restore(names);
        self
    }

    /// The same, where the request was put into words after its reader was made.
    pub fn restore(&mut self, names: Names) {
        // In chat a name may come in pieces.
        if self.translates() || self.from == Dialect::OpenaiChat {
            self.telling.restore(&names);
        } else {
            self.names = names;
        }
    }

    /// Takes in what one network read of an event stream gave.
    pub fn read(&mut self, bytes: &[u8], out: &mut BytesMut) -> Heard {
        let mut heard = Heard::default();
        if self.from == Dialect::Gemini {
            // What it says beside its events counts in its place among them.
            for line in bytes.split_inclusive(|&byte| byte == b'\n') {
                self.read_events(line, out, &mut heard);
                if !self.ended {
                    let end = self.telling.beside(line);
                    self.end(end, &mut heard);
                }
            }
        } else {
            self.read_events(bytes, out, &mut heard);
        }
        heard
    }

    fn read_events(&mut self, bytes: &[u8], out: &mut BytesMut, heard: &mut Heard) {
        let mut rest = bytes;
        while !self.ended {
            let Some(item) = self.decoder.next(&mut rest) else { break };
            let end = match item {
                Item::Comment => {
                    heard.pings = heard.pings.saturating_add(1);
                    None
                }
                Item::Event(event) => {
                    let own = own_names(self.from, &self.names, event.data);
                    let event = Event { data: own.as_deref().unwrap_or(event.data), ..event };
                    self.telling.event(&event, out, heard)
                }
                Item::TooLarge => Some(End::TooLarge { limit: self.max_event }),
            };
            self.end(end, heard);
        }
    }

    /// The event stream's body has ended without an error of the transport.
    pub fn end_of_body(&mut self, out: &mut BytesMut) -> Heard {
        let mut heard = Heard::default();
        if self.ended {
            return heard;
        }
        let end = self.decoder.finish().and_then(|event| {
            if is_whole(&event) {
                let own = own_names(self.from, &self.names, event.data);
                let event = Event { data: own.as_deref().unwrap_or(event.data), ..event };
                self.telling.event(&event, out, &mut heard)
            } else {
                self.telling.facts_mut().drop_one();
                None
            }
        });
        let end = end.unwrap_or_else(|| self.telling.end_of_body());
        self.end(Some(end), &mut heard);
        heard
    }

    /// Takes in a 200 whose body is one JSON document.
    pub fn read_whole(&mut self, body: &[u8], out: &mut BytesMut) -> Heard {
        let mut heard = Heard::default();
        if !self.ended {
            let end = if body.len() > self.max_answer {
                End::TooLarge { limit: self.max_answer }
            } else {
                let own = own_names(self.from, &self.names, body);
                let before = out.len();
                let end = self.telling.whole(own.as_deref().unwrap_or(body), out, &mut heard);
                if end != End::Proper && self.spec.form == Form::Stream {
                    // Nothing of it has gone out: another rung may answer in its place.
                    out.truncate(before);
                    (heard.tokens, heard.finished) = (0, false);
                }
                end
            };
            self.end(Some(end), &mut heard);
        }
        heard
    }

    /// What was kept back for the ending of a stream: finish reason, usage. The stamp
    /// goes after it, and the terminator after that.
    pub fn take_tail(&mut self) -> BytesMut {
        self.telling.take_tail()
    }

    /// What ends the client's stream, for the end of an answer that is whole.
    pub fn take_terminator(&mut self) -> BytesMut {
        self.telling.take_terminator()
    }

    /// Writes the answer as one JSON body, to be taken later.
    pub fn write_whole(&mut self) -> &[u8] {
        self.whole.get_or_insert_with(|| self.telling.take_whole())
    }

    /// The answer as one JSON body.
    pub fn take_whole(&mut self) -> Vec<u8> {
        self.whole.take().unwrap_or_else(|| self.telling.take_whole())
    }

    /// The text of an answer that is one JSON body, its first choice's; `None` where it
    /// is something else than text: a tool call, a refusal.
    pub fn text(&mut self) -> Option<String> {
        let spec = AnswerSpec { from: self.spec.to, ..self.spec };
        let whole = String::from_utf8_lossy(self.write_whole());
        let mut answer = Answer::default();
        let mut listening = Listening::default();
        let mut hearing = Hearing::new(&mut listening, Sink::Whole(&mut answer));
        let _end = reader(&spec).whole(&whole, &mut hearing);
        answer.is_plain_text().then(|| answer.text())
    }

    /// What it was told of the request and of the relay's limits.
    #[must_use]
    pub const fn spec(&self) -> &AnswerSpec {
        &self.spec
    }

    /// Whether its client speaks another dialect than its provider.
    #[must_use]
    pub fn translates(&self) -> bool {
        self.spec.from != self.spec.to
    }

    /// What is known so far.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        self.telling.facts()
    }

    /// Bytes that are held: the unfinished event, the withheld ending, the whole answer.
    #[must_use]
    pub fn held(&self) -> usize {
        self.decoder.held().saturating_add(self.telling.held())
    }

    /// Events that were written, where the client's dialect numbers them; else 0.
    #[must_use]
    pub fn sequence(&self) -> u64 {
        self.telling.sequence()
    }

    fn end(&mut self, end: Option<End>, heard: &mut Heard) {
        let Some(mut end) = end else { return };
        if let End::Error(error) = &mut end {
            // Whoever has the request looks again.
            classify(self.from, &[], None, error, &|_| false);
        }
        self.ended = true;
        heard.end = Some(end);
    }
}

/// A payload with the client's own names of its tools; `None`: it has none but them.
fn own_names(from: Dialect, names: &Names, payload: &[u8]) -> Option<Vec<u8>> {
    if names.is_empty() {
        return None;
    }
    let spot = match from {
        Dialect::OpenaiResponses => &openai_responses::ANSWERED,
        Dialect::AnthropicMessages => &anthropic_messages::ANSWERED,
        // Chat gives them back call by call. No client speaks Gemini: it never passes through.
        Dialect::OpenaiChat | Dialect::Gemini => return None,
    };
    let text = String::from_utf8_lossy(payload);
    let own = edit(&text, spot, &mut |found| match found {
        Found::Name(told) => Some(names.own(told)?.name.clone()),
        Found::Id(_) => None,
    });
    own.map(String::into_bytes)
}

/// Whether a pending event's data is all there.
fn is_whole(event: &Event<'_>) -> bool {
    event.name == b"error"
        || event.data.trim_ascii() == openai_chat::DONE
        || serde_json::from_slice::<IgnoredAny>(event.data).is_ok()
}

/// Reads what providers of this dialect say.
pub(super) fn reader(spec: &AnswerSpec) -> Box<dyn Reader> {
    match spec.from {
        Dialect::OpenaiChat => Box::new(openai_chat::ChatReader::new(spec.finishes)),
        Dialect::AnthropicMessages => {
            Box::new(anthropic_messages::MessagesReader::new(spec.finishes))
        }
        Dialect::OpenaiResponses => Box::new(openai_responses::ResponsesReader::default()),
        Dialect::Gemini => Box::new(gemini::GeminiReader::new(spec.request)),
    }
}

/// Writes what clients of this dialect want to hear.
fn writer(spec: &AnswerSpec) -> Box<dyn Writer> {
    match spec.to {
        Dialect::AnthropicMessages => Box::new(anthropic_messages::MessagesWriter::new(spec)),
        Dialect::OpenaiResponses => Box::new(openai_responses::ResponsesWriter::new(spec)),
        // No client speaks Gemini.
        Dialect::OpenaiChat | Dialect::Gemini => Box::new(openai_chat::ChatWriter::new(spec)),
    }
}
