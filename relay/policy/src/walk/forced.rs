//! An operator forces a rung open while walks have attempts on it.
//!
//! No request waits for that rung any longer. A committed stream goes on, unless the operator also
//! cuts streams. Every other attempt on the rung is cut and fails over at once. That costs no
//! budget: the request did not cause it, and a whole ladder's traffic may have to move at once.

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
        // An answer with a finish reason is whole: cutting it would help no client.
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
        // Its body was sent: it may already have had effects.
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

    /// Cuts the streams of `rung`: their clients get an error in the stream.
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
