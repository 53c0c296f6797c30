//! What is known about an answer while it is read, and what its reader must know beforehand.

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

/// What the reader must know about the request and the relay's limits.
#[derive(Debug, Clone, Copy)]
pub struct AnswerSpec {
    /// The provider's dialect.
    pub from: Dialect,
    /// The client's dialect; never [`Dialect::Gemini`], which no client speaks.
    pub to: Dialect,
    /// The form that the client wants.
    pub form: Form,
    /// Whether a chat client asked for the usage chunk.
    pub wants_usage: bool,
    /// How many choices the client asked for.
    pub choices: u32,
    /// The provider is known to send finish reasons: an end without one is a cut.
    pub finishes: bool,
    /// The most bytes that one upstream event may have.
    pub max_event: usize,
    /// The most bytes that an answer in one body may have.
    pub max_answer: usize,
    /// The request's id. Ids that the provider does not give are made from it.
    pub request: RequestId,
    /// When the request arrived, in Unix seconds, for dialects whose answers carry a time.
    pub created: i64,
}

/// What one call of the reader has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Progress {
    /// All events that were dispatched.
    pub events: u32,
    /// Events with content.
    pub tokens: u32,
    /// Comments and events without content: they are only signs of life.
    pub pings: u32,
    /// All choices have their finish reason. True at most once per answer, unless content cancels
    /// the finish.
    pub finished: bool,
    /// How the answer ended. Set once; bytes after it are not read.
    pub end: Option<End>,
}

/// How an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// With a proper end. [`Facts`] say whether it had content.
    Proper,
    /// The body ended, or `[DONE]` came, before there was an answer.
    Cut,
    /// The provider sent an error.
    Error(ProviderError),
    /// An event, or the whole answer, went over this limit.
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// It does not follow the dialect. The text says how, and quotes nothing.
    Broken(&'static str),
}

/// What is known about an answer so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    /// Token counts, as far as the provider has sent them.
    pub usage: Usage,
    /// The answer has content.
    pub content: bool,
    /// The answer has content other than reasoning.
    pub answered: bool,
    /// The answer has refusal text, or a content filter ended it.
    pub refused: bool,
    /// A choice ended because of its length.
    pub length: bool,
    /// A tool call has begun and its choice has not finished.
    pub tool_open: bool,
    /// Events that were dropped: empty, not JSON, broken, or over the limit for what is kept after
    /// a finish reason.
    pub dropped: u32,
    /// Events that were corrected for the client's SDK, or left out because the SDK has got the
    /// same event already.
    pub repaired: u32,
    /// Bytes of text in all content, to estimate tokens from.
    pub text_bytes: u64,
    /// The dialect's terminator was read.
    pub done: bool,
    /// The last finish reason, in the words of chat completions; `other`: an unknown one.
    pub finish: Option<&'static str>,
}

impl Facts {
    pub(crate) const fn drop_one(&mut self) {
        self.dropped = self.dropped.saturating_add(1);
    }

    /// Whether a finish reason is believed as soon as it comes. Some providers put one on their
    /// last piece of reasoning, and the text follows seconds later.
    pub(crate) const fn believes_finish(&self) -> bool {
        self.answered || !self.content || self.length || self.refused
    }

    /// Handles broken JSON. Plain text survives the loss of an event; a tool call's arguments would
    /// be silently wrong.
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
