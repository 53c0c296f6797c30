//! What is worth keeping of a rung over a restart, and what becomes of it.
//!
//! A relay that forgot all of it would call a dead provider again, break a Retry-After, and not
//! notice slowness until it had seen 30 tokens. Windows, runs and histograms are not kept: they
//! describe the last moments before the restart, which are over.
//!
//! | before | the relay is down | after |
//! | --- | --- | --- |
//! | closed, at full weight or in slow start | however long | closed, at that weight |
//! | open | not until its time | open until then |
//! | open | beyond its time | half-open |
//! | half-open, its probe out or not | however long | half-open, the slot free |
//! | held | not until its end | held until then |
//! | held | beyond its end | free; the doubling is forgotten a while later |
//!
//! Times are the core's own. A caller that keeps them over a restart must convert them to the next
//! process's time.

use crate::breaker::{Breaker, BreakerSpec, State};
use crate::time::Time;
use shared::TransitionRule;
use std::time::Duration;

/// A hold that ended longer ago is forgotten with its doubling: it is no evidence about now.
const DOUBLING_FORGOTTEN: Duration = Duration::from_secs(15 * 60);

/// What is worth keeping of one rung.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// How long its first tokens usually take; `None` until it has a reference.
    pub reference: Option<Reference>,
    /// Its last hold, ended or not.
    pub hold: Option<RememberedHold>,
    /// Its breaker.
    pub breaker: RememberedBreaker,
    /// It has once sent a finish reason.
    pub finishes: bool,
}

/// How long a rung's first tokens usually take when it is well, net of the prompt's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The reference p95.
    pub p95: Duration,
    /// The median at full weight.
    pub usual: Duration,
}

/// A hold, with what the next one without a Retry-After is doubled by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RememberedHold {
    /// Its end.
    pub until: Time,
    /// How often the base time has been doubled.
    pub doublings: u32,
    /// Whether a time was guessed since the last token: the first guess is not doubled.
    pub guessed: bool,
}

/// A breaker.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RememberedBreaker {
    /// Its state; whether a probe was out does not matter, since no probe outlives its relay.
    pub state: RememberedState,
    /// The weight, 0..1.
    pub weight: f64,
    /// The last cool-down, before its jitter.
    pub cooldown: Duration,
    /// Opened by broken streams: then a probe counts at its proper end.
    pub by_streams: bool,
    /// When it left full weight, if it has.
    pub away_since: Option<Time>,
    /// When its present trouble began: the first opening by this cause since then.
    pub trouble_since: Option<Time>,
    /// What opened it last, if it is not closed.
    pub opened_by: Option<TransitionRule>,
}

/// A breaker's state, as far as it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RememberedState {
    /// Traffic flows.
    Closed,
    /// No traffic.
    Open {
        /// Until then.
        until: Time,
    },
    /// One probe at a time.
    HalfOpen,
}

impl Default for RememberedBreaker {
    /// Closed at full weight.
    fn default() -> Self {
        Breaker::new(BreakerSpec::default()).remember()
    }
}

impl Remembered {
    /// The same rung under another key: the refusal of the old account says nothing about the new
    /// one. So a hard-down is over and the next request is the probe.
    #[must_use]
    pub fn under_another_key(mut self) -> Self {
        let hard_down = self.breaker.opened_by == Some(TransitionRule::Auth);
        if hard_down && matches!(self.breaker.state, RememberedState::Open { .. }) {
            self.breaker.state = RememberedState::HalfOpen;
        }
        self
    }
}

impl RememberedHold {
    /// What is left of it at `now`.
    pub(crate) fn at(self, now: Time) -> Option<Self> {
        (now.since(self.until) < DOUBLING_FORGOTTEN).then_some(self)
    }
}

impl RememberedBreaker {
    /// The state in which it comes back at `now`.
    pub(crate) fn at(&self, now: Time) -> State {
        match self.state {
            RememberedState::Closed => State::Closed,
            RememberedState::Open { until } if until > now => State::Open { until },
            RememberedState::Open { .. } | RememberedState::HalfOpen => {
                State::HalfOpen { taken: false, good: 0 }
            }
        }
    }
}
