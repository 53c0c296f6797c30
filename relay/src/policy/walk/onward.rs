//! What follows an attempt's end: the answer, the same rung again, the next
//! rung, a short wait, or the end.

use super::{Pause, State, Walk, answered};
use crate::policy::action::{Action, Told};
use crate::policy::attempt::AttemptId;
use crate::policy::board::Board;
use crate::policy::exhausted::{failure, told};
use crate::policy::input::Ending;
use crate::policy::ladder::{OnEmpty, OnRefusal, RungIndex};
use crate::policy::table::{Again, Next, row};
use crate::policy::time::Time;
use shared::{AttemptKind, AttemptOutcome, PassedOver, RequestOutcome};
use std::time::Duration;

/// The first back-off's upper end; doubles with every retry.
const BACK_OFF: Duration = Duration::from_millis(250);
/// No back-off is longer.
const LONGEST_BACK_OFF: Duration = Duration::from_millis(1500);
/// A wait must leave this much of the third clock for the answer itself.
const ROOM_FOR_AN_ANSWER: Duration = Duration::from_secs(5);
/// So many empty answers are believed.
const EMPTIES_BELIEVED: usize = 2;

impl Walk {
    /// Goes on after `id` ended with `outcome`.
    pub(super) fn after(
        &mut self,
        now: Time,
        id: AttemptId,
        outcome: AttemptOutcome,
        ending: Option<&Ending>,
        board: &Board,
        out: &mut Vec<Action>,
    ) {
        // A refusal by status is an error; one that ended properly is an answer.
        let was_answer = !matches!(ending, Some(Ending::Status { .. } | Ending::ErrorEvent { .. }));
        match (self.state, outcome) {
            (State::Ended, _) => {}
            (_, AttemptOutcome::Ok) => self.commit_and_complete(id, RequestOutcome::Ok, out),
            (State::Committed(_), AttemptOutcome::Refused | AttemptOutcome::Empty)
                if was_answer =>
            {
                self.commit_and_complete(id, answered(outcome), out);
            }
            (State::Committed(_), broken) => {
                self.fail(told(Told::Broken(broken), 200, RequestOutcome::Failed), out);
            }
            (State::Walking, AttemptOutcome::Refused) if was_answer => {
                if self.on_refusal(id, board) == OnRefusal::Next
                    && self.next_candidate(now, board, None).is_some()
                {
                    self.onward(now, id, outcome, ending, board, out);
                } else {
                    self.commit_and_complete(id, RequestOutcome::Refused, out);
                }
            }
            (State::Walking, AttemptOutcome::Empty) if self.on_empty(id, board) == OnEmpty::End => {
                self.commit_and_complete(id, RequestOutcome::Ok, out);
            }
            (State::Walking, _) => self.onward(now, id, outcome, ending, board, out),
        }
    }

    fn onward(
        &mut self,
        now: Time,
        id: AttemptId,
        outcome: AttemptOutcome,
        ending: Option<&Ending>,
        board: &Board,
        out: &mut Vec<Action>,
    ) {
        // Another attempt in flight, or about to be, carries on alone.
        if self.in_flight().next().is_some() || self.pause.is_some() {
            return;
        }
        let Some((rung, plain)) = self.attempt(id).map(|attempt| (attempt.rung, attempt.plain))
        else {
            return;
        };
        let row = row(outcome);
        if self.two_empties() || !self.may_send_again(ending) {
            return self.give_up(now, board, out);
        }
        if names_added_field(ending) && !plain && self.has_attempts_left() {
            return self.dial(now, rung, AttemptKind::Retry, true, out);
        }
        if row.again == Again::Retries && self.may_retry(now, rung, board) {
            let until = now.plus(self.back_off(rung));
            self.pause = Some(Pause { until, rung, kind: AttemptKind::Retry });
            return;
        }
        let goes_on = match row.next {
            Next::Never => false,
            Next::Yes | Next::LargerContext | Next::Uncommitted | Next::OnEmpty => true,
            Next::OnRefusal => self.on_refusal(id, board) == OnRefusal::Next,
        };
        if !goes_on {
            return self.give_up(now, board, out);
        }
        let than = (row.next == Next::LargerContext).then_some(rung);
        match self.next_candidate(now, board, than) {
            Some(next) => self.dial(now, next, AttemptKind::Failover, false, out),
            None => self.wait_or_give_up(now, board, out),
        }
    }

    /// The next rung that has not been called; with `than`, only one with a larger context.
    pub(super) fn next_candidate(
        &self,
        now: Time,
        board: &Board,
        than: Option<RungIndex>,
    ) -> Option<RungIndex> {
        if !self.has_attempts_left() || !self.may_send_elsewhere() {
            return None;
        }
        let context = |rung| board.spec(rung).and_then(|spec| spec.context).unwrap_or(u64::MAX);
        // Once a provider has said that the prompt is too long, smaller rungs would say the same.
        let too_small = self
            .attempts
            .iter()
            .filter(|attempt| attempt.outcome == Some(AttemptOutcome::ContextExceeded))
            .map(|attempt| context(attempt.rung))
            .chain(than.map(context))
            .max();
        self.untried()
            .filter(|&rung| too_small.is_none_or(|least| context(rung) > least))
            .find(|&rung| board.usable(rung, now).is_ok())
    }

    /// Waits for a hold if nobody else is usable and it ends soon; else the walk is over.
    pub(super) fn wait_or_give_up(&mut self, now: Time, board: &Board, out: &mut Vec<Action>) {
        match self.wait(now, board) {
            Some(pause) => self.pause = Some(pause),
            None => self.give_up(now, board, out),
        }
    }

