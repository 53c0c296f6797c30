//! `POST /v1/messages`, as Anthropic answers it.

mod fields;
mod history;
mod read;
mod refusal;
mod wire;

use bytes::Bytes;
use serde_json::Value;

use super::dialect::{Call, Dialect, Refusal, Turn};
use super::frame::named;
use super::plan::Plan;
use super::request::Request;

/// The dialect `anthropic-messages`.
#[derive(Debug)]
pub(super) struct Messages;

impl Dialect for Messages {
    fn name(&self) -> &'static str {
        "anthropic-messages"
    }

    fn read(&self, call: &Call<'_>) -> Result<Request, Refusal> {
        read::read(call)
    }

    fn plan(&self, turn: &Turn<'_>) -> Plan {
        wire::plan(turn)
    }

    fn whole(&self, turn: &Turn<'_>) -> Value {
        wire::whole(turn)
    }

    fn empty(&self, turn: &Turn<'_>, finish: bool) -> Vec<Bytes> {
        wire::empty(turn, finish)
    }

    fn error(&self, _turn: &Turn<'_>, _sent: u64, kind: &str, message: &str) -> Vec<Bytes> {
        vec![named(&refusal::error_body(kind, message))]
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
        refusal::bad_request(None, "prompt is too long: 210467 tokens > 200000 maximum")
    }
}
