//! An operator takes a rung out while walks are on it.
//!
//! Whoever forces a rung open wants nobody to wait for it any longer. What is
//! committed belongs to its client and runs on, unless the operator says that it
//! is to end; everything else on the rung is cut and goes elsewhere at once. That costs no budget: it is not the
//! request's doing, and a whole ladder's traffic may have to move together.

use super::{State, Walk};
use crate::action::{Action, FailureReason};
use crate::attempt::{Attempt, End};
use crate::board::Board;
use crate::exhausted::plain_failure;
use crate::index::AttemptId;
use crate::index::RungIndex;
use crate::time::Time;
use shared::{AttemptKind, Cause, PassedOver, RequestOutcome};

impl Walk {
    /// `rung` was forced open.
    pub(super) fn forced(
        &mut self,
        now: Time,
        rung: RungIndex,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        if self.state != State::Walking {
            return;
        }
        // An answer that has named its finish reason is whole: cutting it would help nobody.
        let is_cut = |attempt: &&Attempt| {
            attempt.rung == rung && attempt.in_flight() && attempt.finished.is_none()
        };
        let cut: Vec<AttemptId> = self.attempts.iter().filter(is_cut).map(|a| a.id).collect();
        for &id in &cut {
            self.close(now, id, End::cancelled(Cause::Operator), board, out);
        }
        let waited_for_it = self.pause.is_some_and(|pause| pause.rung == rung);
        if waited_for_it {
            self.pause = None;
        }
        let is_left = self.in_flight().next().is_some() || self.pause.is_some();
        if is_left || (cut.is_empty() && !waited_for_it) {
            return;
        }
        if now >= self.started.plus(self.ladder.total) {
            return self
                .fail(plain_failure(FailureReason::Deadline, 504, RequestOutcome::Deadline), out);
        }
        // Its body was sent: nobody knows what it has set off already.
        if self.has_side_effects() && !cut.is_empty() {
            return self.give_up(now, board, out);
        }
        self.note_passed_over(now, board);
        match self.next_candidate(now, board) {
            Some(next) => {
                let first = self.attempts.is_empty();
                let kind = if first { AttemptKind::First } else { AttemptKind::Failover };
                self.dial(now, next, kind, false, board, out);
            }
            None if self.kept.is_some() => self.give_up(now, board, out),
            None if self.is_all_forced_open(now, board) => {
                self.fail(
                    plain_failure(FailureReason::AllForcedOpen, 503, RequestOutcome::Failed),
                    out,
                );
            }
            None => self.wait_or_give_up(now, false, board, out),
        }
    }

    /// Streams of `rung` are to end: of two evils, an answer that is cut and says so.
    pub(super) fn cut_stream(
        &mut self,
        now: Time,
        rung: RungIndex,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let State::Committed(id) = self.state else { return };
        if self.attempt(id).is_some_and(|attempt| attempt.rung == rung) {
            self.stop(now, Cause::Operator, board, out);
        }
    }

    fn is_all_forced_open(&self, now: Time, board: &Board) -> bool {
        let mut rungs = self.ladder.rungs.iter();
        rungs.all(|&rung| board.usable(rung, now) == Err(PassedOver::Forced))
    }
}
