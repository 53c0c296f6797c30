//! What is in force now, and who set it.

use crate::drive::hub::Hub;
use crate::drive::in_force::InForce;
use crate::wall;
use policy::operator::{Refused, present};
use policy::{Board, Time};
use shared::admin::changes::{OrderNow, OverrideNow};

/// What is in force for every rung and every ladder of a config, in its order.
#[derive(Debug)]
pub(in crate::drive) struct Changed {
    pub(in crate::drive) overrides: Vec<OverrideNow>,
    pub(in crate::drive) orders: Vec<OrderNow>,
}

/// The override of a rung as it is now.
///
/// # Errors
/// There is no such rung.
pub fn override_now(hub: &Hub, rung: &str) -> Result<OverrideNow, Refused> {
    let in_force = hub.in_force();
    let rung = in_force.named.find_rung(rung)?;
    let (state, now) = (hub.operators.lock(), wall::now());
    Ok(hub.with_board(now, |board| {
        present::override_now(board, &state.attributions, &in_force.named, rung, now)
    }))
}

/// The order of a ladder as it is now.
///
/// # Errors
/// There is no such ladder.
pub fn order_now(hub: &Hub, ladder: &str) -> Result<OrderNow, Refused> {
    let in_force = hub.in_force();
    let ladder = in_force.named.find_ladder(ladder)?;
    let (state, now) = (hub.operators.lock(), wall::now());
    Ok(hub.with_board(now, |board| {
        present::order_now(board, &state.attributions, &in_force.named, ladder, now)
    }))
}

/// What `work` finds on the board and, at the same moment, what operators have changed.
pub(in crate::drive) fn with_changed<T>(
    hub: &Hub,
    now: Time,
    in_force: &InForce,
    work: impl FnOnce(&Board) -> T,
) -> (T, Changed) {
    let state = hub.operators.lock();
    let (made, names) = (&state.attributions, &in_force.named);
    hub.with_board(now, |board| {
        let found = work(board);
        let rungs = in_force.rungs.iter().map(|rung| rung.index);
        let ladders = in_force.ladders.iter().map(|ladder| ladder.index);
        let overrides = rungs.map(|at| present::override_now(board, made, names, at, now));
        let orders = ladders.map(|at| present::order_now(board, made, names, at, now));
        (found, Changed { overrides: overrides.collect(), orders: orders.collect() })
    })
}
