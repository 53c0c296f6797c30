//! Times to first token in log buckets, as relays count and send them.
//!
//! Buckets grow by 4 %, from 10 ms to 120 s. A value is within 2 % of the truth, and histograms of
//! several relays or minutes are merged by addition. A time that was not reached, because the
//! attempt was cut first, is counted apart: it says only "longer than this". So percentiles are
//! never averaged: histograms are merged first, and the percentile is computed after that.

use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The ratio of each bucket's upper end to its lower end.
pub const GROWTH: f64 = 1.04;
/// The upper end of the first bucket, in seconds.
pub const SMALLEST: f64 = 0.010;
/// How many buckets there are: `ln(120 s / 10 ms) / ln(1.04)`, rounded up, and the first one.
pub const BUCKETS: usize = 241;

/// The bucket that `span` falls in; the last one takes everything that is longer.
#[must_use]
pub fn bucket(span: Duration) -> usize {
    let above = (span.as_secs_f64() / SMALLEST).ln() / GROWTH.ln();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to the buckets"
    )]
    let index = above.ceil().clamp(0.0, (BUCKETS - 1) as f64) as usize;
    index
}

/// The upper end of a bucket.
#[must_use]
pub fn upper(index: usize) -> Duration {
    Duration::from_secs_f64(SMALLEST * GROWTH.powf(place(index)))
}

/// The lower end of the bucket that `span` falls in: it took at least this long.
#[must_use]
pub fn at_least(span: Duration) -> Duration {
    bucket(span).checked_sub(1).map_or(Duration::ZERO, upper)
}

/// The middle of a bucket, on the log scale.
#[must_use]
pub fn value(index: usize) -> Duration {
    Duration::from_secs_f64(SMALLEST * GROWTH.powf((place(index) - 0.5).max(0.0)))
}

fn place(index: usize) -> f64 {
    f64::from(u32::try_from(index).unwrap_or(u32::MAX))
}

/// One bucket that is not empty: its index, tokens that came, attempts cut before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bucket(
    /// The bucket, 0 to 240.
    pub u16,
    /// First tokens that came in it.
    pub u32,
    /// Attempts that were cut in it without a token.
    pub u32,
);

/// Counts by bucket, sparse and in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Hist(pub Vec<Bucket>);

impl Hist {
    /// Adds the counts of another relay, or of another minute.
    pub fn merge(&mut self, other: &Self) {
        let mut merged = Vec::with_capacity(self.0.len().max(other.0.len()));
        let (mut mine, mut theirs) = (self.0.iter().peekable(), other.0.iter().peekable());
        loop {
            let next = match (mine.peek(), theirs.peek()) {
                (None, None) => break,
                (Some(a), Some(b)) if a.0 == b.0 => {
                    let sum = Bucket(a.0, a.1.saturating_add(b.1), a.2.saturating_add(b.2));
                    theirs.next();
                    mine.next();
                    sum
                }
                (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => {
                    let next = **a;
                    mine.next();
                    next
                }
                (_, Some(b)) => {
                    let next = **b;
                    theirs.next();
                    next
                }
                (Some(_), None) => break,
            };
            merged.push(next);
        }
        self.0 = merged;
    }

    /// First tokens counted.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.0.iter().map(|bucket| u64::from(bucket.1)).sum()
    }

    /// The `q` quantile by the method of Kaplan and Meier: a cut attempt says only "longer". `None`
    /// without counts, or if so many attempts were cut that the quantile is beyond all counted
    /// times; then only [`Self::at_least`] is known.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let mut at_risk: u64 =
            self.0.iter().map(|bucket| u64::from(bucket.1) + u64::from(bucket.2)).sum();
        let mut surviving = 1.0_f64;
        for Bucket(index, tokens, cut) in &self.0 {
            if at_risk == 0 {
                break;
            }
            if *tokens > 0 {
                surviving *= 1.0 - f64::from(*tokens) / at_risk as f64;
                if surviving <= 1.0 - q + 1e-9 {
                    return Some(value(usize::from(*index)));
                }
            }
            at_risk = at_risk.saturating_sub(u64::from(*tokens) + u64::from(*cut));
        }
        None
    }

    /// The longest wait that is known; `None` without counts.
    #[must_use]
    pub fn at_least(&self) -> Option<Duration> {
        self.0.last().map(|bucket| value(usize::from(bucket.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merged_histograms_are_as_if_counted_together() {
        let mut a = Hist(vec![Bucket(3, 1, 0), Bucket(7, 2, 1), Bucket(9, 0, 4)]);
        a.merge(&Hist(vec![Bucket(1, 5, 0), Bucket(7, 1, 1), Bucket(12, 1, 0)]));
        let sum = [Bucket(1, 5, 0), Bucket(3, 1, 0), Bucket(7, 3, 2), Bucket(9, 0, 4)];
        assert_eq!(a.0[..4], sum);
        assert_eq!(a.0[4..], [Bucket(12, 1, 0)]);
        let mut empty = Hist::default();
        empty.merge(&a);
        assert_eq!(empty, a);
    }

    #[test]
    fn a_cut_attempt_says_only_longer() {
        let quick = u16::try_from(bucket(Duration::from_millis(100))).unwrap();
        let long = u16::try_from(bucket(Duration::from_secs(15))).unwrap();
        let hist = Hist(vec![Bucket(quick, 50, 0), Bucket(long, 0, 50)]);
        let median = hist.quantile(0.5).unwrap();
        assert!((0.09..0.11).contains(&median.as_secs_f64()), "{median:?}");
        assert_eq!(hist.quantile(0.95), None, "half of them never had a token");
        assert!(hist.at_least().unwrap() > Duration::from_secs(14));
    }
}
