//! How the relay stands at a moment: the gauges, read from the board when a scraper asks. The
//! metrics know neither journal nor board; this file reads both for them.

use super::in_force::{InForce, Ladder, Rung};
use super::relay::{Drain, Relay};
use super::still::standing_still;
use crate::live;
use crate::metrics::{JournalNow, LadderNames, LadderNow, Names, Now, RungNames, RungNow};
use crate::wall;
use policy::breaker::State;
use policy::{Board, LadderIndex, RungIndex, Time};
use std::sync::Arc;
use std::time::Duration;

/// The names that become labels.
pub(super) fn names(in_force: &InForce) -> Names {
    let InForce { config, rungs, ladders, .. } = in_force;
    let rung_names = config.rungs.iter().zip(rungs).filter_map(|(settings, rung)| {
        Some(RungNames {
            rung: Arc::clone(&rung.name),
            provider: config.providers.get(settings.provider)?.name.as_str().into(),
            model: settings.model.as_str().into(),
        })
    });
    let on = |ladder: &Ladder| {
        let of = |index: &RungIndex| in_force.rung(*index).map(|rung| Arc::clone(&rung.name));
        ladder.spec.rungs.iter().filter_map(of).collect()
    };
    let ladder_names = ladders
        .iter()
        .map(|ladder| LadderNames { ladder: Arc::clone(&ladder.name), rungs: on(ladder) });
    Names { rungs: rung_names.collect(), ladders: ladder_names.collect() }
}

/// The same moment for the live numbers, which count in milliseconds.
pub(super) const fn at(now: Time) -> live::At {
    now.0 / 1000
}

impl Relay {
    /// How the relay stands at this moment, for its numbers.
    #[must_use]
    pub fn standing(&self) -> Now {
        let (now, in_force) = (wall::now(), self.in_force());
        let (rungs, ladders) = self.with_board(now, |board| {
            let rungs = in_force.rungs.iter().map(|rung| rung_now(board, rung, now));
            let ladders = in_force.ladders.iter().map(|ladder| ladder_now(board, ladder));
            (rungs.collect(), ladders.collect())
        });
        let journal = self.journal.health();
        Now {
            rungs,
            ladders,
            journal: JournalNow {
                ok: journal.ok,
                late: journal.late,
                queue: journal.queue,
                lag: Duration::from_millis(journal.lag_ms),
                lost: journal.lost,
            },
            log_lost: crate::stderr::lost(),
            workers_standing: standing_still(now),
            in_flight: self.running(),
            held: self.held(),
            draining: self.drain() != Drain::Serving,
            uptime: now.since(self.began),
            config: self.config_now(),
        }
    }
}

fn rung_now(board: &Board, rung: &Rung, now: Time) -> RungNow {
    let index = rung.index;
    let breaker = board.breaker(index);
    let state = breaker.map_or(State::Closed, policy::breaker::Breaker::state);
    let cools_for = match state {
        State::Open { until } => until.since(now),
        State::HalfOpen { .. } | State::Closed => Duration::ZERO,
    };
    RungNow {
        rung: Arc::clone(&rung.name),
        state: state.name(),
        forced: board.forced(index, now).map(|(mode, _)| mode).unwrap_or_default(),
        weight: breaker.map_or(1.0, policy::breaker::Breaker::weight),
        cools_for,
        held_for: board.held_until(index, now).map_or(Duration::ZERO, |until| until.since(now)),
        holds_asked: board.holds_asked(index),
        reference: board.reference(index),
    }
}

fn ladder_now(board: &Board, ladder: &Ladder) -> LadderNow {
    let index: LadderIndex = ladder.index;
    let (hedge_level, retry_level) = board.levels(index).unwrap_or_default();
    let (refused_hedges, refused_retries) = board.refusals(index).unwrap_or_default();
    LadderNow {
        ladder: Arc::clone(&ladder.name),
        hedge_level,
        retry_level,
        refused_hedges,
        refused_retries,
    }
}

#[cfg(test)]
mod tests {
    use crate::metrics::TRANSITIONS;
    use shared::TransitionRule;

    #[test]
    fn every_rule_of_the_breaker_has_a_series_from_the_start() {
        for rule in TransitionRule::ALL {
            assert!(TRANSITIONS.iter().any(|(_, rules)| rules.contains(rule)), "{rule}");
        }
    }
}
