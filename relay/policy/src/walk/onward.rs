//! What follows an attempt's end: the answer, the same rung again, the next
//! rung, a short wait, or the end.

use super::{Pause, State, Walk, answered};
use crate::action::{Action, Failure, FailureReason};
use crate::attempt::Attempt;
use crate::board::Board;
use crate::budget::Budget;
use crate::exhausted::{failure, plain_failure};
use crate::index::AttemptId;
use crate::index::RungIndex;
use crate::input::{Ending, NoHead};
use crate::ladder::{OnEmpty, OnRefusal, RETRIES_IF_NOBODY_WAITS};
use crate::outcome::is_of_this_rung;
use crate::table::{Again, Next, row};
use crate::time::Time;
use shared::{AttemptKind, AttemptOutcome, PassedOver, RequestOutcome};
use std::time::Duration;

/// The longest first back-off; it doubles with every retry.
const BACK_OFF: Duration = Duration::from_millis(250);
/// No back-off is longer.
const LONGEST_BACK_OFF: Duration = Duration::from_millis(1500);
/// A wait must leave this much of the third clock for the answer itself.
const ROOM_FOR_AN_ANSWER: Duration = Duration::from_secs(5);
/// How long to wait before a taken probe slot is checked again.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How many empty answers end the walk. Those of free rungs are not counted.
const EMPTIES_BELIEVED: usize = 2;

