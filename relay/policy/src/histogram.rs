//! Times to first token, in log buckets over rotating windows.
//!
//! The buckets are those that both programs use. An attempt that was cut before its token is
//! counted separately: its time to first token is only known to be longer.

use crate::time::Time;
use shared::histogram::{bucket, upper, value};
use std::collections::VecDeque;
use std::time::Duration;

pub use shared::histogram::{BUCKETS, at_least};

/// Counts by bucket: tokens that came, and attempts that were cut before.
#[derive(Debug, Clone)]
pub struct Counts {
    tokens: Box<[u32; BUCKETS]>,
    cut: Box<[u32; BUCKETS]>,
    total_tokens: u32,
    total_cut: u32,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            tokens: Box::new([0; BUCKETS]),
            cut: Box::new([0; BUCKETS]),
            total_tokens: 0,
            total_cut: 0,
        }
    }
}

impl Counts {
    /// A token that came after `span`.
    pub fn token(&mut self, span: Duration) {
        if let Some(count) = self.tokens.get_mut(bucket(span)) {
            *count = count.saturating_add(1);
            self.total_tokens = self.total_tokens.saturating_add(1);
        }
    }

    /// An attempt that was cut after `span` without a token.
    pub fn cut(&mut self, span: Duration) {
        if let Some(count) = self.cut.get_mut(bucket(span)) {
            *count = count.saturating_add(1);
            self.total_cut = self.total_cut.saturating_add(1);
        }
    }

    /// Tokens seen.
    #[must_use]
    pub const fn tokens(&self) -> u32 {
        self.total_tokens
    }

    /// Tokens that came in a later bucket than that of `span`, and attempts that were cut in one.
    #[must_use]
    pub fn beyond(&self, span: Duration) -> (u32, u32) {
        let sum = |counts: &[u32; BUCKETS]| {
            counts.iter().skip(bucket(span) + 1).fold(0_u32, |sum, more| sum.saturating_add(*more))
        };
        (sum(&self.tokens), sum(&self.cut))
    }

    fn clear(&mut self) {
        if self.total_tokens > 0 || self.total_cut > 0 {
            *self = Self::default();
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        if other.total_tokens == 0 && other.total_cut == 0 {
            return;
        }
        let pairs = self.tokens.iter_mut().zip(other.tokens.iter());
        let cuts = self.cut.iter_mut().zip(other.cut.iter());
        pairs.chain(cuts).for_each(|(mine, theirs)| *mine = mine.saturating_add(*theirs));
        self.total_tokens = self.total_tokens.saturating_add(other.total_tokens);
        self.total_cut = self.total_cut.saturating_add(other.total_cut);
    }

    /// The `q` quantile with cut attempts counted at the time of their cut.
    ///
    /// Correct for a delay below which no attempt is cut; too low for anything beyond it.
    #[must_use]
    pub fn quantile_as_cut(&self, q: f64) -> Option<Duration> {
        let all = u64::from(self.total_tokens) + u64::from(self.total_cut);
        if all == 0 {
            return None;
        }
        let mut below = 0_u64;
        let counts = self.tokens.iter().zip(self.cut.iter());
        for (index, (tokens, cut)) in counts.enumerate() {
            below += u64::from(*tokens) + u64::from(*cut);
            if below as f64 >= q * all as f64 {
                // A delay is over when all of the bucket has passed.
                return Some(upper(index));
            }
        }
        Some(upper(BUCKETS - 1))
    }

    /// The median of the tokens that came, whatever was cut.
    #[must_use]
    pub fn median_of_tokens(&self) -> Option<Duration> {
        let mut below = 0_u32;
        let at = self.tokens.iter().position(|count| {
            below = below.saturating_add(*count);
            below > self.total_tokens / 2
        });
        at.map(value)
    }

    /// The `q` quantile by Kaplan and Meier: of a cut attempt it is only known that it takes
    /// longer. `None` if so many were cut that the quantile lies beyond what was seen.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let mut at_risk = u64::from(self.total_tokens) + u64::from(self.total_cut);
        let mut surviving = 1.0_f64;
        let counts = self.tokens.iter().zip(self.cut.iter());
        for (index, (tokens, cut)) in counts.enumerate() {
            if at_risk == 0 {
                break;
            }
            if *tokens > 0 {
                surviving *= 1.0 - f64::from(*tokens) / at_risk as f64;
                if surviving <= 1.0 - q + 1e-9 {
                    return Some(value(index));
                }
            }
            at_risk = at_risk.saturating_sub(u64::from(*tokens) + u64::from(*cut));
        }
        None
    }
}

/// Counts over the last `windows × span`, in rotating windows.
#[derive(Debug, Clone)]
pub struct Rolling {
    span: Duration,
    /// Those before the current one, the oldest first.
    windows: VecDeque<Counts>,
    current: Counts,
    /// When the current window began.
    began: Option<Time>,
}

impl Rolling {
    /// An empty one.
    #[must_use]
    pub fn new(windows: usize, span: Duration) -> Self {
        let older = vec![Counts::default(); windows.saturating_sub(1)].into();
        Self { span, windows: older, current: Counts::default(), began: None }
    }

    /// The window that `now` falls in.
    pub fn at(&mut self, now: Time) -> &mut Counts {
        self.rotate(now);
        &mut self.current
    }

    /// Everything that is not too old.
    pub fn sum(&mut self, now: Time) -> Counts {
        self.rotate(now);
        let mut sum = self.current.clone();
        self.windows.iter().for_each(|window| sum.add(window));
        sum
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.windows.iter_mut().for_each(Counts::clear);
        self.current.clear();
    }

    fn rotate(&mut self, now: Time) {
        let mut began = *self.began.get_or_insert(now);
        let count = self.windows.len();
        let mut turns = 0;
        while now.since(began) >= self.span {
            turns += 1;
            if turns > count + 1 {
                // Everything is too old: no need to turn a whole day's worth of windows.
                self.clear();
                began = now;
                break;
            }
            began = began.plus(self.span);
            self.windows.push_back(std::mem::take(&mut self.current));
            self.windows.pop_front();
        }
        self.began = Some(began);
    }
}
