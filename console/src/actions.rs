//! What operators did, over all relays of the view: one that went to several of them is one.

use crate::model::Model;
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
