//! Slower is not sick: what the attempts since a rung left full weight say of it.
//!
//! A model that has become half as fast for good answers every call, only later than its
//! reference; without this it would be locked out for ever. So the last probes and
//! slow-start attempts are looked at together, and if they are steadily later the rung's
//! reference follows them. An incident must not pass for that: whatever hangs or fails
//! empties the list, and too many that are far too late are no new normal either.

use std::collections::VecDeque;
use std::time::Duration;

/// So many attempts are judged together.
const TOGETHER: usize = 10;
/// Of which so many must have come after the mark before "slower" is said.
const AFTER_MARK: usize = 3;
/// And the median must be so many times the usual one.
const SLOWER: f64 = 1.25;
/// A rung that became this much slower is sick unless it has been so for an hour.
const MUCH_SLOWER: f64 = 2.4;
/// So many of them may be much slower, or have been cut before their token.
const STRAGGLERS: usize = 3;
const LONG_AWAY: Duration = Duration::from_secs(3600);

/// The last attempts of a rung on its way back.
#[derive(Debug, Clone, Default)]
pub(crate) struct Returning {
    /// Times to first token; `None` of one that lost its race after the mark.
    seen: VecDeque<(Option<Duration>, bool)>,
    /// The usual median when it left full weight.
    anchor: Option<Duration>,
}

impl Returning {
    /// A token came after `net`, `after_mark` or not.
    pub(crate) fn token(&mut self, net: Duration, after_mark: bool) {
        self.push(Some(net), after_mark);
    }

    /// A race was lost after the mark: the token would have come later still, if at all.
    pub(crate) fn cut_after_mark(&mut self) {
        self.push(None, true);
    }

    /// A hang, an error or a clock: what came before says nothing of being merely slower.
    pub(crate) fn forget(&mut self) {
        self.seen.clear();
    }

    /// The rung is back at full weight.
    pub(crate) fn is_back(&mut self) {
        self.seen.clear();
        self.anchor = None;
    }

    /// By what the rung has become slower than `usual`, if that is what there is to see
    /// after it was `away` from full weight for so long. What was seen is used up then.
    pub(crate) fn slower_by(&mut self, usual: Duration, away: Duration) -> Option<f64> {
        let late = self.seen.iter().filter(|(_, after_mark)| *after_mark).count();
        if self.seen.len() < TOGETHER || late < AFTER_MARK {
            return None;
        }
        // Several small steps must not add up to what one may not be.
        let anchor = (*self.anchor.get_or_insert(usual)).min(usual);
        let much = anchor.mul_f64(MUCH_SLOWER);
        let mut times: Vec<Duration> =
            self.seen.iter().map(|(net, _)| net.unwrap_or(Duration::MAX)).collect();
        times.sort_unstable();
        let median = *times.get(times.len() / 2)?;
        let stragglers = times.iter().filter(|net| **net > much).count();
        let ratio = median.as_secs_f64() / usual.as_secs_f64().max(1e-6);
        let unknown = median == Duration::MAX;
        let too_much = (stragglers > STRAGGLERS || median > much) && away < LONG_AWAY;
        if unknown || too_much || ratio < SLOWER {
            return None;
        }
        self.seen.clear();
        Some(ratio)
    }

    fn push(&mut self, net: Option<Duration>, after_mark: bool) {
        if self.seen.len() == TOGETHER {
            self.seen.pop_front();
        }
        self.seen.push_back((net, after_mark));
    }
}
