//! What walks share: the health of every rung.
//!
//! A board of pure state. The shell keeps it behind a short lock and hands it
//! to a walk for the length of one input; a token after the first one never
//! needs it.
//!
//! Breakers will stand here beside the holds; a walk asks only
//! [`Board::usable`] and reports what happened, so it will not notice.

use crate::policy::hold::Hold;
use crate::policy::ladder::{RungIndex, RungSpec};
use crate::policy::time::Time;
use shared::{AttemptOutcome, PassedOver};
use std::time::Duration;

/// The health of every rung, by its index.
#[derive(Debug)]
pub struct Board {
    rungs: Vec<RungHealth>,
    rng: fastrand::Rng,
}

#[derive(Debug)]
struct RungHealth {
    spec: RungSpec,
    hold: Hold,
}

impl Board {
    /// A board of rungs that nothing is known of; `rng` gives its jitter.
    #[must_use]
    pub fn new(rungs: Vec<RungSpec>, rng: fastrand::Rng) -> Self {
        let rungs =
            rungs.into_iter().map(|spec| RungHealth { spec, hold: Hold::default() }).collect();
        Self { rungs, rng }
    }

    /// A rung's limits; `None` for an index that is not on the board.
    #[must_use]
    pub fn spec(&self, rung: RungIndex) -> Option<&RungSpec> {
        self.rungs.get(rung.0).map(|health| &health.spec)
    }

    /// Whether a new attempt may go to `rung` now.
    ///
    /// # Errors
    /// Why not.
    pub fn usable(&self, rung: RungIndex, now: Time) -> Result<(), PassedOver> {
        match self.rungs.get(rung.0) {
            Some(health) if health.hold.until(now).is_none() => Ok(()),
            Some(_) => Err(PassedOver::Hold),
            None => Err(PassedOver::Forced),
        }
    }

    /// Until when `rung` is held.
    #[must_use]
    pub fn held_until(&self, rung: RungIndex, now: Time) -> Option<Time> {
        self.rungs.get(rung.0).and_then(|health| health.hold.until(now))
    }

    /// An attempt on `rung` brought its first token.
    pub fn token(&mut self, rung: RungIndex, dialled: Time) {
        if let Some(health) = self.rungs.get_mut(rung.0) {
            health.hold.token(dialled);
        }
    }

    /// An attempt on `rung` ended.
    pub fn ended(
        &mut self,
        rung: RungIndex,
        now: Time,
        dialled: Time,
        outcome: AttemptOutcome,
        retry_after: Option<Duration>,
    ) {
        let asks_for_a_pause = match outcome {
            AttemptOutcome::RateLimited => true,
            AttemptOutcome::Overloaded => retry_after.is_some(),
            _ => false,
        };
        if let Some(health) = self.rungs.get_mut(rung.0).filter(|_| asks_for_a_pause) {
            health.hold.ask(now, dialled, retry_after, &health.spec, &mut self.rng);
        }
    }
}
