//! Times to first token, counted in the buckets that both programs use.

use super::ring::Slot;
use record::AttemptEnd;
use shared::histogram::{BUCKETS, Bucket, Hist, bucket};
use shared::{StreamVerdict, TokenVerdict};
use std::time::Duration;

/// Counts by bucket: tokens that came, and attempts that were cut before.
#[derive(Debug, Clone)]
pub(super) struct Counts {
    tokens: [u32; BUCKETS],
    cut: [u32; BUCKETS],
    is_empty: bool,
}

impl Default for Counts {
    fn default() -> Self {
        Self { tokens: [0; BUCKETS], cut: [0; BUCKETS], is_empty: true }
    }
}

impl Slot for Counts {
    fn clear(&mut self) {
        if !self.is_empty {
            *self = Self::default();
        }
    }
}

impl Counts {
    /// A token that came after so many milliseconds.
    pub(super) fn token(&mut self, ms: u64) {
        count(&mut self.tokens, ms);
        self.is_empty = false;
    }

    /// An attempt that was cut after so many milliseconds without one.
    pub(super) fn cut(&mut self, ms: u64) {
        count(&mut self.cut, ms);
        self.is_empty = false;
    }

    pub(super) fn add(&mut self, other: &Self) {
        if other.is_empty {
            return;
        }
        let tokens = self.tokens.iter_mut().zip(&other.tokens);
        let cut = self.cut.iter_mut().zip(&other.cut);
        tokens.chain(cut).for_each(|(mine, theirs)| *mine = mine.saturating_add(*theirs));
        self.is_empty = false;
    }

    /// What is not zero.
    pub(super) fn hist(&self) -> Hist {
        if self.is_empty {
            return Hist::default();
        }
        let both = self.tokens.iter().zip(&self.cut).enumerate();
        let used = both.filter(|(_, (tokens, cut))| **tokens > 0 || **cut > 0);
        let bucket = |(index, (tokens, cut)): (usize, (&u32, &u32))| {
            Bucket(u16::try_from(index).unwrap_or(u16::MAX), *tokens, *cut)
        };
        Hist(used.map(bucket).collect())
    }
}

fn count(counts: &mut [u32; BUCKETS], ms: u64) {
    if let Some(count) = counts.get_mut(bucket(Duration::from_millis(ms))) {
        *count = count.saturating_add(1);
    }
}

/// A quantile in whole milliseconds.
pub(super) fn quantile_ms(hist: &Hist, q: f64) -> Option<u64> {
    hist.quantile(q).map(millis)
}

/// In whole milliseconds.
pub(super) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// Whether a stream that had begun in time broke. One that had begun slowly counts as slow already:
/// an attempt counts once.
pub(super) fn stream_broke(end: &AttemptEnd) -> bool {
    end.stream_verdict == Some(StreamVerdict::Bad) && end.verdict == Some(TokenVerdict::Good)
}
