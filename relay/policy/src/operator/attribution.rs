//! Who made an override or an order, and why.

use crate::index::{LadderIndex, RungIndex};
use shared::UnixMillis;

/// Who made an override or an order, why, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    /// The version that it made.
    pub version: u64,
    /// Who.
    pub by: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// When.
    pub at: UnixMillis,
    /// When it ends by itself; `None`: never.
    pub until: Option<UnixMillis>,
    /// The action that made it.
    pub action: Option<String>,
}

/// The attributions by their places on the board.
#[derive(Debug, Clone, Default)]
pub struct Attributions {
    rungs: Vec<Option<Attribution>>,
    ladders: Vec<Option<Attribution>>,
}

impl Attributions {
    /// The attribution of a rung's override, whatever version it made.
    #[must_use]
    pub fn rung(&self, rung: RungIndex) -> Option<&Attribution> {
        self.rungs.get(rung.0)?.as_ref()
    }

    /// The attribution of a ladder's order, whatever version it made.
    #[must_use]
    pub fn ladder(&self, ladder: LadderIndex) -> Option<&Attribution> {
        self.ladders.get(ladder.0)?.as_ref()
    }

    /// Sets the attribution of a rung's override.
    pub fn set_rung(&mut self, rung: RungIndex, attribution: Attribution) {
        set(&mut self.rungs, rung.0, attribution);
    }

    /// Sets the attribution of a ladder's order.
    pub fn set_ladder(&mut self, ladder: LadderIndex, attribution: Attribution) {
        set(&mut self.ladders, ladder.0, attribution);
    }

    /// The rungs and ladders that this action was the last to change.
    pub fn of_action(&self, id: &str) -> (Vec<RungIndex>, Vec<LadderIndex>) {
        let made = |one: &Option<Attribution>| {
            one.as_ref().is_some_and(|one| one.action.as_deref() == Some(id))
        };
        let places = |all: &[Option<Attribution>]| {
            let mine = all.iter().enumerate().filter(|(_, one)| made(one));
            mine.map(|(place, _)| place).collect::<Vec<_>>()
        };
        (
            places(&self.rungs).into_iter().map(RungIndex).collect(),
            places(&self.ladders).into_iter().map(LadderIndex).collect(),
        )
    }
}

fn set(all: &mut Vec<Option<Attribution>>, at: usize, attribution: Attribution) {
    if all.len() <= at {
        all.resize(at + 1, None);
    }
    if let Some(place) = all.get_mut(at) {
        *place = Some(attribution);
    }
}
