//! What a mock needs to know of a dialect.
//!
//! Written from the vendors' documents and from recordings, not from the relay's own dialects, so
//! that a relay that misreads a vendor fails here.

use std::fmt::Debug;

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value};

use super::answer::Answer;
use super::frame::random;
use super::plan::Plan;
use super::request::Request;

/// A request as it came.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// Its path.
    pub(super) path: &'a str,
    /// Its headers.
    pub(super) headers: &'a HeaderMap,
    /// The model, where the path names it.
    pub(super) model: Option<&'a str>,
    /// Whether to stream, where the path says so.
    pub(super) stream: Option<bool>,
    /// Its body.
    pub(super) body: &'a Map<String, Value>,
}

/// An error response: a status and a body.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The status.
    pub(super) status: u16,
    /// The body.
    pub(super) body: Value,
}

/// A request with the answer to it.
#[derive(Debug)]
pub(super) struct Turn<'a> {
    /// The request.
    pub(super) request: &'a Request,
    /// The answer.
    pub(super) answer: Answer,
    /// The answer's unique id; a dialect puts its own letters before it.
    pub(super) id: String,
    /// The answer's date, in Unix seconds.
    pub(super) created: u64,
}

impl<'a> Turn<'a> {
    /// A new answer with an id of its own.
    pub(super) fn new(request: &'a Request, answer: Answer, created: u64) -> Self {
        Self { request, answer, id: random(29), created }
    }

    /// All prompt tokens, those of the cache too.
    pub(super) fn prompt_tokens(&self) -> usize {
        self.request.prompt_tokens + self.answer.cached + self.answer.cache_written
    }
}

/// See the module.
pub(super) trait Dialect: Debug + Sync {
    /// Its name, as a relay's config spells it.
    fn name(&self) -> &'static str;

    /// Reads a request, or refuses it as the vendor would.
    fn read(&self, call: &Call<'_>) -> Result<Request, Refusal>;

    /// The answer as a stream.
    fn plan(&self, turn: &Turn<'_>) -> Plan;

    /// The answer in one piece.
    fn whole(&self, turn: &Turn<'_>) -> Value;

    /// A stream of nothing but the terminator, perhaps with a finish reason.
    fn empty(&self, turn: &Turn<'_>, finish: bool) -> Vec<Bytes>;

    /// An error in a stream, after `sent` events.
    fn error(&self, turn: &Turn<'_>, sent: u64, kind: &str, message: &str) -> Vec<Bytes>;

    /// The same error, in place of a whole answer.
    fn error_body(&self, kind: &str, message: &str) -> Value;

    /// An event that breaks off in the middle.
    fn broken(&self) -> Bytes;

    /// What shows that the connection lives while the model thinks.
    fn ping(&self) -> &'static [u8];

    /// 400: the request is wrong, and `param` is the field to blame.
    fn bad_request(&self, param: Option<&str>, words: &str) -> Refusal;

    /// The vendor's error for a status. It says when to try again if the vendor's errors do so.
    fn of_status(&self, status: u16, retry_after: Option<&str>) -> Refusal;

    /// The error for a prompt that is longer than the model's context.
    fn context_exceeded(&self) -> Refusal;

    /// Whether a refusal has a header that says when to try again.
    fn has_retry_after(&self) -> bool {
        true
    }
}
