//! Undoing an action: what was in force before it is set again.

use super::attribution::Attribution;
use super::names::Names;
use super::refused::Refused;
use super::steps::{Force, Reorder, Steps, Thing};
use crate::index::{LadderIndex, RungIndex};
use crate::order::adapt;
use shared::RefusedReason;
use shared::admin::actions::{Action, ActionKind};
use shared::admin::changes::{ActionBody, OrderNow, OverrideNow};
use shared::{OrderSource, OverrideMode, UnixMillis};

/// The steps that undo `undone` at `at`.
///
/// # Errors
/// It changed nothing that can be undone, or it names something that no longer exists.
pub fn plan_undo(
    names: &Names,
    undone: &Action,
    body: &ActionBody,
    at: UnixMillis,
) -> Result<Steps, Refused> {
    let (Some(before), Some(after)) = (&undone.before, &undone.after) else {
        let more = match undone.kind {
            ActionKind::Note => " End it instead.",
            _ => " It changed nothing that stays.",
        };
        let message = format!("'{}' was a {}: it is not taken back.{more}", undone.id, undone.kind);
        return Err(Refused::new(RefusedReason::NoUndo, message));
    };
    // The action did not change what it only expected, or what was in force already.
    let mut steps = Steps::default();
    for now in &after.rungs {
        let then = before.rungs.iter().find(|then| then.rung == now.rung);
        let Some(then) = then.filter(|then| then.version != now.version) else { continue };
        steps.expected.push((Thing::Rung(names.find_rung(&now.rung)?), now.version));
        steps.forces.push(force_back(names, then, body, at)?);
    }
    for now in &after.ladders {
        let then = before.ladders.iter().find(|then| then.ladder == now.ladder);
        let Some(then) = then.filter(|then| then.version != now.version) else { continue };
        steps.expected.push((Thing::Ladder(names.find_ladder(&now.ladder)?), now.version));
        steps.orders.push(order_back(names, then, body, at)?);
    }
    steps.accept =
        body.accept.iter().map(|name| names.find_ladder(name)).collect::<Result<_, _>>()?;
    Ok(steps)
}

fn force_back(
    names: &Names,
    then: &OverrideNow,
    body: &ActionBody,
    at: UnixMillis,
) -> Result<Force, Refused> {
    // An override that would have ended meanwhile is not set again.
    let is_over = then.until_at.is_some_and(|until| until <= at);
    Ok(Force {
        rung: names.find_rung(&then.rung)?,
        mode: if is_over { OverrideMode::Auto } else { then.mode },
        cut: then.cut_streams && !is_over,
        attribution: Attribution {
            version: 0,
            by: then.by.clone(),
            reason: then.reason.clone(),
            at: then.at.unwrap_or(at),
            until: then.until_at,
            action: Some(body.id.clone()),
        },
    })
}

fn order_back(
    names: &Names,
    then: &OrderNow,
    body: &ActionBody,
    at: UnixMillis,
) -> Result<Reorder, Refused> {
    let ladder = names.find_ladder(&then.ladder)?;
    let is_over = then.until_at.is_some_and(|until| until <= at);
    let is_configs = is_over || then.source == OrderSource::Config;
    let (rungs, adapted) = fit_order(names, ladder, &then.order);
    Ok(Reorder {
        ladder,
        rungs: (!is_configs).then_some(rungs),
        adapted: adapted || then.source == OrderSource::Adapted,
        attribution: Attribution {
            version: 0,
            by: then.by.clone(),
            reason: then.reason.clone(),
            at: then.at.unwrap_or(at),
            until: then.until_at,
            action: Some(body.id.clone()),
        },
    })
}

/// An order by names, fitted to the rungs that the ladder has now, and whether fitting changed it.
#[must_use]
pub fn fit_order(names: &Names, ladder: LadderIndex, order: &[String]) -> (Vec<RungIndex>, bool) {
    let config = names.ladder(ladder).map(|ladder| ladder.rungs.clone()).unwrap_or_default();
    let places: Vec<_> = order.iter().filter_map(|name| names.find_rung(name).ok()).collect();
    let fitted = adapt(&places, &config);
    let adapted = fitted != places || places.len() != order.len();
    (fitted, adapted)
}
