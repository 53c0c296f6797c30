//! What is recorded of requests and attempts: one value each, which the journal writes, the
//! metrics and the live numbers count, and the feed shows.
//!
//! Names of clients, ladders and rungs come from the config; the rest is numbers
//! and closed sets of words. There is no field that could hold a prompt, an
//! answer or a key.

pub mod sample;

use shared::admin::{RequestRow, Tried};
use shared::{
    AttemptKind, AttemptOutcome, Cause, NanoUsd, PassedOver, RequestId, RequestOutcome,
    StreamVerdict, TokenVerdict, UnixMillis, Usage,
};
use std::sync::Arc;
use std::time::Duration;

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
    /// The request that it belongs to.
    pub request: RequestId,
    /// Its number within the request, from 1.
    pub n: u32,
    /// The rung it calls.
    pub rung: Arc<str>,
    /// That rung's place on the board.
    pub place: usize,
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
    /// Its verdict on its rung's health at the first token.
    pub verdict: Option<TokenVerdict>,
    /// Its verdict on its rung's health after the first token.
    pub stream_verdict: Option<StreamVerdict>,
    /// Dial to response head.
    pub headers: Option<Duration>,
    /// Dial to first token.
    pub ttft: Option<Duration>,
    /// Dial to end.
    pub latency: Option<Duration>,
    /// Content events read.
    pub events: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Its tokens.
    pub usage: Usage,
    /// Whether the tokens are the relay's estimate.
    pub estimated: bool,
    /// What it cost, or why that is not known.
    pub cost: Result<NanoUsd, CostUnknown>,
    /// Parts of the request that were left out for its rung, in a closed set of words.
    pub left_out: Vec<&'static str>,
}

/// Why it is not known what an attempt cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CostUnknown {
    /// Its rung has no price in the config.
    NoPrice,
    /// There is no count of its tokens.
    NoUsage,
}

impl CostUnknown {
    /// The word for it in the journal.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NoPrice => "no price",
            Self::NoUsage => "no usage",
        }
    }
}

/// A rung that a request's plan left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedRung {
    /// The rung.
    pub rung: Arc<str>,
    /// Its place on the board.
    pub place: usize,
    /// Why.
    pub reason: PassedOver,
    /// The field that its dialect cannot express, where that is the reason. Never a value.
    pub field: Option<String>,
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
    /// The number of the attempt that the client belonged to when it ended.
    pub answered: Option<u32>,
    /// Whether a hedge was started.
    pub hedged: bool,
    /// Accept to first token.
    pub ttft: Option<Duration>,
    /// Accept to end; `None` where it never walked.
    pub latency: Option<Duration>,
    /// Content events handed to the client.
    pub events: u64,
    /// Bytes of body handed to the client.
    pub bytes: u64,
    /// Every attempt that was made.
    pub attempts: Vec<AttemptEnd>,
    /// Rungs that the plan left out.
    pub passed_over: Vec<PassedRung>,
}

impl AttemptEnd {
    /// When it ended.
    #[must_use]
    pub fn ended_at(&self) -> UnixMillis {
        let latency = self.latency.map_or(0, millis);
        UnixMillis(self.start.at.0.saturating_add(i64::try_from(latency).unwrap_or(i64::MAX)))
    }

    /// The attempt in short form.
    fn tried(&self) -> Tried {
        Tried {
            rung: self.start.rung.to_string(),
            outcome: Some(self.outcome),
            ttft_ms: self.ttft.map(millis),
            latency_ms: self.latency.map(millis),
        }
    }
}

impl RequestEnd {
    /// The row that readers of the journal get.
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
            answered_by: self.answered_by().map(|rung| rung.to_string()),
            attempts_made: u32::try_from(self.attempts.len()).unwrap_or(u32::MAX),
            hedged: self.hedged,
            ttft_ms: self.ttft.map(millis),
            latency_ms: self.latency.map(millis),
            input_tokens: usage.input,
            output_tokens: usage.output,
            cost_usd: self.cost().ok().map(NanoUsd::usd),
            bytes: self.bytes,
            events: self.events,
            trail: self.attempts.iter().map(AttemptEnd::tried).collect(),
        }
    }

    /// The attempt whose tokens are the answer's.
    #[must_use]
    pub fn answer(&self) -> Option<&AttemptEnd> {
        let number = self.answered?;
        self.attempts.iter().find(|attempt| attempt.start.n == number)
    }

    /// The rung that answered.
    #[must_use]
    pub fn answered_by(&self) -> Option<&Arc<str>> {
        Some(&self.answer()?.start.rung)
    }

    /// Whether its client had seen the first token of one attempt. A client that waits for the
    /// whole answer sees none.
    #[must_use]
    pub const fn is_committed(&self) -> bool {
        self.answered.is_some() && self.start.stream
    }

    /// Accept to first token, as its client saw it. A client that waits for the whole answer sees
    /// none.
    #[must_use]
    pub fn seen_ttft(&self) -> Option<Duration> {
        self.ttft.filter(|_| self.start.stream)
    }

    /// What all attempts cost together; unknown if the cost of any one is unknown.
    ///
    /// # Errors
    /// Why it is not known.
    pub fn cost(&self) -> Result<NanoUsd, CostUnknown> {
        cost_of(&self.attempts)
    }
}

/// What these attempts cost together; unknown if the cost of any one is unknown.
///
/// # Errors
/// Why it is not known.
pub fn cost_of(attempts: &[AttemptEnd]) -> Result<NanoUsd, CostUnknown> {
    attempts.iter().try_fold(NanoUsd(0), |sum, attempt| {
        attempt.cost.map(|cost| NanoUsd(sum.0.saturating_add(cost.0)))
    })
}

/// A span in whole milliseconds, as journal and API have it.
#[must_use]
pub fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
