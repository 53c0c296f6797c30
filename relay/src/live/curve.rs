//! The last 15 minutes in steps of 15 seconds.
//!
//! Only the step that runs keeps its buckets; of those before it the percentile is
//! kept, which is all that is drawn.

use super::At;
use super::counts::{Counts, quantile_ms};
use super::ring::{Ring, Slot};

/// The length of a step in milliseconds.
pub(super) const STEP: u64 = 15_000;
/// How many there are, the one that runs included.
const STEPS: usize = 60;

/// One step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Step {
    pub(super) calls: u32,
    pub(super) slow: u32,
    pub(super) bad: u32,
    /// In nano-dollars.
    pub(super) cost: u64,
    p95_ms: Option<u64>,
}

impl Slot for Step {
    fn clear(&mut self) {
        *self = Self::default();
    }
}

/// A minute of a curve from before a restart.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PastMinute {
    /// How long ago it began, in milliseconds.
    pub ago: u64,
    /// Attempts of a rung, requests of a ladder.
    pub calls: u64,
    /// Slow ones.
    pub slow: u64,
    /// Failed ones.
    pub bad: u64,
    /// In nano-dollars.
    pub cost: u64,
    /// The slowest twentieth.
    pub p95_ms: Option<u64>,
}

/// Steps of a minute.
const QUARTERS: u64 = 4;

/// The curve of a rung or a ladder.
#[derive(Debug)]
pub(super) struct Curve {
    steps: Ring<Step>,
    counts: Counts,
}

impl Default for Curve {
    fn default() -> Self {
        Self { steps: Ring::new(STEPS, STEP), counts: Counts::default() }
    }
}

impl Curve {
    /// The step that runs, and its buckets.
    pub(super) fn at(&mut self, now: At) -> Option<(&mut Step, &mut Counts)> {
        self.turn(now);
        Some((self.steps.at(now)?, &mut self.counts))
    }

    /// The steps, oldest first, each with its p95.
    pub(super) fn steps(&mut self, now: At) -> Vec<(Step, Option<u64>)> {
        self.turn(now);
        let running = quantile_ms(&self.counts.hist(), 0.95);
        let mut steps: Vec<_> = self.steps.slots(now).map(|step| (*step, step.p95_ms)).collect();
        if let Some((_, p95)) = steps.last_mut() {
            *p95 = running;
        }
        steps
    }

    /// Fills the steps with minutes from before a restart, a quarter each. A minute that is not over
    /// is shared by the quarters that have begun.
    pub(super) fn recall(&mut self, now: At, minutes: &[PastMinute]) {
        for minute in minutes {
            let begun = minute.ago.div_ceil(STEP).clamp(1, QUARTERS);
            for quarter in 0..begun {
                let ago = minute.ago.saturating_sub(quarter * STEP);
                let steps = ago.saturating_sub(now % STEP).div_ceil(STEP);
                let Some(step) = self.steps.before(now, steps) else { continue };
                let part = |sum: u64| sum * (quarter + 1) / begun - sum * quarter / begun;
                let count = |sum| u32::try_from(part(sum)).unwrap_or(u32::MAX);
                step.calls += count(minute.calls);
                step.slow += count(minute.slow);
                step.bad += count(minute.bad);
                step.cost = step.cost.saturating_add(part(minute.cost));
                step.p95_ms = step.p95_ms.max(minute.p95_ms);
            }
        }
    }

    /// Which step runs: another one means that the curve has moved.
    pub(super) fn number(&mut self, now: At) -> u64 {
        self.turn(now);
        self.steps.newest()
    }

    fn turn(&mut self, now: At) {
        let before = self.steps.newest();
        if now / STEP > before {
            let p95 = quantile_ms(&self.counts.hist(), 0.95);
            // In the step that has ended, before the ring turns past it.
            if let Some(step) = self.steps.at(before.saturating_mul(STEP)) {
                step.p95_ms = p95;
            }
            self.counts.clear();
            let _turned = self.steps.at(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minutes_from_before_a_restart_are_four_steps_each_and_the_running_step_stays() {
        let mut curve = Curve::default();
        let now = 7_000;
        if let Some((step, counts)) = curve.at(now) {
            step.calls = 3;
            counts.token(120);
        }
        let minute = |ago, calls, p95| PastMinute {
            ago,
            calls,
            slow: calls / 2,
            bad: 1,
            cost: 400,
            p95_ms: Some(p95),
        };
        // The last minute began 67 s ago, another one is too old to be shown.
        curve.recall(
            now,
            &[minute(3_600_000, 99, 9), minute(127_000, 8, 800), minute(67_000, 10, 900)],
        );
        let steps = curve.steps(now);
        let calls: Vec<u32> = steps.iter().rev().take(10).map(|(step, _)| step.calls).collect();
        assert_eq!(calls, [3, 3, 2, 3, 2, 2, 2, 2, 2, 0]);
        let p95: Vec<_> = steps.iter().rev().take(10).map(|(_, p95)| p95.unwrap_or(0)).collect();
        assert_eq!(p95[1..], [900, 900, 900, 900, 800, 800, 800, 800, 0]);
        let sum = |of: fn(&Step) -> u64| steps.iter().map(|(step, _)| of(step)).sum::<u64>();
        assert_eq!((sum(|s| s.slow.into()), sum(|s| s.bad.into()), sum(|s| s.cost)), (9, 2, 800));
        // Of a minute that began 20 s ago two quarters have begun.
        let mut curve = Curve::default();
        curve.recall(now, &[minute(20_000, 9, 900)]);
        let steps = curve.steps(now);
        let calls: Vec<u32> = steps.iter().rev().take(3).map(|(step, _)| step.calls).collect();
        assert_eq!(calls, [5, 4, 0]);
    }
}
