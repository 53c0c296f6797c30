//! What the mock records about one request.

use serde::Serialize;
use serde_json::{Map, Value};

use super::fault::Fault;

/// One request for an answer, as it came and as it ended.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Record {
    /// Number of the request since the mock started, from 1.
    pub id: u64,
    /// When it came, in milliseconds since the mock started.
    pub at_ms: u64,
    /// Its path.
    pub path: String,
    /// The dialect it speaks: `openai-chat`, `anthropic-messages`,
    /// `openai-responses` or `gemini`.
    pub dialect: &'static str,
    /// The model it asked for.
    pub model: Option<String>,
    /// Whether it asked for a stream.
    pub stream: bool,
    /// Its headers, secrets replaced by a tag that is the same for the same secret.
    pub headers: Map<String, Value>,
    /// The top-level keys of its body, in their order.
    pub keys: Vec<String>,
    /// Its `stream_options`, as they came.
    pub stream_options: Option<Value>,
    /// The fault that was applied to it.
    pub fault: Option<Fault>,
    /// The status of its response.
    pub status: Option<u16>,
    /// When its steps happened.
    pub timings: Timings,
    /// Events sent, with the terminator but without comments.
    pub events: u64,
    /// Tokens among them.
    pub tokens: u64,
    /// `done`, `client_gone after 3 events`, `cut after 3 events`, `status 429` and
    /// so on; absent while the answer is open.
    pub ended: Option<String>,
}

/// Milliseconds since a request came.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[non_exhaustive]
pub struct Timings {
    /// Until the response head.
    pub head_ms: Option<u64>,
    /// Until the first token.
    pub first_token_ms: Option<u64>,
    /// Until the end, whatever it was.
    pub end_ms: Option<u64>,
}

/// A client that went away before its answer was whole.
#[derive(Debug, Clone, Copy, Serialize)]
#[non_exhaustive]
pub struct Disconnect {
    /// The request's number.
    pub request: u64,
    /// Events that were sent to it.
    pub events: u64,
    /// Milliseconds from the request to the disconnect.
    pub after_ms: u64,
}

/// How an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// All of it was sent.
    Done,
    /// The client went away first.
    ClientGone,
    /// The mock broke it off; the word says how.
    Broken(&'static str),
    /// Something other than an answer was sent, with this status.
    Instead(u16),
}

impl Ended {
    /// In words.
    pub(super) fn words(self, events: u64) -> String {
        let after = |what| match events {
            1 => format!("{what} after 1 event"),
            n => format!("{what} after {n} events"),
        };
        match self {
            Self::Done => "done".into(),
            Self::ClientGone => after("client_gone"),
            Self::Broken(how) => after(how),
            Self::Instead(status) => format!("status {status}"),
        }
    }
}
