//! What travels to the writer: records of requests and attempts, and the journal's own.

use super::actions::{ActionRecord, OrderEnd};
use super::captures::CaptureRecord;
use super::kept::{HealthRecord, OverrideEnd};
use super::minutes::MinuteRecord;
use record::{AttemptStart, RequestEnd, RequestStart};
use shared::{AttemptOutcome, BreakerState, RequestId, TransitionRule, UnixMillis};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A breaker changed its state, or its weight.
#[derive(Debug, Clone, PartialEq)]
pub struct TransitionRecord {
    /// When.
    pub at: UnixMillis,
    /// The rung.
    pub rung: Arc<str>,
    /// The state before.
    pub before: BreakerState,
    /// The state after.
    pub after: BreakerState,
    /// Which rule spoke.
    pub rule: TransitionRule,
    /// The same in words.
    pub text: String,
    /// Calls in the window that led to it.
    pub calls: u32,
    /// Bad ones among them.
    pub bad: u32,
    /// Slow ones among those.
    pub slow: u32,
    /// How the attempt that tipped it ended; `None`: none did, or it was slow and still ran.
    pub outcome: Option<AttemptOutcome>,
    /// The provider's status to that attempt, where it was not 200.
    pub status: Option<u16>,
    /// The request that it was an attempt of.
    pub request: Option<RequestId>,
    /// The weight afterwards.
    pub weight: f64,
    /// The breaker's generation afterwards; starts at 0 with each life of the relay.
    pub generation: u32,
    /// For how long it is open, if it is, in milliseconds.
    pub cooldown_ms: Option<u64>,
    /// The slow mark of a small prompt, in milliseconds; `None` without a reference.
    pub mark_ms: Option<u64>,
    /// The reference p95, in milliseconds.
    pub ref_p95_ms: Option<u64>,
    /// Until when it is open, if it is.
    pub until: Option<UnixMillis>,
}

/// What travels to the writer.
#[derive(Debug)]
pub(super) enum Record {
    Start(RequestStart),
    AttemptStart(AttemptStart),
    End(RequestEnd),
    Transition(TransitionRecord),
    Health(HealthRecord),
    OverrideEnd(OverrideEnd),
    Minute(Box<MinuteRecord>),
    OrderEnd(OrderEnd),
    Action(Box<ActionRecord>),
    Capture(Box<CaptureRecord>),
    /// Nothing; ends the writer's wait, so that it sees that it shall stop.
    Wake,
}

/// A record on its way.
#[derive(Debug)]
pub(super) struct Entry {
    /// When it was handed over; its age is the journal's lag.
    pub at: UnixMillis,
    pub record: Record,
    /// Told once the record is safe or lost.
    pub done: Option<oneshot::Sender<bool>>,
}

impl Entry {
    /// Tells whoever waits. That nobody does any more is no matter.
    pub fn resolve(self, committed: bool) {
        if let Some(done) = self.done {
            let _nobody_waits = done.send(committed);
        }
    }

    /// Whether losing it loses a request's record; a start is superseded by its end.
    pub fn counts(&self) -> bool {
        matches!(self.record, Record::End(_))
    }
}