    fn wait(&self, now: Time, board: &Board) -> Option<Pause> {
        if self.ladder.fail_fast || !self.has_attempts_left() || !self.may_send_elsewhere() {
            return None;
        }
        let latest = self
            .started
            .plus(self.ladder.total.saturating_sub(ROOM_FOR_AN_ANSWER))
            .min(self.started.plus(self.ladder.early_headers))
            .min(now.plus(self.ladder.patience()));
        let passed = self.plan.passed_over.iter();
        let held = passed.filter(|(_, reason)| *reason == PassedOver::Hold).map(|(rung, _)| *rung);
        let (rung, until) = self
            .plan
            .candidates
            .iter()
            .copied()
            .chain(held)
            .filter(|&rung| self.would_be_called_again(rung))
            .filter_map(|rung| Some((rung, board.held_until(rung, now)?)))
            .min_by_key(|(_, until)| *until)?;
        let kind = match (self.attempts.is_empty(), self.calls_of(rung)) {
            (true, _) => AttemptKind::First,
            (false, 0) => AttemptKind::Failover,
            (false, _) => AttemptKind::Retry,
        };
        (until <= latest).then_some(Pause { until, rung, kind })
    }

    /// Whether waiting for `rung` makes sense: not called yet, or refused only for the moment.
    fn would_be_called_again(&self, rung: RungIndex) -> bool {
        self.attempts
            .iter()
            .filter(|attempt| attempt.rung == rung)
            .filter_map(|attempt| attempt.outcome)
            .all(|outcome| row(outcome).again != Again::Never)
    }

    pub(super) fn give_up(&mut self, now: Time, board: &Board, out: &mut Vec<Action>) {
        self.fail(failure(&self.attempts, &self.plan, board, now), out);
    }

    fn may_retry(&self, now: Time, rung: RungIndex, board: &Board) -> bool {
        if self.ladder.fail_fast || board.usable(rung, now).is_err() {
            return false;
        }
        let retries = self.ladder.retries.unwrap_or_else(|| {
            match (self.ladder.interactive, self.next_candidate(now, board, None)) {
                (false, _) => 2,
                (true, Some(_)) => 0,
                (true, None) => 1,
            }
        });
        // A retry may not take the place of a candidate that was never called.
        let spoken_for = self.attempts.len().saturating_add(self.untried().count());
        let calls = self.calls_of(rung);
        calls <= usize::try_from(retries).unwrap_or(usize::MAX)
            && spoken_for < self.ladder.max_attempts()
    }

    fn back_off(&mut self, rung: RungIndex) -> Duration {
        let doublings = u32::try_from(self.calls_of(rung).saturating_sub(1)).unwrap_or(u32::MAX);
        let doubled = BACK_OFF.saturating_mul(1_u32.checked_shl(doublings).unwrap_or(u32::MAX));
        doubled.min(LONGEST_BACK_OFF).mul_f64(self.rng.f64())
    }

    fn calls_of(&self, rung: RungIndex) -> usize {
        self.attempts.iter().filter(|attempt| attempt.rung == rung).count()
    }

    fn untried(&self) -> impl Iterator<Item = RungIndex> {
        self.plan.candidates.iter().copied().filter(|&rung| self.calls_of(rung) == 0)
    }

    fn has_attempts_left(&self) -> bool {
        self.attempts.len() < self.ladder.max_attempts()
    }

    fn two_empties(&self) -> bool {
        let empty = |attempt: &&_| is_empty(attempt);
        self.attempts.iter().filter(empty).count() >= EMPTIES_BELIEVED
    }

    /// Whether this request may be sent once more after `ending`.
    fn may_send_again(&self, ending: Option<&Ending>) -> bool {
        if !self.has_side_effects() {
            return true;
        }
        match ending {
            // The body never left, or the provider said that it would not act on it.
            Some(Ending::NoHead(head)) => !head.body_was_sent(),
            Some(Ending::Status { .. } | Ending::ErrorEvent { .. }) => {
                self.attempts.last().and_then(|attempt| attempt.outcome).is_some_and(|outcome| {
                    !matches!(outcome, AttemptOutcome::ServerError | AttemptOutcome::Junk)
                        && !matches!(outcome, AttemptOutcome::StreamError)
                })
            }
            Some(Ending::Proper(_) | Ending::Broken(_)) | None => false,
        }
    }

    /// Whether a call beside, or instead of, one still in flight is allowed at all.
    fn may_send_elsewhere(&self) -> bool {
        !self.has_side_effects() || self.in_flight().next().is_none()
    }

    fn has_side_effects(&self) -> bool {
        self.need.side_effects && !self.ladder.side_effects_none
    }

    fn on_refusal(&self, id: AttemptId, board: &Board) -> OnRefusal {
        let spec = self.attempt(id).and_then(|attempt| board.spec(attempt.rung));
        spec.map_or(OnRefusal::End, |spec| spec.on_refusal)
    }

    fn on_empty(&self, id: AttemptId, board: &Board) -> OnEmpty {
        let spec = self.attempt(id).and_then(|attempt| board.spec(attempt.rung));
        spec.map_or(OnEmpty::Next, |spec| spec.on_empty)
    }
}

fn is_empty(attempt: &crate::policy::attempt::Attempt) -> bool {
    attempt.outcome == Some(AttemptOutcome::Empty)
}

const fn names_added_field(ending: Option<&Ending>) -> bool {
    matches!(ending, Some(Ending::Status { names_added_field: true, .. }))
}
