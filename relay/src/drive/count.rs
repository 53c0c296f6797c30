//! From records to numbers: what the journal is told, the metrics are told too.
//!
//! The metrics know neither journal nor board; this file hands them what they
//! count, once per dial and per end, and reads for them how the relay stands.

use super::in_force::{InForce, Ladder, Rung};
use super::line::Line;
use super::log::{RequestLog, millis};
use super::relay::{Drain, Relay};
use super::still::standing_still;
use crate::live::{self, Live, Pair};
use crate::metrics::{
    After, AttemptFacts, JournalNow, LadderNames, LadderNow, Metrics, Names, Now, RequestFacts,
    RungNames, RungNow,
};
use crate::wall;
use journal::{AttemptEnd, RequestEnd};
use policy::breaker::State;
use policy::{AttemptId, Board, LadderIndex, RungIndex, Time};
use shared::{AttemptKind, PassedOver, TokenVerdict};
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

/// An attempt goes out; `before` is the last one of its request that has ended.
pub(super) fn dialled(
    metrics: &Metrics,
    ladder: &Arc<str>,
    attempt: AttemptId,
    kind: AttemptKind,
    before: Option<&AttemptEnd>,
) {
    let after = before.map(|before| After { outcome: before.outcome, status: before.status });
    metrics.dialled(ladder, attempt.0, kind, after);
}

/// An attempt ended; `ttft` is finer than its record's milliseconds.
pub(super) fn attempt(
    metrics: &Metrics,
    ladder: &Arc<str>,
    end: &AttemptEnd,
    ttft: Option<Duration>,
) {
    metrics.attempt(&AttemptFacts {
        ladder,
        rung: &end.start.rung,
        n: end.start.n,
        kind: end.start.kind,
        outcome: end.outcome,
        cause: end.cause,
        verdict: end.verdict,
        stream_verdict: end.stream_verdict,
        ttft,
        usage: end.usage,
        estimated: end.estimated,
        cost: end.cost.ok(),
    });
}

/// The same moment for the live numbers, which count in milliseconds.
pub(super) const fn at(now: Time) -> live::At {
    now.0 / 1000
}

/// An attempt's first token came; whether it was late.
pub(super) fn token(live: &Live, ladder: LadderIndex, line: &mut Line, now: Time, is_slow: bool) {
    let Some(seat) = line.seat else { return };
    line.counted = true;
    let ttft = line.log.first_token.unwrap_or(now).since(line.log.dialled);
    let verdict = if is_slow { TokenVerdict::Slow } else { TokenVerdict::Good };
    let of = Pair { ladder: ladder.0, rung: line.rung.index.0 };
    live.token(of, at(now), seat, millis(ttft), verdict);
}

/// An attempt ended, for the live numbers.
pub(super) fn attempt_live(
    live: &Live,
    ladder: LadderIndex,
    line: &mut Line,
    now: Time,
    end: &AttemptEnd,
) {
    let Some(seat) = line.seat.take() else { return };
    let facts = live::AttemptFacts {
        at: wall::unix(),
        outcome: end.outcome,
        cause: end.cause,
        had_token: line.counted,
        verdict: end.verdict,
        stream_verdict: end.stream_verdict,
        status: end.status,
        detail: end.detail.as_deref(),
        usage: end.usage,
        cost: end.cost.ok(),
    };
    live.attempt(Pair { ladder: ladder.0, rung: line.rung.index.0 }, at(now), seat, &facts);
}

/// What the walk knows of its request at the end.
pub(super) struct Walked<'a> {
    pub(super) seat: live::Ticket,
    /// Its client had seen the first token of one attempt.
    pub(super) is_committed: bool,
    pub(super) answered: Option<AttemptId>,
    pub(super) passed: &'a [(RungIndex, PassedOver)],
}

/// A request ended, for the live numbers and those who watch requests.
pub(super) fn request_live(
    live: &Live,
    (in_force, ladder): (&InForce, &Ladder),
    end: &RequestEnd,
    log: &RequestLog,
    walked: &Walked<'_>,
) {
    let winner = walked.answered.and_then(|id| end.attempts.iter().find(|a| a.start.n == id.0));
    let rung =
        winner.and_then(|won| in_force.rungs.iter().find(|rung| rung.name == won.start.rung));
    let passed: Vec<_> = walked.passed.iter().map(|(rung, why)| (rung.0, *why)).collect();
    let facts = live::RequestFacts {
        ticket: walked.seat,
        outcome: end.outcome,
        cause: end.cause,
        // Who waits for the whole answer does not see its first token.
        ttft_ms: log.ttft_ms().filter(|_| end.start.stream),
        latency_ms: end.latency_ms.unwrap_or_default(),
        committed: walked.is_committed,
        answered: rung.zip(winner).map(|(rung, won)| (rung.index.0, won.start.n)),
        hedged: end.hedged,
        hedge_won: winner.is_some_and(|won| won.start.kind == AttemptKind::Hedge),
        last_resort: end.attempts.iter().any(|a| a.start.kind == AttemptKind::LastResort),
        passed: &passed,
    };
    live.ended(ladder.index.0, at(wall::now()), &facts);
}

/// A request ended.
pub(super) fn request(metrics: &Metrics, ladder: &Arc<str>, end: &RequestEnd, log: &RequestLog) {
    // Who waits for the whole answer does not see its first token.
    let seen = log.first_token.filter(|_| end.start.stream);
    metrics.request(&RequestFacts {
        ladder: Some(ladder),
        outcome: end.outcome,
        cause: end.cause,
        status: end.status,
        ttft: seen.map(|at| at.since(log.accepted)),
        duration: Some(wall::now().since(log.accepted)),
        passed_over: &end.passed_over,
    });
}

impl Relay {
    /// Counts a request that never walked. Its `model` named no ladder that its client may
    /// use, or was not read: it is counted under none.
    pub fn count_reject(&self, end: &RequestEnd) {
        self.metrics.request(&RequestFacts {
            ladder: None,
            outcome: end.outcome,
            cause: end.cause,
            status: end.status,
            ttft: None,
            duration: None,
            passed_over: &end.passed_over,
        });
    }

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
