//! Probes and notes.

use super::refused::{Refused, Why, check_id, check_words};
use super::{Answer, Published};
use crate::drive::relay::Relay;
use crate::wall;
use policy::RungIndex;
use policy::breaker::State as Health;
use shared::admin::actions::{About, Action, ActionKind, Done, NewNote};
use shared::admin::changes::Deed;
use shared::{OverrideMode, UnixMillis};
use std::sync::Arc;

impl Relay {
    /// Ends a rung's cool-down, hold or hard-down: the next request is the probe.
    ///
    /// # Errors
    /// There is no such rung, or nothing that could be ended.
    pub fn probe(self: &Arc<Self>, rung: &str, deed: &Deed, by: &str) -> Result<Answer, Refused> {
        check_words(&deed.id, "reason", &deed.reason)?;
        let index = self.find_rung(rung)?;
        let mut state = self.operators.lock();
        let about = About { rung: Some(rung.to_owned()), ladder: None };
        if let Some(answer) = state.answered(&deed.id, ActionKind::Probe, |a| a.about == about)? {
            return Ok(answer);
        }
        self.probe_now(index, rung)?;
        let action = plain(ActionKind::Probe, &deed.id, &deed.reason, about, by);
        let answer = self.record_done(&mut state, action.clone());
        drop(state);
        self.published(&Published::Action(Box::new(action)));
        self.published(&Published::Rung(index));
        Ok(answer)
    }

    fn probe_now(&self, index: RungIndex, rung: &str) -> Result<(), Refused> {
        let now = wall::now();
        self.with_board(now, |board| {
            board.settle(now);
            let mode = board.forced(index, now).map(|(mode, _)| mode).unwrap_or_default();
            if matches!(mode, OverrideMode::ForcedOpen | OverrideMode::ForcedClosed) {
                let message = format!(
                    "'{rung}' is {}: its breaker is frozen. End the override first; a check calls it \
                     all the same.",
                    mode.as_str()
                );
                return Err(Refused::new(Why::Conflict, "overridden", message));
            }
            let state = board.breaker(index).map(policy::breaker::Breaker::state);
            let is_open = matches!(state, Some(Health::Open { .. }));
            if !is_open && board.held_until(index, now).is_none() {
                let message = format!(
                    "'{rung}' is neither open nor held: there is nothing to end, and requests reach it."
                );
                return Err(Refused::new(Why::Conflict, "nothing_to_probe", message));
            }
            board.probe_now(index, now);
            Ok(())
        })
    }

    /// Pins a note.
    ///
    /// # Errors
    /// It is about what is not there.
    pub fn note(self: &Arc<Self>, note: &NewNote, by: &str) -> Result<Answer, Refused> {
        check_words(&note.id, "text", &note.text)?;
        note.about.rung.as_ref().map(|rung| self.find_rung(rung)).transpose()?;
        note.about.ladder.as_ref().map(|ladder| self.find_ladder(ladder)).transpose()?;
        let mut state = self.operators.lock();
        let same = |action: &Action| action.about == note.about && action.reason == note.text;
        if let Some(answer) = state.answered(&note.id, ActionKind::Note, same)? {
            return Ok(answer);
        }
        let action = plain(ActionKind::Note, &note.id, &note.text, note.about.clone(), by);
        let action = Action { in_force: true, ..action };
        state.notes.push(action.clone());
        let answer = self.record_done(&mut state, action.clone());
        drop(state);
        self.published(&Published::Action(Box::new(action)));
        Ok(answer)
    }

    /// Ends the note `id`.
    ///
    /// # Errors
    /// There is no such note, or it was ended already.
    pub fn end_note(self: &Arc<Self>, id: &str, deed: &Deed, by: &str) -> Result<Answer, Refused> {
        check_id(id)?;
        check_words(&deed.id, "reason", &deed.reason)?;
        let mut state = self.operators.lock();
        let same = |action: &Action| action.undoes.as_deref() == Some(id);
        if let Some(answer) = state.answered(&deed.id, ActionKind::Undo, same)? {
            return Ok(answer);
        }
        let Some(place) = state.notes.iter().position(|note| note.id == id) else {
            let message = format!(
                "There is no note '{id}' that stands. GET /admin/v1/actions?kind=note lists them."
            );
            return Err(Refused::new(Why::Unknown, "unknown_note", message));
        };
        let note = state.notes.remove(place);
        let action = plain(ActionKind::Undo, &deed.id, &deed.reason, note.about, by);
        let action = Action { undoes: Some(id.to_owned()), ..action };
        let answer = self.record_done(&mut state, action.clone());
        drop(state);
        self.published(&Published::Action(Box::new(action)));
        Ok(answer)
    }

    fn record_done(self: &Arc<Self>, state: &mut super::State, action: Action) -> Answer {
        let (id, at, by) = (action.id.clone(), action.at, action.by.clone());
        let done = move |journaled| Done { id: id.clone(), at, by: by.clone(), journaled };
        self.record(state, action, done)
    }
}

/// An action that changed no override and no order.
pub(super) fn plain(kind: ActionKind, id: &str, reason: &str, about: About, by: &str) -> Action {
    let at: UnixMillis = wall::unix();
    Action {
        id: id.to_owned(),
        at,
        kind,
        by: by.to_owned(),
        reason: reason.to_owned(),
        changes: Vec::new(),
        about,
        before: None,
        after: None,
        accepted: Vec::new(),
        check: None,
        until_at: None,
        ended_at: None,
        ended_by: None,
        undoes: None,
        in_force: false,
    }
}
