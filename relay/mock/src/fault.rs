//! The ways to misbehave, as one closed set that JSON and the command line share.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One way to misbehave. In JSON its name is in `fault`, with its parameters beside it:
/// `{"fault": "stall", "after": 3}`.
///
/// If a fault has `after`, that many tokens are sent normally first, or all of them if the answer
/// has fewer. Unless it says otherwise, a fault affects a whole answer (`stream: false`) in a
/// similar way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// No fault: lets one request through while a standing fault is set.
    None {},
    /// Head and prelude are sent at once; the first content comes this late.
    SlowFirstToken {
        /// Milliseconds until the first content.
        ms: u64,
    },
    /// No response head until this time; after it everything is normal.
    DelayHead {
        /// Milliseconds until the head.
        ms: u64,
    },
    /// The request is accepted and never answered.
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
        /// The error's type: `server_error`, `overloaded`, `rate_limit_exceeded`, …; each dialect
        /// has its own word for these.
        #[serde(default = "server_error")]
        kind: String,
        /// The error's message.
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
        /// The `Retry-After` header, exactly as it is sent; Gemini has no such header and says it
        /// in the body.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<String>,
        /// The body: a string is sent as plain text, anything else as JSON. Without it, the body is
        /// what the dialect's vendor would send.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        body: Option<Value>,
    },
    /// The whole body, one byte at a time.
    Drip {
        /// Milliseconds from byte to byte.
        ms: u64,
    },
    /// A broken JSON event after some tokens; then the stream goes on.
    Malformed {
        /// Tokens sent first.
        after: usize,
    },
    /// Only comments, for ever; in Anthropic's dialect `ping` events.
    Pings {
        /// Milliseconds from comment to comment.
        ms: u64,
    },
    /// The model declines: in refusal deltas, or by its finish reason.
    Refuse {},
    /// 400: the prompt is longer than the model's context.
    ContextExceeded {},
    /// 400 when `stream_options` is present, as old servers do.
    NoStreamOptions {},
    /// The body stays open after the terminator.
    KeepOpen {},
}

/// A fault, and the requests that it affects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaultSpec {
    /// What goes wrong.
    #[serde(flatten)]
    pub fault: Fault,
    /// How many requests it affects before it wears off; all if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times: Option<u32>,
    /// The probability, 0 to 1, with which it affects a request; always if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The name of the only mock that it affects. A request's own fault is sent on with it from
    /// provider to provider, and mostly only one of them is meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl From<Fault> for FaultSpec {
    fn from(fault: Fault) -> Self {
        Self { fault, times: None, share: None, at: None }
    }
}

/// Why a fault could not be read; its text lists the known faults.
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
    /// The name it has in JSON and on the command line.
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

/// The kind of an error frame that gives none.
pub(super) fn server_error() -> String {
    "server_error".into()
}

/// The message of an error frame that gives none.
pub(super) fn server_error_message() -> String {
    "The server had an error while processing your request. Sorry about that!".into()
}
