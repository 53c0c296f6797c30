//! What operators change while the relay runs. The rules are the core's
//! ([`policy::operator`]); this makes changes under the locks, keeps answers, and records and
//! announces what was made.
//!
//! Invariants:
//! - A change is checked and made under one hold of `state` and, within, of the
//!   board; never the other way round. So two operators are served one after the other.
//! - It is in force before its record is with the journal's writer, and its author
//!   is answered only after the COMMIT, or after having waited for it long enough.
//! - What was refused did nothing: its id may be used again.
//!
//! The parts: `change` makes changes and takes them back, `actions` are probes and notes,
//! `check` calls a rung once, `record` keeps what was done, `current` reads what is in force,
//! `preview` computes what a change would do from `past`, `restore` reads what was in force before
//! a restart.

mod actions;
mod change;
mod check;
pub(super) mod current;
mod preview;
mod record;
pub(super) mod restore;

pub use actions::{end_note, note, probe};
pub use change::{change, undo};
pub use check::check;
pub use current::{order_now, override_now};
pub use preview::preview;

use super::hub::Hub;
use super::operator_state::Answer;
use crate::wall;
use policy::operator::Refused;
use shared::admin::actions::{Action, ActionKind};

/// The answer that was given under this id, if it was the same that was asked.
///
/// # Errors
/// The id was used for something else.
pub fn answered(
    hub: &Hub,
    id: &str,
    kind: ActionKind,
    is_same: impl Fn(&Action) -> bool,
) -> Result<Option<Answer>, Refused> {
    hub.operators.lock().answered(id, kind, is_same)
}

/// As [`answered`], of an action that the journal had.
///
/// # Errors
/// The id was used for something else.
pub fn answered_before(
    found: &(Action, String),
    kind: ActionKind,
    is_same: impl Fn(&Action) -> bool,
) -> Result<Answer, Refused> {
    let (action, answer) = found;
    if action.kind == kind && is_same(action) {
        Ok(Answer::ready(answer.as_str().into()))
    } else {
        Err(Refused::reused(&action.id))
    }
}

/// An action of late, by its id; older ones are in the journal.
#[must_use]
pub fn find_action(hub: &Hub, id: &str) -> Option<Action> {
    let (state, now) = (hub.operators.lock(), wall::now());
    let action = state.find(id)?.action.clone();
    let in_force = hub.with_board(now, |board| {
        policy::operator::present::is_in_force(board, &state.attributions, id, now)
    });
    let stands = state.notes.iter().any(|note| note.id == id);
    Some(Action { in_force: in_force || stands, ..action })
}

/// Notes in force, the oldest first.
#[must_use]
pub fn notes(hub: &Hub) -> Vec<Action> {
    hub.operators.lock().notes.clone()
}
