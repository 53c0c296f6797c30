//! Whether a rung may be called, and when it may be again.

use super::Board;
use crate::breaker::State;
use crate::index::RungIndex;
use crate::time::Time;
use shared::{OverrideMode, PassedOver};
use std::time::Duration;

impl Board {
    /// Whether a new attempt of the client that the board serves may go to `rung` now.
    ///
    /// # Errors
    /// The reason why it may not.
    pub fn usable(&self, rung: RungIndex, now: Time) -> Result<(), PassedOver> {
        self.usable_by_all(rung, now)?;
        let Some(health) = self.rungs.get(rung.0) else { return Err(PassedOver::Forced) };
        match health.witnesses.admit(now, self.asking) {
            Err(PassedOver::Open) if health.rules(now).0 == OverrideMode::ForcedClosed => Ok(()),
            admitted => admitted,
        }
    }

    /// Whether a new attempt of any client may go to `rung` now. Closures and holds for one client
    /// alone are not considered.
    ///
    /// # Errors
    /// The reason why it may not.
    pub fn usable_by_all(&self, rung: RungIndex, now: Time) -> Result<(), PassedOver> {
        let Some(health) = self.rungs.get(rung.0) else { return Err(PassedOver::Forced) };
        let (forced, state) = health.rules(now);
        if forced == OverrideMode::ForcedOpen {
            return Err(PassedOver::Forced);
        }
        if health.hold.until(now).is_some() {
            return Err(PassedOver::Hold);
        }
        match state {
            _ if forced == OverrideMode::ForcedClosed => Ok(()),
            State::Open { until } if until > now => Err(PassedOver::Open),
            State::HalfOpen { taken: true, .. } => Err(PassedOver::NoSlot),
            State::Closed | State::Open { .. } | State::HalfOpen { .. } => Ok(()),
        }
    }

    /// Until when `rung` is held for the client that the board serves.
    #[must_use]
    pub fn held_until(&self, rung: RungIndex, now: Time) -> Option<Time> {
        let health = self.rungs.get(rung.0)?;
        health.hold.until(now).max(health.witnesses.held(now, self.asking))
    }

    /// For how long a half-open rung has had no probe; `None` if it is not half-open.
    #[must_use]
    pub fn starved(&self, rung: RungIndex, now: Time) -> Option<Duration> {
        let breaker = self.breaker(rung)?;
        match breaker.state() {
            State::HalfOpen { taken: false, .. } => Some(now.since(breaker.last_probe)),
            State::Open { until } if until <= now => Some(now.since(until)),
            _ => None,
        }
    }

    /// When an open breaker turns half-open; `None` if it is not open.
    #[must_use]
    pub fn reopens(&self, rung: RungIndex) -> Option<Time> {
        match self.breaker(rung)?.state() {
            State::Open { until } => Some(until),
            State::HalfOpen { .. } => Some(Time(0)),
            State::Closed => None,
        }
    }
}
