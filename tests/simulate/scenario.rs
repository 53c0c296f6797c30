//! The scenarios: providers, load and incidents that belong together.

use crate::incident::Plan;
use crate::world::{FIRST, Family, MEASURED, RUNGS, SECOND, World};

/// Requests of a whole run: 2.9 h at 5.5 requests a second.
const COUNT: u64 = 58_000;
const RATE: f64 = 5.5;
/// A ladder that few use.
const LOW_RATE: f64 = 0.27;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scenario {
    Incidents,
    Calm,
    Measured,
    MeasuredCalm,
    Second,
    SecondCalm,
    Slow,
    Overload,
    DeadStreams,
    Slower,
    BlackHole,
}

impl Scenario {
    pub(crate) const ALL: [Self; 11] = [
        Self::Incidents,
        Self::Calm,
        Self::Measured,
        Self::MeasuredCalm,
        Self::Second,
        Self::SecondCalm,
        Self::Slow,
        Self::Overload,
        Self::DeadStreams,
        Self::Slower,
        Self::BlackHole,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Incidents => "incidents",
            Self::Calm => "calm",
            Self::Measured => "measured",
            Self::MeasuredCalm => "measured-calm",
            Self::Second => "second",
            Self::SecondCalm => "second-calm",
            Self::Slow => "slow",
            Self::Overload => "overload",
            Self::DeadStreams => "dead-streams",
            Self::Slower => "slower",
            Self::BlackHole => "black-hole",
        }
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Incidents => "nine incidents, 29 % of the time, at 5.5 requests a second",
            Self::Calm => "no incident",
            Self::Measured => "the nine incidents over the measured times themselves",
            Self::MeasuredCalm => "the measured times, no incident",
            Self::Second => "other providers (1.2 s, 3 % stragglers) and nine other incidents",
            Self::SecondCalm => "the other providers, no incident",
            Self::Slow => "the nine incidents at 0.27 requests a second, nine times over",
            Self::Overload => {
                "rung A at half its capacity for a third of the time (the oracles feel no load)"
            }
            Self::DeadStreams => "rung A brings one token and hangs, for 5 minutes",
            Self::Slower => "rung A takes twice as long from minute 10 on, for good",
            Self::BlackHole => "rung A in a black hole for 5 minutes, at many phases",
        }
    }

    pub(crate) fn world(self, seed: u64, quick: bool) -> World {
        let part = if quick { 5 } else { 1 };
        let world = |family: Family, plan, rate, count| World::new(seed, family, plan, rate, count);
        match self {
            // A whole period even when quick: an incident left out changes every figure.
            Self::Incidents => world(FIRST, Plan::First, RATE, COUNT),
            Self::Measured => world(MEASURED, Plan::First, RATE, COUNT),
            Self::MeasuredCalm => world(MEASURED, Plan::Calm, RATE, COUNT / part),
            Self::Second => world(SECOND, Plan::Second, RATE, COUNT),
            Self::Calm => world(FIRST, Plan::Calm, RATE, COUNT / part),
            Self::SecondCalm => world(SECOND, Plan::Calm, RATE, COUNT / part),
            Self::Slow => world(FIRST, Plan::First, LOW_RATE, 25_600 / part),
            Self::DeadStreams => world(FIRST, Plan::DeadStreams, RATE, 6_000),
            Self::Slower => world(FIRST, Plan::Slower, RATE, 10_000),
            Self::BlackHole => self.phase(seed, 0),
            Self::Overload => {
                let capacity: Option<[f64; RUNGS]> = Some([9.0, 2.5, 2.5]);
                World { capacity, ..world(FIRST, Plan::Calm, RATE, COUNT / part) }
            }
        }
    }

    /// A short world with one black hole that starts at another moment each time.
    pub(crate) fn phase(self, seed: u64, phase: u32) -> World {
        let from = 400.0 + 1.37 * f64::from(phase);
        World::new(seed + u64::from(phase), FIRST, Plan::BlackHole(from), RATE, 5_000)
    }
}
