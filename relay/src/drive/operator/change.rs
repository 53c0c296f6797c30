//! Changes of overrides and orders, and taking them back: the rules are the core's, this makes
//! them under the locks, and records and announces what was made.

use super::record::{new_action, record};
use crate::drive::announce::{Announced, announce};
use crate::drive::hub::Hub;
use crate::drive::operator_state::{Answer, State};
use crate::wall;
use policy::operator::{Applied, Moment, Refused, Stale, Steps, check_reason};
use policy::operator::{plan_change, plan_undo};
use shared::OverrideMode;
use shared::admin::actions::{Action, ActionKind};
use shared::admin::changes::{ActionBody, ChangeAnswer, ChangeRequest};
use std::sync::Arc;

/// Makes a change.
///
/// # Errors
/// Why it was not made; then nothing of it was.
pub fn change(hub: &Arc<Hub>, request: &ChangeRequest, by: &str) -> Result<Answer, Refused> {
    let at = wall::unix();
    let mut state = hub.operators.lock();
    let same = |action: &Action| is_same(action, request);
    if let Some(answer) = state.answered(&request.id, ActionKind::Change, same)? {
        return Ok(answer);
    }
    let steps = plan_change(&hub.in_force().named, request, by, at)?;
    let applied = make(hub, &mut state, &steps, Stale::Version)?;
    let action = Action {
        changes: request.changes.clone(),
        ..new_action(ActionKind::Change, &request.id, &request.reason, by)
    };
    Ok(made(hub, state, &steps, applied, action))
}

/// Takes `undone` back.
///
/// # Errors
/// Why it was not taken back; then nothing has changed.
pub fn undo(
    hub: &Arc<Hub>,
    undone: &Action,
    body: &ActionBody,
    by: &str,
) -> Result<Answer, Refused> {
    check_reason(&body.id, "reason", &body.reason)?;
    let mut state = hub.operators.lock();
    let same = |action: &Action| action.undoes.as_ref() == Some(&undone.id);
    if let Some(answer) = state.answered(&body.id, ActionKind::Undo, same)? {
        return Ok(answer);
    }
    let steps = plan_undo(&hub.in_force().named, undone, body, wall::unix())?;
    let applied = make(hub, &mut state, &steps, Stale::Superseded)?;
    let action = Action {
        undoes: Some(undone.id.clone()),
        ..new_action(ActionKind::Undo, &body.id, &body.reason, by)
    };
    Ok(made(hub, state, &steps, applied, action))
}

/// Makes `steps` under one hold of the board.
fn make(hub: &Hub, state: &mut State, steps: &Steps, stale: Stale) -> Result<Applied, Refused> {
    let (moment, in_force) = (Moment { now: wall::now(), today: wall::unix() }, hub.in_force());
    let applied = hub.with_board(moment.now, |board| {
        policy::operator::make(
            board,
            &mut state.attributions,
            &in_force.named,
            steps,
            moment,
            stale,
        )
    })?;
    if steps.forces.iter().any(|force| force.mode == OverrideMode::ForcedOpen) {
        hub.signals.notify_forced();
    }
    Ok(applied)
}

/// Records and announces what was made.
fn made(
    hub: &Arc<Hub>,
    mut state: parking_lot::MutexGuard<'_, State>,
    steps: &Steps,
    applied: Applied,
    action: Action,
) -> Answer {
    let action = Action {
        before: Some(applied.before),
        after: Some(applied.after),
        accepted: applied.accepted,
        until_at: steps.end(),
        in_force: true,
        ..action
    };
    let answer = ChangeAnswer {
        id: action.id.clone(),
        at: action.at,
        by: action.by.clone(),
        now: action.after.clone().unwrap_or_default(),
        journaled: false,
    };
    let answer = record(hub, &mut state, action.clone(), move |journaled| ChangeAnswer {
        journaled,
        ..answer.clone()
    });
    drop(state);
    tracing::warn!(by = action.by, id = action.id, reason = action.reason, kind = %action.kind, "an operator's change");
    announce(&hub.feed, &hub.in_force().named, &Announced::Action(Box::new(action)));
    for force in &steps.forces {
        announce(&hub.feed, &hub.in_force().named, &Announced::Rung(force.rung));
    }
    for order in &steps.orders {
        announce(&hub.feed, &hub.in_force().named, &Announced::Ladder(order.ladder));
    }
    answer
}

/// Whether `action` is what `request` asks for.
pub(in crate::drive) fn is_same(action: &Action, request: &ChangeRequest) -> bool {
    action.changes == request.changes && action.reason == request.reason
}
