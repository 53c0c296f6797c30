//! Holds: a rung is not to be called before a given time.
//!
//! A provider's Retry-After is believed within bounds; where it gives none, a
//! base time doubles. The later of overlapping holds always wins, so that a
//! small, late answer never shortens what an earlier one asked for.

use crate::ladder::RungSpec;
use crate::remembered::RememberedHold;
use crate::time::Time;
use std::time::Duration;

/// A Retry-After below this counts as none.
const SHORTEST: Duration = Duration::from_secs(1);

/// The doubling of holds without a Retry-After ends here.
const LONGEST_GUESS: Duration = Duration::from_secs(30);

/// A guess is shortened by up to this share, so that waiting requests do not all come back at
/// once. It is never lengthened: whether a walk waits for a hold must not depend on chance.
const JITTER: f64 = 0.3;

/// A hold that moves by less is not reported: a burst of 429s brings many such moves.
const NEWS: Duration = Duration::from_secs(1);

/// One rung's hold.
#[derive(Debug, Clone, Default)]
pub struct Hold {
    until: Option<Time>,
    /// How often the base time has been doubled.
    doublings: u32,
    /// Whether a guess has been made since the last token: the first one is not doubled.
    guessed: bool,
    /// The end that [`Hold::is_news`] reported last.
    last_reported: Option<Time>,
}

impl Hold {
    /// Until when the rung is held, if it is at `now`.
    #[must_use]
    pub fn until(&self, now: Time) -> Option<Time> {
        self.until.filter(|&until| until > now)
    }

    /// A provider asked for a pause in answer to an attempt dialled at `dialled`.
    pub fn begin(
        &mut self,
        now: Time,
        dialled: Time,
        retry_after: Option<Duration>,
        rung: &RungSpec,
        rng: &mut fastrand::Rng,
    ) {
        let span = match retry_after {
            Some(asked) if asked >= SHORTEST => asked.min(rung.max_hold),
            _ => self.guess(dialled, rung, rng),
        };
        let until = now.plus(span);
        self.until = Some(self.until.map_or(until, |earlier| earlier.max(until)));
    }

    /// An attempt dialled at `dialled` brought a token. The doubling is forgotten, unless the
    /// attempt was dialled before the hold ended and so is no evidence about it.
    pub fn token(&mut self, dialled: Time) {
        if self.until.is_none_or(|until| dialled >= until) {
            self.doublings = 0;
            self.guessed = false;
        }
    }

    fn guess(&mut self, dialled: Time, rung: &RungSpec, rng: &mut fastrand::Rng) -> Duration {
        // Answers to calls from before the hold's end are the same refusal again and not a new one:
        // they must not double the hold.
        let is_news = self.until.is_none_or(|until| dialled >= until);
        if self.guessed && is_news {
            self.doublings = self.doublings.saturating_add(1);
        }
        self.guessed = true;
        let doubled =
            rung.hold_base.saturating_mul(1_u32.checked_shl(self.doublings).unwrap_or(u32::MAX));
        let jitter = 1.0 - JITTER * rng.f64();
        doubled.min(LONGEST_GUESS).mul_f64(jitter).min(rung.max_hold)
    }

    /// Whether its end has moved by enough since it was last reported.
    pub(crate) fn is_news(&mut self) -> bool {
        let moved = self.until.map_or(Duration::ZERO, |until| match self.last_reported {
            Some(reported) => until.since(reported),
            None => Duration::MAX,
        });
        let is_news = moved >= NEWS;
        if is_news {
            self.last_reported = self.until;
        }
        is_news
    }

    /// What is worth keeping of it over a restart.
    pub(crate) fn remember(&self) -> Option<RememberedHold> {
        let (doublings, guessed) = (self.doublings, self.guessed);
        self.until.map(|until| RememberedHold { until, doublings, guessed })
    }

    /// Restores it as it was before the restart.
    pub(crate) fn restore(kept: RememberedHold) -> Self {
        let RememberedHold { until, doublings, guessed } = kept;
        Self { until: Some(until), doublings, guessed, last_reported: Some(until) }
    }
}
