//! What is sent to the writer: records of requests and attempts, and the journal's own records.

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
    /// The rule that caused it.
    pub rule: TransitionRule,
    /// The same in words.
    pub text: String,
    /// Calls in the window that led to it.
    pub calls: u32,
    /// Bad ones among them.
    pub bad: u32,
    /// Slow ones among those.
    pub slow: u32,
    /// The outcome of the attempt that caused it. `None`: no attempt caused it, or the attempt was
    /// slow and still ran.
    pub outcome: Option<AttemptOutcome>,
    /// The provider's status to that attempt, where it was not 200.
    pub status: Option<u16>,
    /// The request that it was an attempt of.
    pub request: Option<RequestId>,
    /// The weight afterwards.
    pub weight: f64,
    /// The breaker's generation afterwards; it starts at 0 each time the relay starts.
    pub generation: u32,
    /// How long it stays open, in milliseconds, if it is open.
    pub cooldown_ms: Option<u64>,
    /// The slow mark of a small prompt, in milliseconds; `None` without a reference.
    pub mark_ms: Option<u64>,
    /// The reference p95, in milliseconds.
    pub ref_p95_ms: Option<u64>,
    /// Until when it is open, if it is.
    pub until: Option<UnixMillis>,
}

/// A record for the writer.
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
    /// Carries nothing. It ends the writer's wait, so that the writer sees that it must stop.
    Wake,
}

/// A record on its way to the writer.
#[derive(Debug)]
pub(super) struct Entry {
    /// When it was handed over; its age is the journal's lag.
    pub at: UnixMillis,
    pub record: Record,
    /// Gets `true` once the record is safe, or `false` once it is lost.
    pub done: Option<oneshot::Sender<bool>>,
}

impl Entry {
    /// Sends the result to the caller that waits. It does not matter if nobody waits any more.
    pub fn resolve(self, committed: bool) {
        if let Some(done) = self.done {
            let _nobody_waits = done.send(committed);
        }
    }

    /// Whether losing it loses a request's record. A lost start does not, since its end replaces
    /// it.
    pub fn counts(&self) -> bool {
        matches!(self.record, Record::End(_))
    }
}
