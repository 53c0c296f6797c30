//! What a provider answers: a head, then a list of steps.

use crate::clock::ms;
use crate::{fixture, openai};
use serde_json::Value;
use std::time::Duration;

/// One thing that a provider does after its head.
#[derive(Debug, Clone)]
pub enum Step {
    /// Writes these bytes of body at once.
    Send(Vec<u8>),
    /// Writes these bytes over and over, as fast as the peer takes them.
    Flood(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Keeps the connection open and silent until the peer closes it.
    Hold,
    /// Resets the connection.
    Reset,
    /// Closes the connection without ending the body.
    Close,
}

/// How the body's end can be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// By a last chunk of no length.
    Chunked,
    /// By `content-length`.
    Length,
    /// By the end of the connection.
    Connection,
}

/// A provider's answer to one request.
#[derive(Debug, Clone)]
pub struct Reply {
    /// Status and headers; `None` where it never answers.
    pub(super) head: Option<(u16, Vec<(String, String)>)>,
    pub(super) before_head: Duration,
    pub(super) framing: Framing,
    pub(super) steps: Vec<Step>,
}

impl Reply {
    /// A head with this status and nothing else yet; the body is chunked.
    #[must_use]
    pub const fn status(status: u16) -> Self {
        Self {
            head: Some((status, Vec::new())),
            before_head: Duration::ZERO,
            framing: Framing::Chunked,
            steps: Vec::new(),
        }
    }

    /// An SSE stream with this body, in one write, properly ended.
    #[must_use]
    pub fn sse(body: impl AsRef<[u8]>) -> Self {
        Self::stream().send(body)
    }

    /// The head of an SSE stream; what follows is up to the script.
    #[must_use]
    pub fn stream() -> Self {
        Self::status(200).header("content-type", "text/event-stream")
    }

    /// A good answer with this text.
    #[must_use]
    pub fn text(words: &str) -> Self {
        Self::sse(openai::stream(words))
    }

    /// A stream whose first token is `words`; what follows is up to the script.
    #[must_use]
    pub fn begins(words: &str) -> Self {
        Self::stream().send(openai::role() + &openai::text(words))
    }

    /// A JSON body with its length.
    #[must_use]
    pub fn json(status: u16, body: &Value) -> Self {
        Self::body(status, "application/json", body.to_string())
    }

    /// A body of this type with its length.
    #[must_use]
    pub fn body(status: u16, content_type: &str, body: impl AsRef<[u8]>) -> Self {
        Self::status(status).header("content-type", content_type).framed(Framing::Length).send(body)
    }

    /// An error in the OpenAI shape.
    #[must_use]
    pub fn error(status: u16, message: &str, kind: &str, code: &Value) -> Self {
        Self::json(status, &openai::error_body(message, kind, code))
    }

    /// A file of `fixtures/`, as its manifest says.
    #[must_use]
    pub fn fixture(name: &str) -> Self {
        fixture::reply(name)
    }

    /// Reads the request and then never says a word.
    #[must_use]
    pub fn silent() -> Self {
        Self::headless(Step::Hold)
    }

    /// Reads the request and closes the connection without an answer.
    #[must_use]
    pub fn closed() -> Self {
        Self::headless(Step::Close)
    }

    /// Reads the request, works on it for `span`, and closes the connection without an answer.
    #[must_use]
    pub fn closed_after(span: Duration) -> Self {
        Self { steps: vec![Step::Pause(span), Step::Close], ..Self::closed() }
    }

    /// Reads the request and resets the connection without an answer.
    #[must_use]
    pub fn reset_at_once() -> Self {
        Self::headless(Step::Reset)
    }

    fn headless(step: Step) -> Self {
        Self {
            head: None,
            before_head: Duration::ZERO,
            framing: Framing::Connection,
            steps: vec![step],
        }
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some((_, headers)) = &mut self.head {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Frames the body in another way.
    #[must_use]
    pub const fn framed(mut self, framing: Framing) -> Self {
        self.framing = framing;
        self
    }

    /// Waits before the head.
    #[must_use]
    pub const fn after(mut self, span: Duration) -> Self {
        self.before_head = span;
        self
    }

    /// Then does `step`.
    #[must_use]
    pub fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Then writes these bytes at once.
    #[must_use]
    pub fn send(self, bytes: impl AsRef<[u8]>) -> Self {
        self.step(Step::Send(bytes.as_ref().to_vec()))
    }

    /// Then waits.
    #[must_use]
    pub fn pause(self, span: Duration) -> Self {
        self.step(Step::Pause(span))
    }

    /// Then sends `words` one by one with a pause before each.
    #[must_use]
    pub fn words(self, words: &[&str], pause: Duration) -> Self {
        words.iter().fold(self, |reply, word| reply.pause(pause).send(openai::text(word)))
    }

    /// Then sends the finish chunk, usage and the terminator in one write.
    #[must_use]
    pub fn stop(self) -> Self {
        self.send([openai::finish("stop"), openai::usage(11, 3), openai::DONE.to_owned()].concat())
    }

    /// Then stays open and silent until the peer closes.
    #[must_use]
    pub fn hold(self) -> Self {
        self.step(Step::Hold)
    }

    /// Then resets the connection, late enough for what was sent to have been read.
    #[must_use]
    pub fn reset(self) -> Self {
        self.pause(ms(50)).step(Step::Reset)
    }

    /// Then closes the connection without ending the body.
    #[must_use]
    pub fn cut(self) -> Self {
        self.step(Step::Close)
    }
}
