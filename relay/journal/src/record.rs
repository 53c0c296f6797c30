//! What callers hand to the journal.
//!
//! Names of clients, ladders and rungs come from the config; the rest is numbers
//! and closed sets of words. There is no field that could hold a prompt, an
//! answer or a key.

use super::actions::{ActionRecord, OrderEnd};
use super::captures::CaptureRecord;
use super::kept::{HealthRecord, OverrideEnd};
use super::minutes::MinuteRecord;
use shared::admin::{RequestRow, Tried};
use shared::{
    AttemptKind, AttemptOutcome, BreakerState, Cause, NanoUsd, PassedOver, RequestId,
    RequestOutcome, StreamVerdict, TokenVerdict, TransitionRule, UnixMillis, Usage,
};
use std::sync::Arc;
use tokio::sync::oneshot;

/// A request was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestStart {
    /// Its id.
    pub id: RequestId,
    /// When.
    pub at: UnixMillis,
    /// The client key's name; `None` when no client is configured.
    pub client: Option<Arc<str>>,
    /// The ladder it walks; `None` when its model named none.
    pub ladder: Option<Arc<str>>,
    /// What the client sent as `model`; cut to 128 characters when written.
    pub model: Option<Arc<str>>,
    /// Whether it asked for a stream.
    pub stream: bool,
}

/// An attempt was dialled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptStart {
    /// Whose it is.
    pub request: RequestId,
    /// Its number within the request, from 1.
    pub n: u32,
    /// The rung it calls.
    pub rung: Arc<str>,
    /// Why it was made.
    pub kind: AttemptKind,
    /// Whether it is a half-open breaker's probe.
    pub probe: bool,
    /// When.
    pub at: UnixMillis,
}

/// An attempt ended: its final row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptEnd {
    /// What was known when it was dialled.
    pub start: AttemptStart,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// Why, where the outcome is `cancelled`.
    pub cause: Option<Cause>,
    /// What went wrong, in the relay's own words, never a provider's text; cut
    /// to 256 characters when written.
    pub detail: Option<String>,
    /// The provider's HTTP status.
    pub status: Option<u16>,
    /// What it said about its rung's health on its first token.
    pub verdict: Option<TokenVerdict>,
    /// What it said about its rung's health afterwards.
    pub stream_verdict: Option<StreamVerdict>,
    /// Dial to response head, in milliseconds.
    pub headers_ms: Option<u64>,
    /// Dial to first token, in milliseconds.
    pub ttft_ms: Option<u64>,
    /// Dial to end, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Content events read.
    pub events: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Its tokens.
    pub usage: Usage,
    /// Whether the tokens are the relay's estimate.
    pub estimated: bool,
    /// What it cost, or why that is not known: `no price`, `no usage`.
    pub cost: Result<NanoUsd, &'static str>,
    /// Wishes of the request that its rung was not told, in a closed set of words.
    pub left_out: Vec<&'static str>,
}

/// A request ended: its final row, and those of all its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestEnd {
    /// What was known when it was accepted: the start record may never have been written.
    pub start: RequestStart,
    /// How it ended.
    pub outcome: RequestOutcome,
    /// Why, where the outcome is `cancelled`.
    pub cause: Option<Cause>,
    /// The status that the client saw.
    pub status: Option<u16>,
    /// The rung that answered.
    pub answered_by: Option<Arc<str>>,
    /// Whether a hedge was started.
    pub hedged: bool,
    /// Accept to first token, in milliseconds.
    pub ttft_ms: Option<u64>,
    /// Accept to end, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Content events handed to the client.
    pub events: u64,
    /// Bytes of body handed to the client.
    pub bytes: u64,
    /// Every attempt that was made.
    pub attempts: Vec<AttemptEnd>,
    /// Rungs that the plan left out, and why.
    pub passed_over: Vec<(Arc<str>, PassedOver)>,
    /// Of those, whose dialect has no words for some field: which. Never a value.
    pub unsaid: Vec<(Arc<str>, String)>,
}

impl AttemptEnd {
    /// The same in short.
    fn tried(&self) -> Tried {
        Tried {
            rung: self.start.rung.to_string(),
            outcome: Some(self.outcome),
            ttft_ms: self.ttft_ms,
            latency_ms: self.latency_ms,
        }
    }
}

impl RequestEnd {
    /// The same as readers of the journal get it.
    #[must_use]
    pub fn row(&self) -> RequestRow {
        let start = &self.start;
        let text = |name: &Option<Arc<str>>| name.as_deref().map(str::to_owned);
        let usage = self.answer().map(|attempt| attempt.usage).unwrap_or_default();
        RequestRow {
            id: start.id,
            at: start.at,
            client: text(&start.client),
            ladder: text(&start.ladder),
            model: text(&start.model),
            stream: start.stream,
            outcome: Some(self.outcome),
            cause: self.cause,
            status: self.status,
            answered_by: text(&self.answered_by),
            attempts_made: u32::try_from(self.attempts.len()).unwrap_or(u32::MAX),
            hedged: self.hedged,
            ttft_ms: self.ttft_ms,
            latency_ms: self.latency_ms,
            input_tokens: usage.input,
            output_tokens: usage.output,
            cost_usd: self.cost().ok().map(NanoUsd::usd),
            bytes: self.bytes,
            events: self.events,
            trail: self.attempts.iter().map(AttemptEnd::tried).collect(),
        }
    }

    /// The attempt whose tokens are the answer's: the last one on the answering
    /// rung that did not merely lose a race.
    pub(super) fn answer(&self) -> Option<&AttemptEnd> {
        let rung = self.answered_by.as_ref()?;
        let on_it = || self.attempts.iter().rev().filter(|attempt| attempt.start.rung == *rung);
        on_it().find(|attempt| attempt.cause != Some(Cause::LostRace)).or_else(|| on_it().next())
    }

    /// What all attempts cost together; unknown as soon as one is.
    pub(super) fn cost(&self) -> Result<NanoUsd, &'static str> {
        cost_of(&self.attempts)
    }
}

/// What these attempts cost together; unknown as soon as one is.
///
/// # Errors
/// Why it is not known.
pub fn cost_of(attempts: &[AttemptEnd]) -> Result<NanoUsd, &'static str> {
    attempts.iter().try_fold(NanoUsd(0), |sum, attempt| {
        attempt.cost.map(|cost| NanoUsd(sum.0.saturating_add(cost.0)))
    })
}

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
