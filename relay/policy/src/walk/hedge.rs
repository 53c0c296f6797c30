//! Hedges and races: a second attempt while the first is still silent.
//!
//! By default a request is hedged once. A hedge needs a rung that this walk has not called,
//! preferably in another failure domain, and a token of the ladder's budget. Only the hedge of a
//! probe is free: without it a client would pay for the probe with its wait.

use super::{State, Walk};
use crate::action::Action;
use crate::attempt::Attempt;
use crate::board::Board;
use crate::index::RungIndex;
use crate::ladder::HedgeDelay;
use crate::time::Time;
use shared::AttemptKind;
use std::time::Duration;

/// A half-open rung that has had no probe for this long gets the next hedge.
const STARVING: Duration = Duration::from_secs(30);

impl Walk {
    /// When a hedge is due, if one is wanted at all.
    pub(super) fn hedge_due(&self, board: &Board) -> Option<Time> {
        let spec = &self.ladder.hedge;
        let wanted = self.state == State::Walking
            && spec.enabled
            && self.ladder.interactive
            && self.ladder.race < 2
            && !self.hedge_refused
            && self.hedges < self.ladder.max_hedges
            && !self.has_side_effects()
            && self.has_attempts_left();
        if !wanted {
            return None;
        }
        let in_flight = || self.attempts.iter().filter(|attempt| attempt.in_flight());
        if in_flight().count() >= self.ladder.max_in_flight
            || in_flight().any(|attempt| attempt.first_token.is_some())
        {
            return None;
        }
        let newest = in_flight().next_back().filter(|newest| newest.sent)?;
        let rival = self.untried().next()?;
        let auto = || board.hedge_delay(newest.rung, rival, spec, self.need.size());
        let delay = match spec.delay {
            HedgeDelay::Fixed(delay) if !newest.ticket.probe => delay,
            HedgeDelay::Fixed(_) | HedgeDelay::Auto => auto(),
        };
        Some(newest.dialled.plus(delay))
    }

    /// Starts the hedge that is due. If no rung is usable or the budget has no token, this walk
    /// tries no further hedge.
    pub(super) fn hedge(&mut self, now: Time, board: &mut Board, out: &mut Vec<Action>) {
        let newest = self.attempts.iter().rfind(|attempt| attempt.in_flight());
        let free = newest.is_some_and(|attempt| attempt.ticket.probe);
        let Some(rung) = self.rival(now, board) else {
            self.hedge_refused = true;
            return;
        };
        if !free && !board.budget(self.at).is_some_and(|budget| budget.take_hedge()) {
            self.hedge_refused = true;
            return;
        }
        self.hedges = self.hedges.saturating_add(1);
        self.dial(now, rung, AttemptKind::Hedge, false, board, out);
    }

    /// Replaces a hedge, or any attempt of a race, that failed explicitly.
    pub(super) fn replace(
        &mut self,
        now: Time,
        kind: AttemptKind,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let racing = self.ladder.race > 1;
        let is_replaced = racing || (kind == AttemptKind::Hedge && !self.replaced);
        if !is_replaced || !self.has_attempts_left() {
            return;
        }
        let Some(rung) = self.rival(now, board) else { return };
        if racing || board.budget(self.at).is_some_and(|budget| budget.take_hedge()) {
            self.replaced = true;
            self.dial(now, rung, AttemptKind::Hedge, false, board, out);
        }
    }

    /// The rung that a hedge goes to. A half-open rung that has had no probe for too long comes
    /// first. Otherwise closed comes before half-open, another domain before the same, then the
    /// plan's order.
    fn rival(&self, now: Time, board: &Board) -> Option<RungIndex> {
        let taken: Vec<u32> = self
            .attempts
            .iter()
            .filter(|attempt| attempt.in_flight())
            .filter_map(|attempt| board.spec(attempt.rung))
            .flat_map(|spec| spec.domains.iter().copied())
            .collect();
        let shares = |rung: RungIndex| {
            board.spec(rung).is_some_and(|spec| spec.domains.iter().any(|d| taken.contains(d)))
        };
        self.reserve(board).filter(|&rung| board.usable(rung, now).is_ok()).min_by_key(|&rung| {
            let starving = board.starved(rung, now).is_some_and(|span| span >= STARVING);
            (!starving, !board.is_closed(rung), shares(rung))
        })
    }

    /// A token decides a race with a hedge: reports to the budget, once, whether the hedge won.
    pub(super) fn settle_hedge(&mut self, winner: AttemptKind, board: &mut Board) {
        if self.hedges > 0 && !self.settled {
            self.settled = true;
            if let Some(budget) = board.budget(self.at) {
                budget.hedge_over(winner == AttemptKind::Hedge);
            }
        }
    }

    /// Dials the other rungs of a race.
    pub(super) fn race(&mut self, now: Time, board: &mut Board, out: &mut Vec<Action>) {
        for _ in 1..self.ladder.race {
            let Some(rung) = self.next_candidate(now, board) else { return };
            self.dial(now, rung, AttemptKind::Hedge, false, board, out);
        }
    }
}

/// Whether an attempt is a half-open breaker's probe without a token so far.
pub(super) const fn is_silent_probe(attempt: &Attempt) -> bool {
    attempt.ticket.probe && attempt.in_flight() && attempt.first_token.is_none()
}
