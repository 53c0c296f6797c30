//! What is known of an answer while it is read, and what its reader must know beforehand.

use crate::errors::provider_error::ProviderError;
use shared::{Dialect, RequestId, Usage};

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
pub struct Progress {
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
    pub(crate) const fn drop_one(&mut self) {
        self.dropped = self.dropped.saturating_add(1);
    }

    /// Whether a finish reason is believed as soon as it comes. Some providers put one on
    /// their last piece of reasoning, and the text follows seconds later.
    pub(crate) const fn believes_finish(&self) -> bool {
        self.answered || !self.content || self.length || self.refused
    }

    /// Broken JSON. Plain text survives the loss of an event; a tool call's
    /// arguments would be silently wrong.
    pub(crate) const fn broken(&mut self) -> Option<End> {
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
