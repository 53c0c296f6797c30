//! What is in force now, and who set it.

use super::attribution::Attributions;
use super::names::Names;
use super::steps::{Steps, Thing};
use crate::board::Board;
use crate::index::{LadderIndex, RungIndex};
use crate::time::Time;
use shared::admin::changes::{OrderNow, OverrideNow, Present};
use shared::{OrderSource, OverrideMode};

/// What is in force of everything that `steps` changes or expects a version of, each once.
#[must_use]
pub fn present(
    board: &Board,
    attributions: &Attributions,
    names: &Names,
    steps: &Steps,
    now: Time,
) -> Present {
    let (mut rungs, mut ladders) = (Vec::new(), Vec::new());
    let touched = steps.forces.iter().map(|force| Thing::Rung(force.rung));
    let ordered = steps.orders.iter().map(|order| Thing::Ladder(order.ladder));
    for thing in touched.chain(ordered).chain(steps.expected.iter().map(|(thing, _)| *thing)) {
        match thing {
            Thing::Rung(rung) if !rungs.contains(&rung) => rungs.push(rung),
            Thing::Ladder(ladder) if !ladders.contains(&ladder) => ladders.push(ladder),
            Thing::Rung(_) | Thing::Ladder(_) => {}
        }
    }
    let rungs = rungs.into_iter().map(|at| override_now(board, attributions, names, at, now));
    let ladders = ladders.into_iter().map(|at| order_now(board, attributions, names, at, now));
    Present { rungs: rungs.collect(), ladders: ladders.collect() }
}

/// The override of a rung.
#[must_use]
pub fn override_now(
    board: &Board,
    attributions: &Attributions,
    names: &Names,
    rung: RungIndex,
    now: Time,
) -> OverrideNow {
    let mode = board.forced(rung, now).map(|(mode, _)| mode).unwrap_or_default();
    let version = board.override_version(rung);
    let made = attributions.rung(rung);
    let made = made.filter(|it| it.version == version && mode != OverrideMode::Auto);
    OverrideNow {
        rung: names.rung(rung),
        mode,
        version,
        cut_streams: board.cuts_streams(rung, now),
        at: made.map(|it| it.at),
        until_at: made.and_then(|it| it.until),
        by: made.and_then(|it| it.by.clone()),
        reason: made.and_then(|it| it.reason.clone()),
        action: made.and_then(|it| it.action.clone()),
    }
}

/// The order of a ladder.
#[must_use]
pub fn order_now(
    board: &Board,
    attributions: &Attributions,
    names: &Names,
    ladder: LadderIndex,
    now: Time,
) -> OrderNow {
    let named = |rungs: &[RungIndex]| rungs.iter().map(|&rung| names.rung(rung)).collect();
    let version = board.order_version(ladder);
    let (order, source) = board.order_of(ladder, now).unwrap_or((&[], OrderSource::Config));
    let made = attributions.ladder(ladder);
    let made = made.filter(|it| it.version == version && source != OrderSource::Config);
    let config = names.ladder(ladder).map(|ladder| named(&ladder.rungs));
    OrderNow {
        ladder: names.ladder_name(ladder),
        order: named(order),
        config_order: config.unwrap_or_default(),
        source,
        version,
        at: made.map(|it| it.at),
        until_at: made.and_then(|it| it.until),
        by: made.and_then(|it| it.by.clone()),
        reason: made.and_then(|it| it.reason.clone()),
        action: made.and_then(|it| it.action.clone()),
    }
}

/// Whether anything that the action `id` made is still in force.
#[must_use]
pub fn is_in_force(board: &Board, attributions: &Attributions, id: &str, now: Time) -> bool {
    let (rungs, ladders) = attributions.of_action(id);
    rungs.into_iter().any(|rung| {
        let is_forced = board.forced(rung, now).is_some_and(|(mode, _)| mode != OverrideMode::Auto);
        let version = attributions.rung(rung).map(|it| it.version);
        is_forced && version == Some(board.override_version(rung))
    }) || ladders.into_iter().any(|ladder| {
        let order = board.order_of(ladder, now);
        let version = attributions.ladder(ladder).map(|it| it.version);
        order.is_some_and(|(_, source)| source != OrderSource::Config)
            && version == Some(board.order_version(ladder))
    })
}
