//! Some calls hang while the others are as quick as ever.
//!
//! This is a running sum like Page's CUSUM: each silent call adds 1, each good call takes 1/14
//! away, and the sum is never below 0. A window of time would react too late, because the good
//! calls from before must leave it first. If one call in ten hangs, it would never open the rung.
//! Explicit failures do not count: no client waits for them.

/// How many good calls make up for one that hangs. On a rung that is well, fewer than one call in
/// 14 is silent at its mark. If one in ten hangs, the sum rises.
const GOOD_FOR_ONE: f64 = 14.0;
/// The rung opens when the sum reaches this. With 10, load is taken for hanging more often.
const TOO_MANY: u32 = 12;
/// From this sum on, some calls probably hang: single late calls hardly ever add up to it.
const SUSPECT: f64 = 4.0;
/// When the breaker changes, this share of `TOO_MANY` is left of the sum at the most. It is not
/// zero: a rung that comes back is trusted less than one that was always well.
const KEPT: f64 = 0.8;

/// The running sum.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Hanging(f64);

impl Hanging {
    /// The mark passed without a token.
    pub(super) const fn silent(&mut self) {
        self.0 += 1.0;
    }

    /// A token came before the mark.
    pub(super) const fn good(&mut self) {
        self.0 = (self.0 - 1.0 / GOOD_FOR_ONE).max(0.0);
    }

    /// A call that was silent at its mark has brought its token: it did not hang.
    pub(super) const fn late(&mut self) {
        self.0 = (self.0 - 1.0).max(0.0);
    }

    /// Whether the rung should open; never with a sum below `min_samples`.
    pub(super) fn are_too_many(self, min_samples: u32) -> bool {
        self.0 + 1e-9 >= f64::from(TOO_MANY.max(min_samples))
    }

    /// How far the sum is from `SUSPECT` to `TOO_MANY`: 0 to 1.
    pub(super) fn suspicion(self) -> f64 {
        ((self.0 - SUSPECT) / (f64::from(TOO_MANY) - SUSPECT)).clamp(0.0, 1.0)
    }

    /// The sum that is left when the breaker changes.
    pub(super) fn kept(self) -> Self {
        Self(self.0.min(f64::from(TOO_MANY) * KEPT))
    }
}
