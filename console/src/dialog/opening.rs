//! Opening a dialog, for what is on the boards now.

use super::about::{About, OtherAction};
use super::state::Dialog;
use crate::model::Model;
use shared::OverrideMode;
use shared::admin::RungState;
use shared::admin::actions::Action;
use shared::admin::changes::{Change, NewOrder};
use std::collections::{BTreeMap, BTreeSet};

impl Dialog {
    fn new(model: &Model, id: String, about: About, suggestion: String) -> Self {
        let mut dialog = Self {
            id,
            about,
            last: 0,
            reason: String::new(),
            suggestion,
            relays: model.viewed(),
            whole: true,
            reach: Vec::new(),
            expect: BTreeMap::new(),
            accept: BTreeSet::new(),
            typed: String::new(),
            previews: BTreeMap::new(),
            asked: 0,
            answered: BTreeMap::new(),
            drawn: 0,
            changed: None,
            sent: BTreeMap::new(),
        };
        dialog.expect = dialog.versions(model);
        dialog
    }

    /// The same, for these relays only.
    #[must_use]
    pub fn only_on(mut self, model: &Model, relays: &[usize]) -> Self {
        (self.relays, self.whole) = (relays.to_vec(), false);
        self.expect = self.versions(model);
        self
    }

    /// To make `rungs` so; `None`: none of them is on the board.
    #[must_use]
    pub fn rungs(model: &Model, id: String, rungs: &[String], mode: OverrideMode) -> Option<Self> {
        let known: Vec<&RungState> = rungs.iter().filter_map(|rung| model.rung(rung)).collect();
        let reason = known.iter().map(|rung| crate::words::reason(rung));
        let reason = reason.into_iter().find(|reason| !reason.is_empty()).unwrap_or_default();
        let rungs: Vec<String> = known.iter().map(|rung| rung.name.clone()).collect();
        if rungs.is_empty() {
            return None;
        }
        let about = About::Rungs { rungs, mode, cover: 0, cut: false };
        Some(Self::new(model, id, about, reason))
    }

    /// To change the order of `ladder`; `None`: it is not on the board.
    #[must_use]
    pub fn order(model: &Model, id: String, ladder: &str, at: usize) -> Option<Self> {
        let state = model.ladder(ladder)?;
        let rungs = state.order.clone();
        let at = at.min(rungs.len().saturating_sub(1));
        let seen = rungs.clone();
        let about = About::Order { ladder: ladder.to_owned(), rungs, seen, at, moves: Vec::new() };
        Some(Self::new(model, id, about, String::new()))
    }

    /// To give `ladder` the config's order again.
    #[must_use]
    pub fn config_order(model: &Model, id: String, ladder: &str) -> Self {
        let about = About::ConfigOrder { ladder: ladder.to_owned() };
        Self::new(model, id, about, String::new())
    }

    /// To do something else.
    #[must_use]
    pub fn other(model: &Model, id: String, action: OtherAction) -> Self {
        Self::new(model, id, About::Other(action), String::new())
    }

    /// To have what is in force end at another time, of overrides those of `rungs`; `None`:
    /// that is nothing with an end.
    #[must_use]
    pub fn extend(model: &Model, id: String, action: &Action, rungs: &[String]) -> Option<Self> {
        let mut dialog = action.changes.iter().find_map(|change| match change {
            Change::Override { mode, .. } if *mode != OverrideMode::Auto => {
                Self::rungs(model, id.clone(), rungs, *mode)
            }
            Change::Order { ladder, order: NewOrder::Rungs(_) } => {
                Self::order(model, id.clone(), ladder, 0)
            }
            _ => None,
        })?;
        dialog.suggestion.clone_from(&action.reason);
        Some(dialog)
    }
}
