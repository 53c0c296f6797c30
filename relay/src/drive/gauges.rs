//! The gauges of a moment, read from the board when a scraper asks. The
//! metrics know neither journal nor board; this file reads both for them.

use super::config_state::config_now;
use super::hub::Hub;
use super::in_force::{Ladder, Rung};
use super::signals::Drain;
use super::stalls::standing_still;
use crate::metrics::{JournalNow, LadderNow, Now, RungNow};
use crate::wall;
use policy::breaker::State;
use policy::{Board, LadderIndex, Time};
use std::sync::Arc;
use std::time::Duration;

/// The relay's gauges at this moment.
#[must_use]
pub fn gauges(hub: &Hub) -> Now {
    let (now, in_force) = (wall::now(), hub.in_force());
    let (rungs, ladders) = hub.with_board(now, |board| {
        let rungs = in_force.rungs.iter().map(|rung| rung_now(board, rung, now));
        let ladders = in_force.ladders.iter().map(|ladder| ladder_now(board, ladder));
        (rungs.collect(), ladders.collect())
    });
    let journal = hub.journal.health();
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
        in_flight: hub.load.running(),
        held: hub.load.held(),
        draining: hub.signals.drain() != Drain::Serving,
        uptime: now.since(hub.began),
        config: config_now(hub),
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
