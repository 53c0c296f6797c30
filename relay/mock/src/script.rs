//! What will happen on one request, planned before it begins.
//!
//! Faults are applied here and nowhere else: each one is another order of the same few steps. So a
//! script can be read, and the code that plays it knows no fault.

mod stream;
mod whole;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::answer::Answer;
use super::dialect::{Dialect, Refusal, Turn};
use super::fault::Fault;
use super::options::MockOptions;
use super::record::Ended;
use super::request::Request;
use super::wish::Wish;

/// See the module.
#[derive(Debug)]
pub(super) struct Script {
    /// When the head is sent; `None`: never.
    pub(super) head_after: Option<Duration>,
    /// The head's status.
    pub(super) status: u16,
    /// The head's content type.
    pub(super) content_type: &'static str,
    /// The head's `Retry-After`.
    pub(super) retry_after: Option<String>,
    /// The body.
    pub(super) steps: VecDeque<Step>,
    /// If set, the body is sent byte by byte, with this time between two bytes.
    pub(super) drip: Option<Duration>,
    /// How the answer has ended once the last step is made.
    pub(super) ended: Ended,
}

/// One step of a body.
#[derive(Debug)]
pub(super) enum Step {
    /// Sends nothing for this long.
    Wait(Duration),
    /// Sends bytes; also says what they are.
    Send(Bytes, Sent),
    /// Sends nothing, for ever.
    Silence,
    /// Sends these bytes for ever, with this time between them.
    Repeat(&'static [u8], Duration),
    /// The connection breaks.
    Break,
}

/// What was sent, for the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// A token's chunk.
    Token,
    /// Another event.
    Event,
    /// The last event: whatever happens after it, the answer was whole.
    Last,
    /// A token that is the last event, too.
    LastToken,
    /// Bytes that are not an event.
    Bytes,
}

const STREAM: &str = "text/event-stream; charset=utf-8";
const JSON: &str = "application/json";
const PAGE: &str = "<!DOCTYPE html>\n<html><head><title>Welcome</title></head>\n<body><h1>It \
                    works!</h1><p>Please sign in to the network.</p></body></html>\n";

impl Script {
    /// The script for a request that is struck by this fault, or by none.
    pub(super) fn of(
        dialect: &dyn Dialect,
        request: &Request,
        fault: Option<&Fault>,
        wish: &Wish,
        options: &MockOptions,
    ) -> Self {
        match fault {
            Some(Fault::Hang {}) => {
                let never = Self::new("", VecDeque::new());
                Self { head_after: None, ..never }
            }
            Some(Fault::Html {}) => {
                Self::page("text/html; charset=utf-8", PAGE.into(), Ended::Broken("html"))
            }
            Some(Fault::ContextExceeded {}) => Self::refusal(&dialect.context_exceeded()),
            Some(Fault::NoStreamOptions {}) => {
                let words = "Unrecognized request argument supplied: stream_options";
                Self::refusal(&dialect.bad_request(None, words))
            }
            Some(Fault::Status { status, retry_after, body }) => {
                Self::of_status(dialect, *status, retry_after.as_deref(), body.as_ref())
            }
            _ => {
                let answer = match fault {
                    Some(Fault::Refuse {}) => Answer::refusal(),
                    Some(Fault::EmptyStream { .. }) => Answer::empty(),
                    _ => Answer::to(request, wish, options),
                };
                let turn = Turn::new(request, answer, options.created());
                if request.stream {
                    stream::script(dialect, &turn, fault, options)
                } else {
                    whole::script(dialect, &turn, fault, options)
                }
            }
        }
    }

    /// The script that only sends a refusal.
    pub(super) fn refusal(refusal: &Refusal) -> Self {
        let ended = Ended::Instead(refusal.status);
        let page = Self::page(JSON, refusal.body.to_string(), ended);
        Self { status: refusal.status, ..page }
    }

    fn of_status(
        dialect: &dyn Dialect,
        status: u16,
        retry_after: Option<&str>,
        body: Option<&Value>,
    ) -> Self {
        let page = match body {
            None => Self::refusal(&dialect.of_status(status, retry_after)),
            Some(Value::String(text)) => {
                Self::page("text/plain; charset=utf-8", text.clone(), Ended::Instead(status))
            }
            Some(json) => Self::page(JSON, json.to_string(), Ended::Instead(status)),
        };
        let in_header = body.is_some() || dialect.has_retry_after();
        let retry_after = retry_after.filter(|_| in_header).map(Into::into);
        Self { status, retry_after, ..page }
    }

    fn page(content_type: &'static str, body: String, ended: Ended) -> Self {
        let steps = [Step::Send(body.into(), Sent::Bytes)].into();
        Self { ended, ..Self::new(content_type, steps) }
    }

    fn new(content_type: &'static str, steps: VecDeque<Step>) -> Self {
        Self {
            head_after: Some(Duration::ZERO),
            status: 200,
            content_type,
            retry_after: None,
            steps,
            drip: None,
            ended: Ended::Done,
        }
    }
}

/// The word for an answer that is broken off, or ends otherwise than it should.
fn ending(fault: Option<&Fault>) -> Ended {
    match fault {
        Some(Fault::Cut { .. }) => Ended::Broken("cut"),
        Some(Fault::EndEarly { .. }) => Ended::Broken("end_early"),
        Some(Fault::ErrorFrame { .. }) => Ended::Broken("error_frame"),
        _ => Ended::Done,
    }
}

/// When the head is sent if the answer usually begins after `usual`.
fn head_after(fault: Option<&Fault>, usual: Duration) -> Duration {
    match fault {
        Some(Fault::SlowFirstToken { .. } | Fault::Pings { .. }) => Duration::ZERO,
        Some(Fault::DelayHead { ms }) => Duration::from_millis(*ms),
        _ => usual,
    }
}

fn drip(fault: Option<&Fault>) -> Option<Duration> {
    match fault {
        Some(Fault::Drip { ms }) => Some(Duration::from_millis(*ms)),
        _ => None,
    }
}
