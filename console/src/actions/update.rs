//! What the engineer does on Actions, and what is read for it.

use super::msg::Msg;
use super::rows::rows;
use crate::model::{Loaded, Model};
use crate::task::Task;

/// Does what the engineer did.
pub(crate) fn update(model: &mut Model, msg: Msg) {
    let Msg::Select(id) = msg;
    model.action = Some(id);
}

/// Moves from action to action.
pub(crate) fn step(model: &mut Model, down: isize) {
    let ids: Vec<String> = rows(model).into_iter().map(|row| row.action.id.clone()).collect();
    let place = ids.iter().position(|id| Some(id) == model.action.as_ref());
    let last = ids.len().saturating_sub(1);
    let place = place.map_or(0, |place| place.saturating_add_signed(down).min(last));
    model.action = ids.get(place).cloned();
}

/// Reads what the screen shows.
pub(crate) fn read(model: &mut Model) -> Vec<Task> {
    let relays = model.viewed();
    model.actions.retain(|relay, _| relays.contains(relay));
    for relay in &relays {
        model.actions.entry(*relay).or_insert(Loaded::Loading);
    }
    relays.into_iter().map(|relay| Task::Actions { relay }).collect()
}
