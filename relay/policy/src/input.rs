//! What the shell reports to the core.

use crate::index::AttemptId;
use crate::index::RungIndex;
use crate::time::Time;
use shared::{Cause, Signature};
use std::time::Duration;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// The request was accepted: plan, and dial.
    Start,
    /// An event with content came.
    Token {
        /// The attempt.
        attempt: AttemptId,
        /// Whether all its content so far is the text of a refusal.
        refusal: bool,
    },
    /// The attempt's call goes out only now: it had to be composed first. Only where the
    /// request is [`sent_later`](crate::Need::sent_later).
    Sent(AttemptId),
    /// A sign of life without content: a comment, a ping, an empty delta.
    Ping(AttemptId),
    /// The model named its finish reason; only usage and terminator are due.
    Finished(AttemptId, Answer),
    /// The attempt's upstream call is over.
    Ended(AttemptId, Ending),
    /// The client did not read for this long; now it reads again.
    Unblocked(Duration),
    /// The relay itself was blocked: what it waited for may have come long ago. This input comes
    /// before all others after the pause.
    StoodStill {
        /// How long, all pauses since the last of these inputs together.
        span: Duration,
        /// When the pause ended.
        until: Time,
    },
    /// An operator has forced this rung open: attempts on it that are not committed are cut.
    Forced(RungIndex),
    /// The operator also wants the streams that are committed to this rung to end.
    CutStream(RungIndex),
    /// Stop now: the client is gone, or the relay shuts down.
    Stop(Cause),
    /// A deadline may have passed.
    Wake,
}

/// What an answer consisted of when it came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// Whether it had content.
    pub content: bool,
    /// Whether it was refused: refusal text, or a content filter.
    pub refused: bool,
    /// Whether it stopped at its length limit.
    pub length: bool,
    /// Whether it was checked against the schema that was asked for, and does not follow it.
    pub invalid: bool,
}

/// How an upstream call ended, as seen on the wire and not yet judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The dialect's proper end.
    Proper(Answer),
    /// The body broke or ended without its proper end.
    Broken(Break),
    /// An error object inside a 200.
    ErrorEvent {
        /// What it means, if a matcher knows.
        signature: Option<Signature>,
        /// Whether a code or type of error shows this, and not only the words of a message.
        certain: bool,
        /// The wait it asks for.
        retry_after: Option<Duration>,
    },
    /// A response with another status than 200.
    Status {
        /// The status.
        status: u16,
        /// What the body means, if a matcher knows.
        signature: Option<Signature>,
        /// Whether a code or type of error shows this, and not only the words of a message.
        certain: bool,
        /// The wait it asks for, as sent.
        retry_after: Option<Duration>,
        /// Whether the complaint names a field that the relay had added.
        names_added_field: bool,
    },
    /// No response head came.
    NoHead(NoHead),
}

/// In which way a body broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Break {
    /// It ended without its proper end.
    EndOfBody,
    /// The connection was reset or closed in mid-body.
    Reset,
    /// An event, or the whole answer, was over the limit.
    TooLarge,
    /// An event does not follow the dialect.
    Malformed,
    /// The whole answer does not follow the dialect: HTML, a wrong type, an unknown encoding.
    NotTheDialect,
}

/// Why no response head came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoHead {
    /// The host's name has no address, no server listens there, or TLS failed.
    NotConnected,
    /// Time ran out connecting.
    ConnectTimeout,
    /// The relay itself could not connect: it has no file or port left, or no client.
    OwnFault,
    /// Connected, sent, and closed without an answer.
    Closed,
    /// Sent on a reused connection that was closed at once: the provider had most likely closed
    /// it while it was idle. The rung is called again, on a connection of its own.
    Stale,
    /// Closed without an answer while the body was still being sent. The provider may have
    /// refused a body that is too large for it.
    NotTaken,
}

impl NoHead {
    /// Whether the request's body may have reached the provider.
    #[must_use]
    pub const fn body_was_sent(self) -> bool {
        matches!(self, Self::Closed | Self::Stale | Self::NotTaken)
    }
}

impl Ending {
    /// The wait that the provider asked for.
    pub(crate) const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Status { retry_after, .. } | Self::ErrorEvent { retry_after, .. } => *retry_after,
            Self::Proper(_) | Self::Broken(_) | Self::NoHead(_) => None,
        }
    }

    /// The provider's status, where it was not 200.
    pub(crate) const fn refused_with(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }
}
