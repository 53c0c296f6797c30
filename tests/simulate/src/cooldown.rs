//! What gateways do today: a rung that failed more than half of at least five calls in the running
//! minute is left out for 5 s. There are no probes, and slowness does not count.
//!
//! The core has no setting for this, so it is done outside the core: by the order of the one-rung
//! ladders that a request walks.

use crate::world::RUNGS;
use policy::LadderSpec;
use std::sync::Arc;

const MINUTE: f64 = 60.0;
const LEAST_CALLS: u32 = 5;
const SHARE: f64 = 0.5;
const SPAN: f64 = 5.0;

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    minute: f64,
    calls: u32,
    failed: u32,
    until: f64,
}

/// A ladder per rung, and the counts of the rungs.
#[derive(Debug)]
pub(crate) struct CoolDown {
    ladders: Vec<Arc<LadderSpec>>,
    rungs: [Count; RUNGS],
}

impl CoolDown {
    pub(crate) fn new(ladders: Vec<Arc<LadderSpec>>) -> Self {
        Self { ladders, rungs: [Count::default(); RUNGS] }
    }

    /// The `nth` rung to call: those that are left out come last.
    pub(crate) fn rung(&self, at: f64, nth: usize) -> Option<Arc<LadderSpec>> {
        let all = || self.ladders.iter().zip(&self.rungs);
        let usable = all().filter(|(_, count)| count.until <= at);
        let out = all().filter(|(_, count)| count.until > at);
        usable.chain(out).nth(nth).map(|(ladder, _)| Arc::clone(ladder))
    }

    pub(crate) fn ended(&mut self, rung: usize, at: f64, fault: bool) {
        let Some(count) = self.rungs.get_mut(rung) else { return };
        let minute = (at / MINUTE).floor();
        if minute > count.minute {
            *count = Count { minute, until: count.until, ..Count::default() };
        }
        count.calls += 1;
        count.failed += u32::from(fault);
        let share = f64::from(count.failed) / f64::from(count.calls);
        // A rung that is left out already is not left out for longer.
        if fault && count.calls >= LEAST_CALLS && share > SHARE && count.until <= at {
            count.until = at + SPAN;
        }
    }
}
