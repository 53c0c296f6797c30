//! What operators did, over all relays of the view: one that went to several of them is one.

use crate::model::{Model, Screen};
use shared::admin::actions::Action;

/// An action, and the relays that have it.
#[derive(Debug, Clone, PartialEq)]
pub struct Row<'a> {
    /// The action, as the first of them has it.
    pub action: &'a Action,
    /// The relays.
    pub relays: Vec<usize>,
    /// Those on which something of it still holds.
    pub holds: Vec<usize>,
}

impl<'a> Row<'a> {
    /// Whether something of it still holds anywhere.
    #[must_use]
    pub const fn in_force(&self) -> bool {
        !self.holds.is_empty()
    }

    fn add(&mut self, relay: usize, action: &'a Action) {
        self.relays.push(relay);
        if action.in_force {
            // What still holds says when it ends.
            self.action = action;
            self.holds.push(relay);
        }
    }
}

/// What is in force first, the soonest to end on top and what has no end by its age; then what
/// is past, newest first.
#[must_use]
pub fn rows(model: &Model) -> Vec<Row<'_>> {
    let mut all: Vec<Row<'_>> = Vec::new();
    for relay in model.viewed() {
        let page = model.actions.get(&relay).and_then(|page| page.come());
        for action in page.into_iter().flatten() {
            match all.iter_mut().find(|row| row.action.id == action.id) {
                Some(row) => row.add(relay, action),
                None => {
                    let mut row = Row { action, relays: Vec::new(), holds: Vec::new() };
                    row.add(relay, action);
                    all.push(row);
                }
            }
        }
    }
    all.sort_by_key(|row| {
        let until = row.action.until_at.map_or(i64::MAX, |at| at.0);
        let at = row.action.at.0;
        if row.in_force() { (0, until, at) } else { (1, -at, 0) }
    });
    all
}

/// The action that is selected on Actions.
pub(crate) struct Chosen {
    pub(crate) action: Action,
    /// The relays that have it.
    pub(crate) relays: Vec<usize>,
    /// Those on which something of it still holds.
    pub(crate) holds: Vec<usize>,
}

/// The one that is selected, while Actions is shown.
pub(crate) fn chosen(model: &Model) -> Option<Chosen> {
    let id = model.action.as_ref().filter(|_| model.screen == Screen::Actions)?;
    let row = rows(model).into_iter().find(|row| row.action.id == *id)?;
    Some(Chosen { action: row.action.clone(), relays: row.relays, holds: row.holds })
}

/// The rungs whose override is still this action's: a later one is somebody else's.
pub(crate) fn held_by(model: &Model, action: &Action, relays: &[usize]) -> Vec<String> {
    let boards = || relays.iter().filter_map(|it| model.relays.get(*it)?.board.as_ref());
    let is_its = |name: &String| {
        let rungs = boards().flat_map(|board| &board.rungs).filter(|rung| rung.name == *name);
        let hands = rungs.filter_map(|rung| rung.forced.as_ref());
        let mut hands = hands.map(|forced| forced.action.as_ref() == Some(&action.id)).peekable();
        hands.peek().is_some() && hands.all(|its| its)
    };
    let after = action.after.iter().flat_map(|after| &after.rungs);
    after.map(|now| now.rung.clone()).filter(is_its).collect()
}
