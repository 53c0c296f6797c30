//! What the core wants the shell to do.

use crate::capability::Capability;
use crate::index::AttemptId;
use crate::index::RungIndex;
use crate::probe::Probe;
use shared::{
    AttemptKind, AttemptOutcome, Cause, PassedOver, RequestOutcome, StreamVerdict, TokenVerdict,
};
use std::time::Duration;

/// One thing to do, in the order given.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Call this rung.
    Dial {
        /// The number it is known by from now on.
        attempt: AttemptId,
        /// Whom to call.
        rung: RungIndex,
        /// Why.
        kind: AttemptKind,
        /// Leave out the fields that the relay adds on its own.
        plain: bool,
        /// On a connection of its own: a reused one may be dead, and the body may leave the relay
        /// only once, or has been lost on such a one.
        once: bool,
        /// It is a half-open breaker's probe.
        probe: bool,
    },
    /// A probe has lost its race: let it go on in the background under this.
    Detach {
        /// Which; it is journaled as ended next.
        attempt: AttemptId,
        /// What drives it from now on.
        probe: Probe,
    },
    /// An attempt has ended; close its connection if it is still open, and journal it.
    AttemptEnded {
        /// Which.
        attempt: AttemptId,
        /// How.
        outcome: AttemptOutcome,
        /// Why, where the outcome is `cancelled`.
        cause: Option<Cause>,
        /// The clock that ran out, where one did.
        clock: Option<Duration>,
        /// Its verdict on its rung by the first token.
        verdict: Option<TokenVerdict>,
        /// Its verdict on its rung by the stream.
        stream_verdict: Option<StreamVerdict>,
    },
    /// No token yet, but the status must go out now.
    SendHead,
    /// This attempt has won: its bytes go to the client.
    Commit(AttemptId),
    /// The answer is whole: write its ending.
    Complete {
        /// Whose answer.
        attempt: AttemptId,
        /// How the request ended.
        outcome: RequestOutcome,
    },
    /// There is no whole answer: tell the client.
    Fail(Failure),
    /// The client is gone: no error is sent.
    Abandon {
        /// How the request ended.
        outcome: RequestOutcome,
        /// Why, where the outcome is `cancelled`.
        cause: Option<Cause>,
    },
}

/// The client's error when there is no whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The gist.
    pub reason: FailureReason,
    /// The status, if it has not gone out yet.
    pub status: u16,
    /// When it is worth asking again.
    pub retry_after: Option<Duration>,
    /// The attempt whose provider's message is passed on.
    pub answered_by: Option<AttemptId>,
    /// How the request ended.
    pub outcome: RequestOutcome,
    /// Why, where the outcome is `cancelled`.
    pub cause: Option<Cause>,
}

/// The gist of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureReason {
    /// No rung of the ladder can serve this request.
    NoRungAble {
        /// Why the last one was passed over.
        reason: PassedOver,
        /// The capability that is missing, where the reason is one.
        feature: Option<Capability>,
    },
    /// An operator took every rung out.
    AllForcedOpen,
    /// The request is wrong: the provider of `answered_by` says why.
    Rejected(AttemptOutcome),
    /// Every rung is rate limited.
    RateLimited,
    /// Rungs are overloaded, held or open.
    Unavailable,
    /// A rung was silent for too long.
    Timeout,
    /// Whoever was called refused our account.
    AccountRefused,
    /// Everything else.
    BadGateway,
    /// The third clock ran out.
    Deadline,
    /// The relay is stopping.
    Draining,
    /// An operator took the rung out, its running streams included.
    CutByOperator,
    /// The relay itself failed.
    RelayFault,
    /// The committed answer broke in this way.
    Broken(AttemptOutcome),
}
