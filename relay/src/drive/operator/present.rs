//! What is so now, and who stands behind it.

use crate::drive::in_force::InForce;
use crate::drive::relay::Relay;
use crate::wall;
use policy::operator::{Refused, present};
use policy::{Board, Time};
use shared::admin::changes::{OrderNow, OverrideNow};

/// What is so for every rung and every ladder of a config, in its order.
#[derive(Debug)]
pub(in crate::drive) struct Changed {
    pub(in crate::drive) overrides: Vec<OverrideNow>,
    pub(in crate::drive) orders: Vec<OrderNow>,
}

impl Relay {
    /// The override of a rung as it is now.
    ///
    /// # Errors
    /// There is no such rung.
    pub fn override_now(&self, rung: &str) -> Result<OverrideNow, Refused> {
        let in_force = self.in_force();
        let rung = in_force.named.find_rung(rung)?;
        let (state, now) = (self.operators.lock(), wall::now());
        Ok(self.with_board(now, |board| {
            present::override_now(board, &state.attributions, &in_force.named, rung, now)
        }))
    }

    /// The order of a ladder as it is now.
    ///
    /// # Errors
    /// There is no such ladder.
    pub fn order_now(&self, ladder: &str) -> Result<OrderNow, Refused> {
        let in_force = self.in_force();
        let ladder = in_force.named.find_ladder(ladder)?;
        let (state, now) = (self.operators.lock(), wall::now());
        Ok(self.with_board(now, |board| {
            present::order_now(board, &state.attributions, &in_force.named, ladder, now)
        }))
    }

    /// What `work` finds on the board and, at the same moment, what operators have changed.
    pub(in crate::drive) fn with_changed<T>(
        &self,
        now: Time,
        in_force: &InForce,
        work: impl FnOnce(&Board) -> T,
    ) -> (T, Changed) {
        let state = self.operators.lock();
        let (made, names) = (&state.attributions, &in_force.named);
        self.with_board(now, |board| {
            let found = work(board);
            let rungs = in_force.rungs.iter().map(|rung| rung.index);
            let ladders = in_force.ladders.iter().map(|ladder| ladder.index);
            let overrides = rungs.map(|at| present::override_now(board, made, names, at, now));
            let orders = ladders.map(|at| present::order_now(board, made, names, at, now));
            (found, Changed { overrides: overrides.collect(), orders: orders.collect() })
        })
    }
}
