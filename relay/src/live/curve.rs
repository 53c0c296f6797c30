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
