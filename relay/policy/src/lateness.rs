//! Late or silent: whether a rung whose attempts pass the mark still answers.
//!
//! A provider with more load than it can carry answers late, but it answers. Opening its breaker
//! moves the whole load to the next rung, which then answers late too, and so on down the ladder.
//! A provider that hangs sends nothing. At the mark both look alike; late tokens tell them apart.

use crate::time::Time;

/// Counts fade with this time constant, in seconds.
const FADE: f64 = 30.0;
/// At least this many late tokens, faded, before a rung counts as late.
const LATE: f64 = 3.0;
/// The smallest share of late tokens among its bad attempts. Not all of them: losers of a race are
/// cut before their token can come.
const SHARE: f64 = 0.5;

/// Fading counts of bad attempts and of tokens that came after the mark.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lateness {
    bad: f64,
    late: f64,
    at: Time,
}

impl Lateness {
    /// An attempt was slow, or failed before its token.
    pub(crate) fn bad(&mut self, now: Time) {
        self.fade(now);
        self.bad += 1.0;
    }

    /// A token came after the mark.
    pub(crate) fn late(&mut self, now: Time) {
        self.fade(now);
        self.late += 1.0;
    }

    /// Whether the rung's bad attempts are mostly late tokens.
    pub(crate) fn is_mere(&self, now: Time) -> bool {
        let kept = self.kept(now);
        self.late * kept >= LATE && self.late >= SHARE * self.bad
    }

    fn fade(&mut self, now: Time) {
        let kept = self.kept(now);
        *self = Self { bad: self.bad * kept, late: self.late * kept, at: now };
    }

    fn kept(&self, now: Time) -> f64 {
        (-now.since(self.at).as_secs_f64() / FADE).exp()
    }
}
