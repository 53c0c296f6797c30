//! Some calls hang while the others are as quick as ever.
//!
//! A running sum in the manner of Page's CUSUM: each silent call adds one, each good one takes a
//! little, and it is never below zero. A window of time is late there, since the good calls from
//! before must grow old first, and where one in ten hangs it never fills. Explicit failures do
//! not count: they cost their users no wait.

/// So many good calls make up for one that hangs: fewer than so are silent at their mark while
/// all is well, and one in ten is more.
const GOOD_FOR_ONE: f64 = 14.0;
/// So many more are too many. With ten, load passes for hanging more often.
const TOO_MANY: u32 = 12;
/// From so many on some calls may well hang. Stragglers alone hardly ever add up to it.
const SUSPECT: f64 = 4.0;
/// What is left of it, as a share of that, when the breaker changes: a rung on its way back is
/// not trusted as one that was always well.
const KEPT: f64 = 0.8;

/// The sum.
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

    /// Whether the rung should open; never by fewer than `min_samples`.
    pub(super) fn are_too_many(self, min_samples: u32) -> bool {
        self.0 + 1e-9 >= f64::from(TOO_MANY.max(min_samples))
    }

    /// How far it is between suspicion and too many: 0 to 1.
    pub(super) fn suspicion(self) -> f64 {
        ((self.0 - SUSPECT) / (f64::from(TOO_MANY) - SUSPECT)).clamp(0.0, 1.0)
    }

    /// What is left when the breaker changes.
    pub(super) fn kept(self) -> Self {
        Self(self.0.min(f64::from(TOO_MANY) * KEPT))
    }
}
