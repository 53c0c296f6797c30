//! What the first tokens of one kind of request usually take on one rung.
//!
//! A request that lets the model think, or has pictures, takes longer without being slow. So each
//! kind has its own histograms, and its own estimates from them. There are two estimates. The
//! *rolling* one follows the last minutes and sets the hedge delay. The *reference* is the p95
//! while the rung is well: it is fed only at full weight and rises slowly, so that an incident
//! cannot become the norm.

use crate::histogram::{Counts, Rolling};
use crate::time::Time;
use std::time::Duration;

/// How many first tokens must have been seen before there is a reference.
pub(super) const ENOUGH: u32 = 30;
/// The slow mark as a multiple of the reference.
const MARK: f64 = 1.25;
/// The quantile of recent times to first token after which a hedge starts. Together with the cap on
/// the delay, about one call in twenty is hedged while the rung is well.
const DELAY_QUANTILE: f64 = 0.96;
/// The shortest reference: below it every token is fast.
pub(super) const LEAST_REFERENCE: Duration = Duration::from_millis(500);
/// A reference rises by this factor per minute at the most.
const RISE: f64 = 1.10;
/// It does not rise while more than this many attempts were cut after it for each late token.
const CUT_TO_LATE: u64 = 2;
/// Answers count as slower than usual if their median is more than this many times the usual one.
const SLOWER: f64 = 1.25;
/// Estimates are computed anew this often.
const REFRESH: Duration = Duration::from_secs(1);

/// Its histograms and estimates, net of the prompt's size.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    short: Rolling,
    long: Rolling,
    steady: Rolling,
    tokens_seen: u32,
    pub(super) estimates: Estimates,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Estimates {
    at: Option<Time>,
    /// The rolling quantile that sets the hedge delay; losers of races count at the time of their
    /// cut.
    pub(super) delay: Option<Duration>,
    pub(super) median: Option<Duration>,
    pub(super) reference: Option<Duration>,
    /// The median at full weight.
    pub(super) usual: Option<Duration>,
    /// Whether the answers that come are as fast as usual.
    pub(super) is_quick: bool,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            short: Rolling::new(6, Duration::from_secs(20)),
            long: Rolling::new(6, Duration::from_secs(300)),
            steady: Rolling::new(10, Duration::from_secs(60)),
            tokens_seen: 0,
            estimates: Estimates::default(),
        }
    }
}

impl Profile {
    /// A first token came after `net`; `full`: its rung was at full weight.
    pub(super) fn token(&mut self, now: Time, net: Duration, full: bool) {
        self.short.at(now).token(net);
        self.long.at(now).token(net);
        if full {
            self.steady.at(now).token(net);
        }
        self.tokens_seen = self.tokens_seen.saturating_add(1);
    }

    /// An attempt was cut without a token after `net`.
    pub(super) fn cut(&mut self, now: Time, net: Duration, full: bool) {
        self.short.at(now).cut(net);
        self.long.at(now).cut(net);
        if full {
            self.steady.at(now).cut(net);
        }
    }

    /// The times of the last two minutes.
    pub(super) fn latest(&mut self, now: Time) -> Counts {
        self.short.sum(now)
    }

    /// Forgets the times of the last two minutes.
    pub(super) fn forget_latest(&mut self) {
        self.short.clear();
    }

    /// Its times in the last minutes, or in the last half hour if they are few.
    pub(super) fn recent(&mut self, now: Time) -> Counts {
        let recent = self.short.sum(now);
        if recent.tokens() < ENOUGH { self.long.sum(now) } else { recent }
    }

    /// Brings the estimates up to date; cheap if they are fresh. The reference and the usual median
    /// do not change while the rung is away.
    pub(super) fn refresh(&mut self, now: Time, is_full: bool) {
        let since = self.estimates.at.map(|at| now.since(at));
        if since.is_some_and(|since| since < REFRESH) {
            return;
        }
        let recent = self.recent(now);
        let enough = recent.tokens() >= ENOUGH;
        let before = self.estimates;
        let reference = if is_full {
            self.new_reference(now, since.unwrap_or_default())
        } else {
            before.reference
        };
        // A few tokens must not replace what was usual before a restart.
        let usual = is_full
            .then(|| self.steady.sum(now))
            .filter(|steady| before.usual.is_none() || steady.tokens() >= ENOUGH);
        let usual = usual.and_then(|steady| steady.quantile(0.5));
        self.estimates = Estimates {
            at: Some(now),
            delay: enough.then(|| recent.quantile_as_cut(DELAY_QUANTILE)).flatten(),
            median: recent.quantile(0.5),
            reference,
            usual: usual.or(before.usual),
            is_quick: before.is_quick,
        };
        self.estimates.is_quick = self.answers_quickly(now);
    }

    /// Whether the answers that come are as fast as usual: under load all are slower.
    pub(super) fn answers_quickly(&mut self, now: Time) -> bool {
        let Some(usual) = self.estimates.usual else { return false };
        let median = self.latest(now).median_of_tokens();
        median.is_none_or(|median| median <= usual.mul_f64(SLOWER))
    }

    fn new_reference(&mut self, now: Time, since: Duration) -> Option<Duration> {
        let before = self.estimates.reference;
        if self.tokens_seen < ENOUGH {
            return before;
        }
        let steady = self.steady.sum(now);
        if steady.tokens() < ENOUGH {
            return before;
        }
        // So many were cut that the quantile lies beyond what was seen: nothing new is known.
        let Some(seen) = steady.quantile(0.95) else { return before };
        let seen = seen.max(LEAST_REFERENCE);
        // If the attempts beyond the reference were mostly cut without a token, it does not rise:
        // otherwise a few late tokens among many hanging calls would make the incident the norm.
        if let Some(before) = before.filter(|before| seen > *before) {
            let (late, cut) = steady.beyond(before);
            if u64::from(cut) > CUT_TO_LATE * u64::from(late) {
                return Some(before);
            }
        }
        Some(match before {
            Some(before) => seen.min(before.mul_f64(RISE.powf(since.as_secs_f64() / 60.0))),
            None => seen,
        })
    }

    /// The slow mark, net of the prompt's size.
    pub(super) fn mark(&self) -> Option<Duration> {
        self.estimates.reference.map(|reference| reference.mul_f64(MARK))
    }

    /// From now on, calls are expected to take `ratio` times as long.
    pub(super) fn rebase(&mut self, ratio: f64) {
        let Estimates { reference, usual, .. } = &mut self.estimates;
        *reference = reference.map(|reference| reference.mul_f64(ratio));
        *usual = usual.map(|usual| usual.mul_f64(ratio));
        // The times from before would pull the new reference down again at once.
        self.steady.clear();
    }

    /// Restores what was known before a restart.
    pub(super) fn restore(&mut self, reference: Duration, usual: Duration) {
        self.tokens_seen = ENOUGH;
        self.estimates.reference = Some(reference);
        self.estimates.usual = Some(usual);
    }
}
