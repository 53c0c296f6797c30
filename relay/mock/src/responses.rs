//! `POST /v1/responses`, as OpenAI answers it.

mod input;
mod items;
mod read;
mod wire;

use bytes::Bytes;
use serde_json::Value;

use super::chat::refusal;
use super::dialect::{Call, Dialect, Refusal, Turn};
use super::plan::Plan;
use super::request::Request;

/// The dialect `openai-responses`.
#[derive(Debug)]
pub(super) struct Responses;

impl Dialect for Responses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn read(&self, call: &Call<'_>) -> Result<Request, Refusal> {
        read::read(call)
    }

    fn plan(&self, turn: &Turn<'_>) -> Plan {
        wire::plan(turn)
    }

    fn whole(&self, turn: &Turn<'_>) -> Value {
        wire::response(turn)
    }

    fn empty(&self, turn: &Turn<'_>, finish: bool) -> Vec<Bytes> {
        wire::empty(turn, finish)
    }

    fn error(&self, turn: &Turn<'_>, sent: u64, kind: &str, message: &str) -> Vec<Bytes> {
        wire::error(turn, sent, kind, message)
    }

    fn error_body(&self, kind: &str, message: &str) -> Value {
        refusal::error_body(kind, message)
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

    fn of_status(&self, status: u16, _retry_after: Option<&str>) -> Refusal {
        refusal::of_status(status)
    }

    fn context_exceeded(&self) -> Refusal {
        let words = "Your input exceeds the context window of this model. Please adjust your \
                     input and try again.";
        let code = Some("context_length_exceeded");
        refusal::refusal(400, "invalid_request_error", Some("input"), code, words)
    }
}
