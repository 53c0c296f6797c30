//! Budgets: rescue must never become the outage.
//!
//! Token buckets per ladder, fed once per request and by nothing else: not by
//! time, so that a trickle of requests cannot save up for a flood of hedges.

use crate::ladder::{HedgeSpec, RetrySpec};

/// How many of the last hedges are remembered.
const REMEMBERED: u32 = 50;
/// If a smaller share of them won, each request feeds the hedge bucket half as much: hedging does
/// not help.
const WORTHWHILE: f64 = 0.20;

/// One token bucket.
#[derive(Debug, Clone)]
struct Bucket {
    level: f64,
    burst: f64,
}

impl Bucket {
    const fn full(burst: f64) -> Self {
        Self { level: burst, burst }
    }

    const fn resize(&mut self, burst: f64) {
        self.burst = burst;
        self.level = self.level.min(burst);
    }

    fn feed(&mut self, share: f64) {
        self.level = (self.level + share).min(self.burst);
    }

    fn take(&mut self) -> bool {
        // Ten feeds of 0.1 make one token, despite binary rounding.
        if self.level + 1e-9 < 1.0 {
            return false;
        }
        self.level -= 1.0;
        true
    }
}

/// One ladder's budgets.
#[derive(Debug, Clone)]
pub struct Budget {
    hedge: Bucket,
    hedge_share: f64,
    retry: Bucket,
    retry_share: f64,
    /// The last hedges, newest in the lowest bit: 1 for a won one.
    hedges: u64,
    remembered: u32,
    /// Hedges that an empty bucket refused.
    pub refused_hedges: u64,
    /// Retries and failovers that an empty bucket refused.
    pub refused_retries: u64,
}

impl Budget {
    /// Full buckets with the ladder's settings for hedges and retries.
    #[must_use]
    pub const fn new(hedge: &HedgeSpec, retry: &RetrySpec) -> Self {
        Self {
            hedge: Bucket::full(hedge.burst),
            hedge_share: hedge.share,
            retry: Bucket::full(retry.burst),
            retry_share: retry.share,
            hedges: 0,
            remembered: 0,
            refused_hedges: 0,
            refused_retries: 0,
        }
    }

    /// Sets other settings; the levels stay, up to the new bursts.
    pub const fn set_spec(&mut self, hedge: &HedgeSpec, retry: &RetrySpec) {
        self.hedge_share = hedge.share;
        self.hedge.resize(hedge.burst);
        self.retry_share = retry.share;
        self.retry.resize(retry.burst);
    }

    /// A request came.
    pub fn request(&mut self) {
        let share = if self.hedging_helps() { self.hedge_share } else { self.hedge_share / 2.0 };
        self.hedge.feed(share);
        self.retry.feed(self.retry_share);
    }

    /// Takes a token for a hedge.
    pub fn take_hedge(&mut self) -> bool {
        let taken = self.hedge.take();
        self.refused_hedges += u64::from(!taken);
        taken
    }

    /// Takes a token for a retry, a soft-clock failover or a later failover.
    pub fn take_retry(&mut self) -> bool {
        let taken = self.retry.take();
        self.refused_retries += u64::from(!taken);
        taken
    }

    /// A hedge is over: it won its race, or it did not.
    pub const fn hedge_over(&mut self, won: bool) {
        self.hedges = (self.hedges << 1) | won as u64;
        if self.remembered < REMEMBERED {
            self.remembered += 1;
        }
    }

    /// Levels of the hedge and the retry bucket.
    #[must_use]
    pub const fn levels(&self) -> (f64, f64) {
        (self.hedge.level, self.retry.level)
    }

    fn hedging_helps(&self) -> bool {
        let window = self.hedges & ((1 << REMEMBERED) - 1);
        self.remembered < REMEMBERED
            || f64::from(window.count_ones()) >= WORTHWHILE * f64::from(REMEMBERED)
    }
}