impl Walk {
    /// Goes on after `id` ended with `outcome`.
    pub(super) fn after(
        &mut self,
        now: Time,
        id: AttemptId,
        outcome: AttemptOutcome,
        ending: Option<&Ending>,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        // A refusal by status is an error; one that ended properly is an answer.
        let is_answer = !matches!(ending, Some(Ending::Status { .. } | Ending::ErrorEvent { .. }));
        match (self.state, outcome) {
            (State::Ended, _) => {}
            (_, AttemptOutcome::Ok) => {
                self.commit_and_complete(now, id, RequestOutcome::Ok, board, out);
            }
            (State::Committed(_), AttemptOutcome::Refused | AttemptOutcome::Empty) if is_answer => {
                self.commit_and_complete(now, id, answered(outcome), board, out);
            }
            (State::Committed(_), broken) => {
                let failure =
                    plain_failure(FailureReason::Broken(broken), 200, RequestOutcome::Failed);
                self.fail(Failure { answered_by: Some(id), ..failure }, out);
            }
            (State::Walking, AttemptOutcome::Refused) if is_answer => {
                self.kept = Some((id, RequestOutcome::Refused));
                self.onward(now, id, outcome, ending, board, out);
            }
            (State::Walking, AttemptOutcome::Empty) if self.on_empty(id) == OnEmpty::End => {
                self.kept = Some((id, RequestOutcome::Ok));
                self.onward(now, id, outcome, ending, board, out);
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
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        // Another attempt, in flight or about to be dialled, goes on. A failed hedge may be
        // replaced.
        if self.in_flight().next().is_some() || self.pause.is_some() {
            let kind = self.attempt(id).map(|attempt| attempt.kind);
            // If every other rung would answer the same, the attempt is not replaced.
            let is_final = row(outcome).next == Next::Never && !ending.is_some_and(is_of_this_rung);
            if let (Some(kind), Some(_explicit), false) = (kind, ending, is_final) {
                self.replace(now, kind, board, out);
            }
            return;
        }
        if now >= self.started.plus(self.ladder.total) {
            return self
                .fail(plain_failure(FailureReason::Deadline, 504, RequestOutcome::Deadline), out);
        }
        let Some(attempt) = self.attempt(id) else { return };
        let (rung, plain, kind) = (attempt.rung, attempt.plain, attempt.kind);
        if kind == AttemptKind::LastResort {
            return self.give_up(now, board, out);
        }
        let row = row(outcome);
        let complains = outcome == AttemptOutcome::BadRequest && names_added_field(ending);
        let is_ours = complains && !plain;
        let stale = matches!(ending, Some(Ending::NoHead(NoHead::Stale)));
        if (is_ours || stale) && self.has_attempts_left() {
            // The cause was the relay's own field or its reused connection: that is no evidence
            // about the request or the rung.
            if let Some(attempt) = self.attempts.iter_mut().find(|attempt| attempt.id == id) {
                attempt.repeated = true;
                attempt.stale = stale;
            }
            // Another walk may have learnt meanwhile that the rung must not be called.
            if board.usable(rung, now).is_ok() {
                return self.dial(now, rung, AttemptKind::Retry, plain || is_ours, board, out);
            }
        }
        // An error about the relay's translation is not about the request, and another rung may
        // have what this one lacks.
        let is_wording = complains && self.is_translated(id);
        let elsewhere = is_wording || ending.is_some_and(is_of_this_rung);
        if let Some(attempt) = self.attempts.iter_mut().find(|attempt| attempt.id == id) {
            attempt.elsewhere = elsewhere;
        }
        if self.answers_agree() || !self.may_send_again(outcome, ending) {
            return self.give_up(now, board, out);
        }
        let budget = |board: &mut Board| board.budget(self.at).is_some_and(Budget::take_retry);
        if row.again == Again::Retries && self.may_retry(now, rung, board) && budget(board) {
            let until = now.plus(self.back_off(rung));
            self.pause = Some(Pause { until, rung, kind: AttemptKind::Retry, paid: true });
            return;
        }
        if row.again == Again::Once && self.may_ask_again(now, id, board) && budget(board) {
            return self.dial(now, rung, AttemptKind::Retry, plain, board, out);
        }
        let goes_on = match row.next {
            Next::Never => is_ours || elsewhere,
            Next::Yes | Next::LargerContext | Next::Uncommitted => true,
            Next::OnEmpty => self.on_empty(id) == OnEmpty::Next,
            Next::OnRefusal => self.on_refusal(id) == OnRefusal::Next,
        };
        if !goes_on {
            return self.give_up(now, board, out);
        }
        self.note_passed_over(now, board);
        match self.next_candidate(now, board) {
            Some(next) => {
                if self.is_paid_for(next, outcome, board) {
                    self.dial(now, next, AttemptKind::Failover, false, board, out);
                } else {
                    self.give_up(now, board, out);
                }
            }
            // A walk that already has an answer does not wait for another one.
            None if self.kept.is_some() => self.give_up(now, board, out),
            None => self.wait_or_give_up(now, false, board, out),
        }
    }

    /// Whether a failover to `next` may be made. The first one is free, and so is one that follows
    /// a 429. A later one takes a token. If the bucket is empty, it is still made to a rung at full
    /// weight.
    fn is_paid_for(&mut self, next: RungIndex, outcome: AttemptOutcome, board: &mut Board) -> bool {
        self.failovers = self.failovers.saturating_add(1);
        if self.failovers == 1 {
            return true;
        }
        if outcome == AttemptOutcome::RateLimited && !self.limited_once {
            self.limited_once = true;
            return true;
        }
        board.budget(self.at).is_some_and(Budget::take_retry) || board.is_full(next)
    }

    /// Passes over a candidate that is not usable any more; the journal records the reason.
    pub(super) fn note_passed_over(&mut self, now: Time, board: &Board) {
        let untried: Vec<_> = self.untried().collect();
        for rung in untried {
            if let Err(reason) = board.usable(rung, now)
                && !self.plan.passed_over.contains(&(rung, reason))
            {
                self.plan.passed_over.push((rung, reason));
            }
        }
    }

    /// The next rung that has not been called and is usable.
    pub(super) fn next_candidate(&self, now: Time, board: &Board) -> Option<RungIndex> {
        if !self.has_attempts_left() || !self.may_send_elsewhere() {
            return None;
        }
        self.reserve(board).find(|&rung| board.usable(rung, now).is_ok())
    }

    /// Rungs that have not been called but could be, in the plan's order; some of them only after a
    /// hold or a cool-down. A rung that was held when the walk was planned may be free by now.
    pub(super) fn reserve<'a>(&'a self, board: &'a Board) -> impl Iterator<Item = RungIndex> + 'a {
        let for_now =
            |reason| matches!(reason, PassedOver::Hold | PassedOver::Open | PassedOver::NoSlot);
        let passed = self.plan.passed_over.iter().filter(move |(_, reason)| for_now(*reason));
        let passed = passed.map(|(rung, _)| *rung);
        let planned = self.plan.candidates.iter().copied();
        planned
            .chain(passed.filter(|rung| !self.plan.candidates.contains(rung)))
            .filter(|&rung| self.calls_of(rung) == 0)
            .filter(|&rung| self.has_room(rung, board))
    }

    /// After an error that the prompt is too long, rungs whose context is known to be no larger are
    /// not called. If one of the two contexts is unknown, only rungs of the same model are not
    /// called.
    fn has_room(&self, rung: RungIndex, board: &Board) -> bool {
        let Some(spec) = board.spec(rung) else { return false };
        self.attempts
            .iter()
            .filter(|attempt| attempt.outcome == Some(AttemptOutcome::ContextExceeded))
            .all(|refused| match (spec.context, refused.spec.context) {
                (Some(context), Some(exceeded)) => context > exceeded,
                _ => spec.model != refused.spec.model,
            })
    }

    /// When a rung may be usable again: a hold ends, or a breaker has cooled down.
    pub(super) fn next_usable(&self, now: Time, board: &Board) -> Option<Time> {
        // The probe slot of a half-open rung may become free at any time: check again soon.
        let soon = now.plus(LOOK_AGAIN);
        let held = |rung| board.held_until(rung, now);
        let reopens = |rung| board.reopens(rung).map(|at| at.max(soon));
        self.reserve(board).filter_map(|rung| held(rung).or_else(|| reopens(rung))).min()
    }

    /// Waits for a hold that ends soon if no other rung is usable; otherwise the walk ends. A call
    /// beyond the first one is paid for, because all waiting requests come back together. It is
    /// paid for once (`paid`), however often the hold is lengthened.
    pub(super) fn wait_or_give_up(
        &mut self,
        now: Time,
        paid: bool,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let pause = self.wait(now, board).and_then(|pause| {
            let paid = paid
                || match pause.kind {
                    AttemptKind::First => false,
                    AttemptKind::Failover if self.failovers == 0 => {
                        self.failovers = 1;
                        true
                    }
                    _ if board.budget(self.at).is_some_and(Budget::take_retry) => true,
                    _ => return None,
                };
            Some(Pause { paid, ..pause })
        });
        match pause {
            Some(pause) => self.pause = Some(pause),
            None => self.give_up(now, board, out),
        }
    }

    fn wait(&mut self, now: Time, board: &Board) -> Option<Pause> {
        if self.ladder.fail_fast || !self.has_attempts_left() || !self.may_send_elsewhere() {
            return None;
        }
        // Measured from the first wait, so that holds which other walks lengthen do not add up.
        let patience = now.plus(self.ladder.patience());
        let patience = *self.patience_ends.get_or_insert(patience);
        let latest = self
            .started
            .plus(self.ladder.total.saturating_sub(ROOM_FOR_AN_ANSWER))
            .min(self.started.plus(self.ladder.early_headers))
            .min(patience);
        let rungs = self.ladder.rungs.iter().copied();
        let (rung, until) = rungs
            .filter(|&rung| self.is_worth_waiting_for(now, rung, board))
            .filter_map(|rung| Some((rung, board.held_until(rung, now)?)))
            .min_by_key(|(_, until)| *until)?;
        let kind = match (self.attempts.is_empty(), self.calls_of(rung)) {
            (true, _) => AttemptKind::First,
            (false, 0) => AttemptKind::Failover,
            (false, _) => AttemptKind::Retry,
        };
        (until <= latest).then_some(Pause { until, rung, kind, paid: false })
    }

    /// Whether the rung has not been called yet, or its last outcome allows another call.
    fn is_worth_waiting_for(&self, now: Time, rung: RungIndex, board: &Board) -> bool {
        let last = self.attempts.iter().rev().find(|attempt| attempt.rung == rung);
        let outcome = last.and_then(|attempt| attempt.outcome);
        let Some((last, outcome)) = last.zip(outcome) else {
            return self.reserve(board).any(|other| other == rung);
        };
        self.has_room_for_a_retry()
            && match row(outcome).again {
                _ if last.repeated => true,
                Again::Never | Again::Once => false,
                Again::AfterHold => true,
                Again::Retries => self.has_retries_left(now, rung, board),
            }
    }

    /// No usable rung is left: the client gets the answer that was passed over, or the error of the
    /// highest rank.
    pub(super) fn give_up(&mut self, now: Time, board: &mut Board, out: &mut Vec<Action>) {
        match self.kept {
            Some((id, outcome)) => self.commit_and_complete(now, id, outcome, board, out),
            None => self.fail(failure(&self.attempts, &self.plan, board, now), out),
        }
    }

    /// Whether the same rung may be called once more, with the problem of its answer.
    fn may_ask_again(&self, now: Time, id: AttemptId, board: &Board) -> bool {
        let Some(last) = self.attempt(id) else { return false };
        let same =
            |attempt: &&Attempt| attempt.rung == last.rung && attempt.outcome == last.outcome;
        !self.ladder.fail_fast
            && self.attempts.iter().filter(same).count() == 1
            && self.has_room_for_a_retry()
            && board.usable(last.rung, now).is_ok()
    }

    fn may_retry(&self, now: Time, rung: RungIndex, board: &Board) -> bool {
        !self.ladder.fail_fast
            && board.usable(rung, now).is_ok()
            && self.has_room_for_a_retry()
            && self.has_retries_left(now, rung, board)
    }

    /// A retry may not take the place of a candidate that was never called.
    fn has_room_for_a_retry(&self) -> bool {
        let spoken_for = self.attempts.len().saturating_add(self.untried().count());
        spoken_for < self.ladder.max_attempts()
    }

    fn has_retries_left(&self, now: Time, rung: RungIndex, board: &Board) -> bool {
        let retries = self.ladder.retries.unwrap_or_else(|| {
            match (self.ladder.interactive, self.next_candidate(now, board)) {
                (false, _) => RETRIES_IF_NOBODY_WAITS,
                (true, Some(_)) => 0,
                (true, None) => 1,
            }
        });
        let mine = |attempt: &&Attempt| attempt.rung == rung && !attempt.repeated;
        let calls = self.attempts.iter().filter(mine).count();
        calls <= usize::try_from(retries).unwrap_or(usize::MAX)
    }

    fn back_off(&mut self, rung: RungIndex) -> Duration {
        let doublings = u32::try_from(self.calls_of(rung).saturating_sub(1)).unwrap_or(u32::MAX);
        let doubled = BACK_OFF.saturating_mul(1_u32.checked_shl(doublings).unwrap_or(u32::MAX));
        doubled.min(LONGEST_BACK_OFF).mul_f64(self.rng.f64())
    }

    fn calls_of(&self, rung: RungIndex) -> usize {
        self.attempts.iter().filter(|attempt| attempt.rung == rung).count()
    }

    pub(super) fn untried(&self) -> impl Iterator<Item = RungIndex> {
        self.plan.candidates.iter().copied().filter(|&rung| self.calls_of(rung) == 0)
    }

    pub(super) fn has_attempts_left(&self) -> bool {
        self.attempts.len() < self.ladder.max_attempts()
    }

    /// Whether the attempts agree that the request is the cause: two empty answers of paid rungs, or
    /// a provider's error about the request.
    fn answers_agree(&self) -> bool {
        let ended_so = |outcome| {
            let mine =
                move |attempt: &&Attempt| attempt.outcome == Some(outcome) && !attempt.repeated;
            self.attempts.iter().filter(mine)
        };
        let paid = |attempt: &&Attempt| !attempt.spec.free;
        ended_so(AttemptOutcome::Empty).filter(paid).count() >= EMPTIES_BELIEVED
            || ended_so(AttemptOutcome::BadRequest).any(|attempt| !attempt.elsewhere)
    }

    /// Whether this attempt's rung got the request in another dialect than the client's.
    fn is_translated(&self, id: AttemptId) -> bool {
        self.attempt(id).is_some_and(|attempt| attempt.spec.dialect != self.need.dialect)
    }

    /// Whether this request may be sent once more after an attempt that ended so.
    fn may_send_again(&self, outcome: AttemptOutcome, ending: Option<&Ending>) -> bool {
        if !self.has_side_effects() {
            return true;
        }
        match ending {
            // The body was not sent.
            Some(Ending::NoHead(head)) => !head.body_was_sent(),
            // A status shows that the provider did not act on the request, unless it is the status
            // of a broken server.
            Some(Ending::Status { .. }) => {
                !matches!(outcome, AttemptOutcome::ServerError | AttemptOutcome::Junk)
            }
            // After a 200 the provider may already have acted on it.
            Some(Ending::ErrorEvent { .. } | Ending::Proper(_) | Ending::Broken(_)) | None => false,
        }
    }

    /// Whether another rung may be called now. A request with side effects may not have two
    /// attempts in flight.
    fn may_send_elsewhere(&self) -> bool {
        !self.has_side_effects() || self.in_flight().next().is_none()
    }

    pub(super) fn has_side_effects(&self) -> bool {
        self.need.side_effects && !self.ladder.side_effects_none
    }

    fn on_refusal(&self, id: AttemptId) -> OnRefusal {
        self.attempt(id).map_or(OnRefusal::End, |attempt| attempt.spec.on_refusal)
    }

    fn on_empty(&self, id: AttemptId) -> OnEmpty {
        self.attempt(id).map_or(OnEmpty::Next, |attempt| attempt.spec.on_empty)
    }
}

const fn names_added_field(ending: Option<&Ending>) -> bool {
    matches!(ending, Some(Ending::Status { names_added_field: true, .. }))
}
