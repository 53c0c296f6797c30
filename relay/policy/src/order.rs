//! An operator's order of a ladder.
//!
//! It replaces the config's order until it ends. Each change of it, also its end by itself, makes a
//! new version. So two operators who both saw the same version cannot overwrite each other without
//! notice.

use crate::budget::Budget;
use crate::index::RungIndex;
use crate::ladder::LadderSpec;
use crate::time::Time;
use std::sync::Arc;

/// An operator's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// All rungs of the ladder; the first one is tried first.
    pub rungs: Vec<RungIndex>,
    /// When it ends by itself; `None`: never.
    pub until: Option<Time>,
    /// Whether it was made for other rungs and then fitted to these.
    pub adapted: bool,
}

/// Fits an order to a ladder whose rungs have changed: it loses those that are gone and
/// gains each new one behind the rung that the config has before it.
#[must_use]
pub fn adapt<T: Clone + PartialEq>(order: &[T], config: &[T]) -> Vec<T> {
    let mut fitted: Vec<T> = order.iter().filter(|rung| config.contains(rung)).cloned().collect();
    let mut before = None;
    for rung in config {
        if !fitted.contains(rung) {
            let place = fitted.iter().position(|other| Some(other) == before);
            fitted.insert(place.map_or(0, |place| place + 1), rung.clone());
        }
        before = Some(rung);
    }
    fitted
}

/// A ladder on the board: its config, its budgets and its order.
#[derive(Debug, Clone)]
pub(crate) struct OrderInForce {
    pub(crate) spec: Arc<LadderSpec>,
    pub(crate) budget: Budget,
    pub(crate) order: Option<Order>,
    pub(crate) version: u64,
}

impl OrderInForce {
    pub(crate) fn new(spec: Arc<LadderSpec>) -> Self {
        let budget = Budget::new(&spec.hedge, &spec.retry);
        Self { spec, budget, order: None, version: 0 }
    }

    /// The operator's order at `now`. An order whose time is over is not in force, even if no walk
    /// has ended it yet.
    pub(crate) fn order_at(&self, now: Time) -> Option<&Order> {
        self.order.as_ref().filter(|order| order.until.is_none_or(|until| until > now))
    }

    /// Fits an operator's order to other rungs in the config. If another rung now has the name of a
    /// rung in the order, it takes that rung's place. The order keeps its version, because its
    /// author and its reason are the same. A ladder that is no longer in the config keeps its
    /// order, in case it comes back.
    pub(crate) fn refit(&mut self, heirs: &[(RungIndex, RungIndex)]) {
        let Some(order) = self.order.as_mut().filter(|_| !self.spec.rungs.is_empty()) else {
            return;
        };
        let heir = |rung: RungIndex| {
            heirs.iter().find(|(before, _)| *before == rung).map_or(rung, |(_, heir)| *heir)
        };
        let renamed: Vec<_> = order.rungs.iter().map(|rung| heir(*rung)).collect();
        let fitted = adapt(&renamed, &self.spec.rungs);
        order.adapted |= fitted != renamed;
        order.rungs = fitted;
    }

    /// Gives it another order, or the config's.
    pub(crate) fn reorder(&mut self, order: Option<Order>) {
        self.order = order;
        self.version = self.version.saturating_add(1);
    }
}
