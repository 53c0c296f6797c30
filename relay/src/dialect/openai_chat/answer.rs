//! One upstream answer, being read and put into the client's form.
//!
//! The reader hears the bytes of an attempt and says what they meant: how many
//! tokens, whether it is finished, how it ended. What may go to the client it
//! writes to `out`; what belongs to the ending it keeps back, so that finish
//! reason, usage, stamp and terminator can leave in one write.
//!
//! It never decides. Whether the bytes in `out` are sent, and what an end means
//! for the ladder, is for others.

mod events;

use super::super::matchers::{OPENAI_CHAT, classify};
use super::super::provider_error::ProviderError;
use super::super::sse::{Decoder, Item};
use super::aggregate::Aggregate;
use bytes::BytesMut;
use events::State;
use shared::Usage;

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
    /// How the client wants it.
    pub form: Form,
    /// Whether the client asked for the usage chunk.
    pub wants_usage: bool,
    /// How many choices it asked for.
    pub choices: u32,
    /// The most bytes that one upstream event may have.
    pub max_event: usize,
    /// The most bytes that an answer in one body may have.
    pub max_answer: usize,
}

/// What one call of the reader heard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// Events dispatched, whatever they were.
    pub events: u32,
    /// Events with content.
    pub tokens: u32,
    /// Comments and chunks without content: signs of life, no more.
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
    /// There was refusal text, or a content filter ended it.
    pub refused: bool,
    /// A choice ended because of its length.
    pub length: bool,
    /// A tool call has begun and its choice has not finished.
    pub tool_open: bool,
    /// Events that were thrown away: empty, no JSON, broken, or beyond the
    /// room for what follows the finish reason.
    pub dropped: u32,
    /// Bytes of text in all content, to estimate tokens from.
    pub text_bytes: u64,
    /// `[DONE]` was read.
    pub done: bool,
    /// The last finish reason; `other` for one that is not OpenAI's.
    pub finish: Option<&'static str>,
}

/// Reads one answer.
#[derive(Debug)]
pub struct AnswerReader {
    decoder: Decoder,
    state: State,
    ended: bool,
}

impl AnswerReader {
    /// A reader for one attempt.
    #[must_use]
    pub fn new(spec: AnswerSpec) -> Self {
        Self { decoder: Decoder::new(spec.max_event), state: State::new(spec), ended: false }
    }

    /// Takes in what one network read of an event stream gave.
    pub fn read(&mut self, bytes: &[u8], out: &mut BytesMut) -> Heard {
        let mut heard = Heard::default();
        let mut rest = bytes;
        while !self.ended {
            let Some(item) = self.decoder.next(&mut rest) else { break };
            let end = match item {
                Item::Comment => {
                    heard.pings = heard.pings.saturating_add(1);
                    None
                }
                Item::Event(event) => self.state.event(&event, out, &mut heard),
                Item::TooLarge => Some(End::TooLarge { limit: self.state.spec.max_event }),
            };
            self.end(end, &mut heard);
        }
        heard
    }

    /// The event stream's body has ended without an error of the transport.
    pub fn end_of_body(&mut self, out: &mut BytesMut) -> Heard {
        let mut heard = Heard::default();
        if self.ended {
            return heard;
        }
        let end = self.decoder.finish().and_then(|event| {
            if events::is_whole(&event) {
                self.state.event(&event, out, &mut heard)
            } else {
                self.state.facts.dropped = self.state.facts.dropped.saturating_add(1);
                None
            }
        });
        let end = end.unwrap_or(if self.state.all_finished() { End::Proper } else { End::Cut });
        self.end(Some(end), &mut heard);
        heard
    }

    /// Takes in a 200 whose body is one JSON document.
    pub fn read_whole(&mut self, body: &[u8], out: &mut BytesMut) -> Heard {
        let mut heard = Heard::default();
        if !self.ended {
            let end = self.state.whole(body, out, &mut heard);
            self.end(Some(end), &mut heard);
        }
        heard
    }

    /// What was kept back for the ending of a stream: finish chunk, usage chunk.
    pub fn take_tail(&mut self) -> BytesMut {
        self.state.take_tail()
    }

    /// The answer as one `chat.completion`.
    pub fn take_whole(&mut self) -> Vec<u8> {
        self.state.take_whole()
    }

    /// What is known so far.
    #[must_use]
    pub const fn facts(&self) -> &Facts {
        &self.state.facts
    }

    /// Bytes that are held: the unfinished event, the withheld ending, the whole answer.
    #[must_use]
    pub fn held(&self) -> usize {
        self.decoder.held().saturating_add(self.state.held())
    }

    fn end(&mut self, end: Option<End>, heard: &mut Heard) {
        let Some(mut end) = end else { return };
        if let End::Error(error) = &mut end {
            classify(OPENAI_CHAT, &[], None, error);
        }
        self.ended = true;
        heard.end = Some(end);
    }
}

/// Where a whole answer grows.
#[derive(Debug)]
enum Body {
    /// Out of chunks.
    Growing(Box<Aggregate>),
    /// It came in one piece and stays as it is.
    Untouched(Vec<u8>),
}
