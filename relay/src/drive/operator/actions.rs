//! Probes and notes: actions that change no override and no order.

use super::record::{new_action, record};
use crate::drive::announce::{Announced, announce};
use crate::drive::hub::Hub;
use crate::drive::operator_state::{Answer, State};
use crate::wall;
use policy::operator::probe::probe_now;
use policy::operator::{Refused, check_id, check_reason};
use shared::RefusedReason;
use shared::admin::actions::{About, Action, ActionKind, Done, NewNote};
use shared::admin::changes::ActionBody;
use std::sync::Arc;

/// Ends a rung's cool-down, hold or hard-down: the next request is the probe.
///
/// # Errors
/// There is no such rung, or nothing that could be ended.
pub fn probe(hub: &Arc<Hub>, rung: &str, body: &ActionBody, by: &str) -> Result<Answer, Refused> {
    check_reason(&body.id, "reason", &body.reason)?;
    let in_force = hub.in_force();
    let index = in_force.named.find_rung(rung)?;
    let mut state = hub.operators.lock();
    let about = About { rung: Some(rung.to_owned()), ladder: None };
    if let Some(answer) = state.answered(&body.id, ActionKind::Probe, |a| a.about == about)? {
        return Ok(answer);
    }
    let now = wall::now();
    hub.with_board(now, |board| probe_now(board, index, rung, now))?;
    let action = Action { about, ..new_action(ActionKind::Probe, &body.id, &body.reason, by) };
    let answer = record_done(hub, &mut state, action.clone());
    drop(state);
    announce(&hub.feed, &hub.in_force().named, &Announced::Action(Box::new(action)));
    announce(&hub.feed, &hub.in_force().named, &Announced::Rung(index));
    Ok(answer)
}

/// Pins a note.
///
/// # Errors
/// It is about what is not there.
pub fn note(hub: &Arc<Hub>, note: &NewNote, by: &str) -> Result<Answer, Refused> {
    check_reason(&note.id, "text", &note.text)?;
    let in_force = hub.in_force();
    note.about.rung.as_ref().map(|rung| in_force.named.find_rung(rung)).transpose()?;
    note.about.ladder.as_ref().map(|ladder| in_force.named.find_ladder(ladder)).transpose()?;
    let mut state = hub.operators.lock();
    let same = |action: &Action| action.about == note.about && action.reason == note.text;
    if let Some(answer) = state.answered(&note.id, ActionKind::Note, same)? {
        return Ok(answer);
    }
    let action = Action {
        about: note.about.clone(),
        in_force: true,
        ..new_action(ActionKind::Note, &note.id, &note.text, by)
    };
    state.notes.push(action.clone());
    let answer = record_done(hub, &mut state, action.clone());
    drop(state);
    announce(&hub.feed, &hub.in_force().named, &Announced::Action(Box::new(action)));
    Ok(answer)
}

/// Ends the note `id`.
///
/// # Errors
/// There is no such note, or it was ended already.
pub fn end_note(hub: &Arc<Hub>, id: &str, body: &ActionBody, by: &str) -> Result<Answer, Refused> {
    check_id(id)?;
    check_reason(&body.id, "reason", &body.reason)?;
    let mut state = hub.operators.lock();
    let same = |action: &Action| action.undoes.as_deref() == Some(id);
    if let Some(answer) = state.answered(&body.id, ActionKind::Undo, same)? {
        return Ok(answer);
    }
    let Some(place) = state.notes.iter().position(|note| note.id == id) else {
        let message = format!(
            "There is no note '{id}' that stands. GET /admin/v1/actions?kind=note lists them."
        );
        return Err(Refused::new(RefusedReason::UnknownNote, message));
    };
    let note = state.notes.remove(place);
    let action = Action {
        about: note.about,
        undoes: Some(id.to_owned()),
        ..new_action(ActionKind::Undo, &body.id, &body.reason, by)
    };
    let answer = record_done(hub, &mut state, action.clone());
    drop(state);
    announce(&hub.feed, &hub.in_force().named, &Announced::Action(Box::new(action)));
    Ok(answer)
}

fn record_done(hub: &Arc<Hub>, state: &mut State, action: Action) -> Answer {
    let (id, at, by) = (action.id.clone(), action.at, action.by.clone());
    let done = move |journaled| Done { id: id.clone(), at, by: by.clone(), journaled };
    record(hub, state, action, done)
}
