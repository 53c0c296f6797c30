//! Slow, or silent: whether a rung whose attempts come after the mark still answers.
//!
//! A provider under more load than it carries answers late, but it answers. Opening its
//! breaker throws the whole load at the next rung, which then answers late as well, and
//! so on down the ladder. One that hangs brings nothing at all. Both look alike at the
//! mark; what came afterwards tells them apart.

use crate::time::Time;

/// Counts fade with this time constant, in seconds.
const FADE: f64 = 30.0;
/// So many late tokens, at least, before a rung is believed to answer late.
const LATE: f64 = 3.0;
/// And so many of its bad attempts: losers of a race are cut before theirs can come.
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

    /// Whether what is bad about the rung is, for the most part, that it answers late.
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
