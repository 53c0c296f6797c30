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
        /// The attempt's number from now on.
        attempt: AttemptId,
        /// The rung to call.
        rung: RungIndex,
        /// Why.
        kind: AttemptKind,
        /// Leave out the fields that the relay adds on its own.
        plain: bool,
        /// Use a new connection: a reused one may be dead, and this body may be sent only once, or
        /// was already lost on a dead connection.
        once: bool,
        /// It is a half-open breaker's probe.
        probe: bool,
    },
    /// A probe has lost its race: let it go on in the background.
    Detach {
        /// The attempt; its end is journaled next.
        attempt: AttemptId,
        /// What drives it from now on.
        probe: Probe,
    },
    /// An attempt has ended; close its connection if it is still open, and journal it.
    AttemptEnded {
        /// The attempt.
        attempt: AttemptId,
        /// How it ended.
        outcome: AttemptOutcome,
        /// Why, if it was cancelled or failed by the relay's own fault.
        cause: Option<Cause>,
        /// The clock that ran out, if one did.
        clock: Option<Duration>,
        /// The first token's verdict on its rung.
        verdict: Option<TokenVerdict>,
        /// The stream's verdict on its rung.
        stream_verdict: Option<StreamVerdict>,
    },
    /// No token yet, but the status must go out now.
    SendHead,
    /// This attempt has won: its bytes go to the client.
    Commit(AttemptId),
    /// The answer is whole: write its ending.
    Complete {
        /// The attempt whose answer it is.
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
        /// Why, where the outcome is `cancelled` or the relay failed.
        cause: Option<Cause>,
    },
}

/// The client's error when there is no whole answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Why the request failed.
    pub reason: FailureReason,
    /// The status, if it has not gone out yet.
    pub status: u16,
    /// After which time the client may try again.
    pub retry_after: Option<Duration>,
    /// The attempt whose provider's message is passed on.
    pub answered_by: Option<AttemptId>,
    /// How the request ended.
    pub outcome: RequestOutcome,
    /// Why, where the outcome is `cancelled` or the relay failed.
    pub cause: Option<Cause>,
}

/// Why a request failed.
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
    /// Every rung that was called refused our account.
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
