//! Metrics for Prometheus: counters, histograms and gauges.
//!
//! Two kinds, kept apart. *Counters and histograms* are told of something once:
//! when an attempt is dialled or ends, a request ends, a breaker turns; never
//! per token. *Gauges of the board and the journal* are not kept up to date by
//! anybody: who asks hands in a [`Now`], read for that moment.
//!
//! Invariants:
//! - A label is a name from the config or a word of a closed set, so that the
//!   number of series is bounded by the config. What a client or a provider
//!   sent never becomes one: no model, no message, no status as it came.
//! - Series whose labels are few and known exist from the start, at zero: an
//!   alert on an increase would otherwise sleep through the first one.
//! - Money is added up in whole nano-dollars and shown in dollars.
//!
//! The parts: `attempts`, `requests` and `gauges` are what is counted, each with
//! its names and help texts; `series` orders and encodes them; `status` and `dollars`
//! are values of their own; [`exposition`] chooses the format.

mod attempts;
mod dollars;
pub mod exposition;
pub mod gauges;
mod names;
mod requests;
mod series;
mod status;
#[cfg(test)]
mod tests;

pub use attempts::TRANSITIONS;
pub use exposition::Format;
pub use gauges::{ConfigNow, JournalNow, LadderNow, Now, RungNow};
pub use names::{LadderNames, Names, RungNames};

use prometheus_client::registry::Registry;
use record::{AttemptEnd, RequestEnd};
use shared::{AttemptKind, BreakerState, TokenVerdict, TransitionRule};
use std::sync::Arc;
use std::time::Duration;

/// Everything that is counted.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    attempts: attempts::Attempts,
    requests: requests::Requests,
    gauges: gauges::Gauges,
}

impl Metrics {
    /// Nothing has happened yet: known series stand at zero.
    #[must_use]
    pub fn new(names: &Names) -> Self {
        let mut registry = Registry::with_prefix("belay");
        // In this order they stand on the page: how it is, what clients see, and why.
        let metrics = Self {
            gauges: gauges::Gauges::new(&mut registry),
            requests: requests::Requests::new(&mut registry),
            attempts: attempts::Attempts::new(&mut registry),
            registry,
        };
        metrics.begin(names);
        metrics
    }

    /// From here on these are the names. What was counted under others stays counted.
    pub fn begin(&self, names: &Names) {
        self.gauges.begin(names);
        self.requests.begin(names);
        self.attempts.begin(names);
    }

    /// An attempt goes out: the `n`-th of its request. `before` is the last one that has ended,
    /// which made a retry or a failover necessary.
    pub fn dialled(
        &self,
        ladder: &Arc<str>,
        n: u32,
        kind: AttemptKind,
        before: Option<&AttemptEnd>,
    ) {
        self.attempts.dialled(ladder, n, kind, before);
    }

    /// A hedge became its request's answer.
    pub fn hedge_won(&self, ladder: &Arc<str>) {
        self.attempts.hedge_won(ladder);
    }

    /// An attempt that was made for `ladder` ended.
    pub fn attempt(&self, ladder: &Arc<str>, end: &AttemptEnd) {
        self.attempts.ended(ladder, end);
    }

    /// The verdict of a probe that went on in the background.
    pub fn detached_verdict(&self, rung: &Arc<str>, verdict: TokenVerdict) {
        self.attempts.verdict(rung, verdict);
    }

    /// A breaker turned to `to`, because of `rule`.
    pub fn transition(&self, rung: &Arc<str>, to: BreakerState, rule: TransitionRule) {
        self.attempts.transition(rung, to, rule);
    }

    /// A request ended. One whose model named no ladder that its client may use, or was not
    /// read, is counted under none.
    pub fn request(&self, end: &RequestEnd) {
        self.requests.ended(end);
    }

    /// A request was turned away by the relay itself, for the reason that `code` names.
    pub fn rejected(&self, code: &'static str) {
        self.requests.rejected(code);
    }

    /// A worker stood still for so long.
    pub fn stood_still(&self, span: Duration) {
        self.gauges.stood_still(span);
    }

    /// Everything, as text for a scraper.
    ///
    /// # Errors
    /// A metric that cannot be written as text; none of these is known to.
    pub fn text(&self, now: &Now, format: Format) -> Result<String, std::fmt::Error> {
        self.gauges.set(now);
        exposition::encode(&self.registry, format)
    }
}
