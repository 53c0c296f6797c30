//! The ways to misbehave, as one closed set that JSON and the command line share.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One way to misbehave. In JSON the name stands in `fault`, the rest beside it:
/// `{"fault": "stall", "after": 3}`.
///
/// Where a fault speaks of `after`, that many tokens are sent well first, or
/// all of them if the answer has fewer. Unless it says otherwise a fault falls
/// on a whole answer (`stream: false`) in the same spirit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// None: lets one request through while a standing fault is on.
    None {},
    /// Head and prelude come at once, the first content this late.
    SlowFirstToken {
        /// Milliseconds until the first content.
        ms: u64,
    },
    /// No response head until then; all is well from there on.
    DelayHead {
        /// Milliseconds until the head.
        ms: u64,
    },
    /// The request is taken and never answered.
    Hang {},
    /// Some tokens, then silence for ever.
    Stall {
        /// Tokens sent first.
        after: usize,
    },
    /// Some tokens, then the connection dies inside the chunked body.
    Cut {
        /// Tokens sent first.
        after: usize,
    },
    /// Some tokens, then a clean end of the body without a finish reason.
    EndEarly {
        /// Tokens sent first.
        after: usize,
    },
    /// Some tokens, then an error object in the stream and the end of the body.
    ErrorFrame {
        /// Tokens sent first.
        after: usize,
        /// What the error calls itself: `server_error`, `overloaded`,
        /// `rate_limit_exceeded`, …; each dialect has its own word for these.
        #[serde(default = "server_error")]
        kind: String,
        /// The error's sentence.
        #[serde(default = "server_error_message")]
        message: String,
    },
    /// 200 with the web page of some proxy.
    Html {},
    /// 200 and nothing but the terminator.
    EmptyStream {
        /// A finish reason comes before the terminator.
        #[serde(default)]
        finish: bool,
    },
    /// An HTTP error, or any other final status.
    Status {
        /// The status, 200 to 999.
        status: u16,
        /// The `Retry-After` header, as it is to stand there; Gemini has none
        /// and says it in the body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<String>,
        /// The body: a string is sent as plain text, all else as JSON. Without
        /// one it is what the dialect's vendor would say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    /// The whole body, one byte at a time.
    Drip {
        /// Milliseconds from byte to byte.
        ms: u64,
    },
    /// A broken JSON event after some tokens, and on it goes.
    Malformed {
        /// Tokens sent first.
        after: usize,
    },
    /// Comments and nothing else, for ever; Anthropic's `ping` events there.
    Pings {
        /// Milliseconds from comment to comment.
        ms: u64,
    },
    /// The model declines: in refusal deltas, or by the reason it ends with.
    Refuse {},
    /// 400: the prompt is longer than the model's context.
    ContextExceeded {},
    /// 400 when `stream_options` is present, as old servers do.
    NoStreamOptions {},
    /// The body stays open after the terminator.
    KeepOpen {},
}

/// A fault and whom it strikes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaultSpec {
    /// What goes wrong.
    #[serde(flatten)]
    pub fault: Fault,
    /// How many requests it strikes before it wears off; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The probability, 0 to 1, with which it strikes; always if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The name of the only mock it strikes. A request's own fault travels with
    /// it from provider to provider, and mostly one of them is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl From<Fault> for FaultSpec {
    fn from(fault: Fault) -> Self {
        Self { fault, times: None, share: None, at: None }
    }
}

/// Why a fault could not be read; says which faults there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFault(String);

impl BadFault {
    /// A reason, in words that may follow "bad fault: ".
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }
}

impl fmt::Display for BadFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bad fault: {}; known faults: {}", self.0, KNOWN.join(", "))
    }
}

impl std::error::Error for BadFault {}

/// Every fault in the short form of the command line.
pub(super) const KNOWN: &[&str] = &[
    "none",
    "slow_first_token:MS",
    "delay_head:MS",
    "hang",
    "stall:AFTER",
    "cut:AFTER",
    "end_early:AFTER",
    "error_frame:AFTER[:KIND[:MESSAGE]]",
    "html",
    "empty_stream[:finish]",
    "status:STATUS[:RETRY_AFTER]",
    "drip:MS",
    "malformed:AFTER",
    "pings:MS",
    "refuse",
    "context_exceeded",
    "no_stream_options",
    "keep_open",
];

impl Fault {
    /// The name it goes by in JSON and on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::None {} => "none",
            Self::SlowFirstToken { .. } => "slow_first_token",
            Self::DelayHead { .. } => "delay_head",
            Self::Hang {} => "hang",
            Self::Stall { .. } => "stall",
            Self::Cut { .. } => "cut",
            Self::EndEarly { .. } => "end_early",
            Self::ErrorFrame { .. } => "error_frame",
            Self::Html {} => "html",
            Self::EmptyStream { .. } => "empty_stream",
            Self::Status { .. } => "status",
            Self::Drip { .. } => "drip",
            Self::Malformed { .. } => "malformed",
            Self::Pings { .. } => "pings",
            Self::Refuse {} => "refuse",
            Self::ContextExceeded {} => "context_exceeded",
            Self::NoStreamOptions {} => "no_stream_options",
            Self::KeepOpen {} => "keep_open",
        }
    }
}

/// The kind of an error frame that names none.
pub(super) fn server_error() -> String {
    "server_error".into()
}

/// The sentence of an error frame that brings none.
pub(super) fn server_error_message() -> String {
    "The server had an error while processing your request. Sorry about that!".into()
}
