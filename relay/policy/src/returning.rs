//! A rung that is only slower is not sick: judges the attempts since it left full weight.
//!
//! A model may become half as fast for good: it answers every call, only later than its reference.
//! Without this rule it would stay out for ever. So the last probes and slow-start attempts are
//! judged together. If they are steadily later, the reference follows them. An incident must not
//! count as that: an attempt that hangs or fails empties the list, and too many that are far too
//! late are not a new norm either.
//!
//! Losers of a race are counted by the method of Kaplan and Meier. With the winners alone, a rung
//! whose hedges win looks faster than it is, and a stall that still grows looks like a rung that
//! is a little slower. For the same reason a rung that is away alone must have been so for a
//! minute. If another rung of its ladders is away too, the cause is load, and the sooner the
//! limits follow, the sooner the traffic settles.

use std::collections::VecDeque;
use std::time::Duration;

/// How many attempts are judged together.
const TOGETHER: usize = 10;
/// How many of them must have come after the mark for the rung to count as slower.
const AFTER_MARK: usize = 3;
/// How many times the usual median their median must be.
const SLOWER: f64 = 1.25;
/// A rung that became more than this many times slower is sick, unless it has been away for an
/// hour.
const MUCH_SLOWER: f64 = 2.4;
/// The largest share of the attempts that may be much slower or without a token.
const STRAGGLERS: f64 = 0.3;
/// How long a rung that is away alone must have been so: a stall may still grow.
const STEADY: Duration = Duration::from_secs(60);
const LONG_AWAY: Duration = Duration::from_secs(3600);

/// One attempt of a rung on its way back.
#[derive(Debug, Clone, Copy)]
struct Seen {
    /// The time to its first token, or to its cut.
    net: Duration,
    came: bool,
    after_mark: bool,
}

/// How a rung is away from full weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Away {
    /// For how long.
    pub(crate) span: Duration,
    /// Whether no other rung of its ladders is away.
    pub(crate) alone: bool,
}

/// The last attempts of a rung on its way back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Returning {
    seen: VecDeque<Seen>,
    /// The usual median when it left full weight.
    anchor: Option<Duration>,
}

impl Returning {
    /// A token came after `net`, `after_mark` or not.
    pub(crate) fn token(&mut self, net: Duration, after_mark: bool) {
        self.push(Seen { net, came: true, after_mark });
    }

    /// A race was lost after `net`: the token would have come even later, or never.
    pub(crate) fn cut(&mut self, net: Duration, after_mark: bool) {
        self.push(Seen { net, came: false, after_mark });
    }

    /// An error or an expired clock: earlier attempts no longer show a rung that is only slower.
    pub(crate) fn forget(&mut self) {
        self.seen.clear();
    }

    /// The rung is back at full weight.
    pub(crate) fn is_back(&mut self) {
        self.seen.clear();
        self.anchor = None;
    }

    /// By which factor the rung has become slower than `usual`; `None` if its attempts do not show
    /// that, given how it is `away`. A factor clears the list.
    pub(crate) fn slower_by(&mut self, usual: Duration, away: Away) -> Option<f64> {
        let late = self.seen.iter().filter(|seen| seen.after_mark).count();
        let too_soon = away.alone && away.span < STEADY;
        if self.seen.len() < TOGETHER || late < AFTER_MARK || too_soon {
            return None;
        }
        // Several small steps together must not exceed the limit for one step.
        let anchor = (*self.anchor.get_or_insert(usual)).min(usual);
        let much = anchor.mul_f64(MUCH_SLOWER);
        let (median, beyond) = self.median_and_share_beyond(much);
        let median = median?;
        let too_much = (beyond > STRAGGLERS || median > much) && away.span < LONG_AWAY;
        let ratio = median.as_secs_f64() / usual.as_secs_f64().max(1e-6);
        if too_much || ratio < SLOWER {
            return None;
        }
        self.seen.clear();
        Some(ratio)
    }

    /// By the method of Kaplan and Meier: the median, if enough attempts brought a token, and the
    /// share that is later than `much`.
    fn median_and_share_beyond(&self, much: Duration) -> (Option<Duration>, f64) {
        let mut seen: Vec<Seen> = self.seen.iter().copied().collect();
        seen.sort_unstable_by_key(|one| (one.net, !one.came));
        let (mut surviving, mut beyond, mut median) = (1.0, 1.0, None);
        for (before, one) in seen.iter().enumerate().filter(|(_, one)| one.came) {
            surviving *= 1.0 - 1.0 / (seen.len() - before) as f64;
            if surviving <= 0.5 + 1e-9 {
                median.get_or_insert(one.net);
            }
            if one.net <= much {
                beyond = surviving;
            }
        }
        (median, beyond - 1e-9)
    }

    fn push(&mut self, seen: Seen) {
        if self.seen.len() == TOGETHER {
            self.seen.pop_front();
        }
        self.seen.push_back(seen);
    }
}
