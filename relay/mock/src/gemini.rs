//! `POST /v1beta/models/{model}:streamGenerateContent` and `:generateContent`, as Google answers
//! them.

mod contents;
mod fields;
mod read;
mod refusal;
mod wire;

use bytes::Bytes;
use serde_json::{Value, json};

use super::dialect::{Call, Dialect, Refusal, Turn};
use super::frame::crlf;
use super::plan::Plan;
use super::request::Request;

/// The dialect `gemini`.
#[derive(Debug)]
pub(super) struct Gemini {
    /// Whether an answer in one piece is the array of a stream that was asked for without
    /// `alt=sse`.
    pub(super) array: bool,
}

impl Dialect for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn read(&self, call: &Call<'_>) -> Result<Request, Refusal> {
        read::read(call)
    }

    fn plan(&self, turn: &Turn<'_>) -> Plan {
        wire::plan(turn)
    }

    fn whole(&self, turn: &Turn<'_>) -> Value {
        let whole = wire::whole(turn);
        if self.array { json!([whole]) } else { whole }
    }

    fn empty(&self, turn: &Turn<'_>, finish: bool) -> Vec<Bytes> {
        wire::empty(turn, finish)
    }

    fn error(&self, _turn: &Turn<'_>, _sent: u64, kind: &str, message: &str) -> Vec<Bytes> {
        vec![crlf(&refusal::error_body(kind, message))]
    }

    fn error_body(&self, kind: &str, message: &str) -> Value {
        let error = refusal::error_body(kind, message);
        if self.array { json!([error]) } else { error }
    }

    fn broken(&self) -> Bytes {
        wire::BROKEN
    }

    fn ping(&self) -> &'static [u8] {
        wire::PING
    }

    fn bad_request(&self, param: Option<&str>, words: &str) -> Refusal {
        refusal::bad_request(param, words)
    }

    fn of_status(&self, status: u16, retry_after: Option<&str>) -> Refusal {
        refusal::of_status(status, retry_after)
    }

    fn context_exceeded(&self) -> Refusal {
        let words = "The input token count (1210467) exceeds the maximum number of tokens allowed \
                     (1048576).";
        refusal::bad_request(None, words)
    }

    fn has_retry_after(&self) -> bool {
        false
    }
}
