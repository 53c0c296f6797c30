//! The board for another config: rungs and ladders that stay keep their state.
//!
//! A place on the board is never given away. Running walks hold places of the config that they
//! began with, and their reports must reach the rung they dialled. So new rungs and ladders are
//! appended, and removed ones keep their places, which new plans do not use. One that comes back
//! unchanged gets its own place again. The cost is a few kilobytes for each rung that a reload
//! replaced.

use super::Board;
use crate::health::Health;
use crate::index::{LadderIndex, RungIndex};
use crate::ladder::{LadderSpec, RungSpec};
use crate::order::OrderInForce;
use crate::time::Time;
use shared::TransitionRule;
use std::sync::Arc;

/// The place of each of `wanted` on a board whose places were given to `known`: an item of `known`
/// keeps its place, any other gets the next free one.
pub fn places<I: PartialEq>(known: &[I], wanted: &[I]) -> Vec<usize> {
    let mut next = known.len();
    let mut place = |one: &I| {
        known.iter().position(|other| other == one).unwrap_or_else(|| {
            next += 1;
            next - 1
        })
    };
    wanted.iter().map(&mut place).collect()
}

/// A rung of the new config, at its place.
#[derive(Debug, Clone)]
pub struct Placed {
    /// Its place, as [`places`] gave it.
    pub at: RungIndex,
    /// Its limits from here on.
    pub spec: RungSpec,
    /// The place of another rung that had this name before: an operator's override belongs to the
    /// name, and is taken over.
    pub heir_of: Option<RungIndex>,
    /// Whether its provider's account has another key than before.
    pub another_key: bool,
}

impl Board {
    /// Takes over another config. Rungs that were there keep breaker, hold, override and
    /// reference, ladders their budgets; new ones start empty.
    pub fn reshape(
        &mut self,
        now: Time,
        rungs: Vec<Placed>,
        ladders: Vec<(LadderIndex, Arc<LadderSpec>)>,
    ) {
        self.settle(now);
        let heirs: Vec<_> =
            rungs.iter().filter_map(|placed| Some((placed.heir_of?, placed.at))).collect();
        for Placed { at, spec, heir_of, another_key } in rungs {
            match self.rungs.get_mut(at.0) {
                Some(health) => health.set_spec(spec),
                None => self.rungs.push(Health::new(spec)),
            }
            let inherited = heir_of.and_then(|before| self.forced(before, now));
            if let Some((mode, until)) = inherited.filter(|was| Some(*was) != self.forced(at, now))
            {
                self.force_until(at, now, mode, until);
            }
            if another_key {
                self.under_another_key(at, now);
            }
        }
        // A removed ladder must not keep a rung from opening.
        let no_rungs = Arc::new(LadderSpec::default());
        self.ladders.iter_mut().for_each(|ladder| ladder.spec = Arc::clone(&no_rungs));
        for (at, spec) in ladders {
            match self.ladders.get_mut(at.0) {
                Some(ladder) => {
                    ladder.budget.set_spec(&spec.hedge, &spec.retry);
                    ladder.spec = spec;
                }
                None => self.ladders.push(OrderInForce::new(spec)),
            }
        }
        self.ladders.iter_mut().for_each(|ladder| ladder.refit(&heirs));
    }

    /// The rung's account has another key: a hard-down ends.
    fn under_another_key(&mut self, rung: RungIndex, now: Time) {
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        health.suspect = None;
        health.account_since = now;
        let from = health.breaker.state();
        if health.breaker.under_another_key(now) {
            self.note(rung, now, from, TransitionRule::KeyChanged);
        }
    }
}
