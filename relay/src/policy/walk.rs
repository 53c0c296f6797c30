//! The walk: one request's progress on its ladder.
//!
//! This file takes the inputs apart and keeps the attempts; [`clocks`] holds
//! the deadlines, [`onward`] decides what follows a failure.
//!
//! Several attempts may be in flight at once. Today only one ever is, since
//! nothing here starts a second; a hedge or a race will dial more through
//! [`Walk::dial`], and every rule below is already written for many.

mod clocks;
mod onward;

use crate::policy::action::{Action, Failure, Told};
use crate::policy::attempt::{Attempt, AttemptId, End};
use crate::policy::board::Board;
use crate::policy::exhausted::told;
use crate::policy::input::{Answer, Ending, Input};
use crate::policy::ladder::{LadderSpec, Need, OnRefusal, RungIndex, RungSpec};
use crate::policy::outcome::{judge, judge_answer};
use crate::policy::plan::{Plan, plan};
use crate::policy::time::Time;
use shared::{AttemptKind, AttemptOutcome, Cause, PassedOver, RequestOutcome};
use std::sync::Arc;

/// Where the walk stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing of any attempt has reached the client.
    Walking,
    /// The client belongs to this attempt.
    Committed(AttemptId),
    /// Over.
    Ended,
}

/// A dial that is put off: a back-off before a retry, or the end of a hold.
#[derive(Debug, Clone, Copy)]
struct Pause {
    until: Time,
    rung: RungIndex,
    kind: AttemptKind,
}

/// One request's progress on its ladder.
#[derive(Debug)]
pub struct Walk {
    pub(super) ladder: Arc<LadderSpec>,
    need: Need,
    pub(super) rng: fastrand::Rng,
    pub(super) started: Time,
    state: State,
    plan: Plan,
    attempts: Vec<Attempt>,
    pause: Option<Pause>,
    /// When waiting for holds has taken long enough; set by the first wait.
    patience_ends: Option<Time>,
    /// An answer that was passed over for a better one: it is the answer if none comes.
    kept: Option<(AttemptId, RequestOutcome)>,
    /// Whether the status has gone out before a token.
    head_sent: bool,
}

impl Walk {
    /// A walk accepted at `now`; give it [`Input::Start`] first. `rng` gives its jitter.
    #[must_use]
    pub fn new(now: Time, ladder: Arc<LadderSpec>, need: Need, rng: fastrand::Rng) -> Self {
        Self {
            ladder,
            need,
            rng,
            started: now,
            state: State::Walking,
            plan: Plan::default(),
            attempts: Vec::new(),
            pause: None,
            patience_ends: None,
            kept: None,
            head_sent: false,
        }
    }

    /// Takes one input and appends what is to be done. Inputs about attempts
    /// that have ended, and all inputs after the walk's end, are ignored.
    pub fn handle(&mut self, now: Time, input: Input, board: &mut Board, out: &mut Vec<Action>) {
        if self.is_over() {
            return;
        }
        match input {
            Input::Start => self.start(now, board, out),
            Input::Token { attempt, refusal } => self.token(now, attempt, refusal, board, out),
            Input::Ping(attempt) => self.ping(now, attempt, board),
            Input::Finished(attempt, answer) => {
                if let Some(attempt) = self.live(attempt) {
                    attempt.finished.get_or_insert((now, answer));
                }
            }
            Input::Ended(attempt, ending) => self.ended(now, attempt, &ending, board, out),
            Input::Unblocked(span) => {
                for attempt in self.attempts.iter_mut().filter(|a| a.first_token.is_some()) {
                    attempt.last_heard = attempt.last_heard.plus(span).min(now);
                }
            }
            Input::Stop(cause) => self.stop(now, cause, board, out),
            Input::Wake => self.wake(now, board, out),
        }
    }

    /// Content came on a committed attempt: the hot path's short form of
    /// [`Input::Token`], which needs no board and causes no action.
    pub fn heard(&mut self, now: Time, attempt: AttemptId) {
        if let Some(attempt) = self.live(attempt) {
            attempt.hear(now);
        }
    }

    /// Whether `attempt` is the one that the client belongs to.
    #[must_use]
    pub fn is_committed(&self, attempt: AttemptId) -> bool {
        self.state == State::Committed(attempt)
    }

    /// Whether the walk has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state == State::Ended
    }

    /// Attempts made so far.
    #[must_use]
    pub fn attempts_made(&self) -> usize {
        self.attempts.len()
    }

    /// Rungs that the plan left out, and why.
    #[must_use]
    pub fn passed_over(&self) -> &[(RungIndex, PassedOver)] {
        &self.plan.passed_over
    }

    fn start(&mut self, now: Time, board: &mut Board, out: &mut Vec<Action>) {
        self.plan = plan(&self.ladder, &self.need, board, now);
        match self.plan.candidates.first().copied() {
            Some(rung) => self.dial(now, rung, AttemptKind::First, false, out),
            None => self.wait_or_give_up(now, board, out),
        }
    }

    fn dial(
        &mut self,
        now: Time,
        rung: RungIndex,
        kind: AttemptKind,
        plain: bool,
        out: &mut Vec<Action>,
    ) {
        let number = u32::try_from(self.attempts.len().saturating_add(1)).unwrap_or(u32::MAX);
        let attempt = AttemptId(number);
        // Once a rung has refused the relay's own fields it is not sent them again.
        let plain = plain || self.attempts.iter().any(|other| other.rung == rung && other.plain);
        // A rung that was held when the walk was planned may be called after all.
        self.plan.passed_over.retain(|(other, _)| *other != rung);
        self.attempts.push(Attempt::new(attempt, rung, now, plain));
        let once = self.has_side_effects();
        out.push(Action::Dial { attempt, rung, kind, plain, once });
    }

    fn token(
        &mut self,
        now: Time,
        id: AttemptId,
        refusal: bool,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let Some(attempt) = self.live(id) else { return };
        attempt.hear(now);
        let (rung, dialled) = (attempt.rung, attempt.dialled);
        if attempt.first_token.is_none() {
            attempt.first_token = Some(now);
            board.token(rung, dialled);
        }
        if self.state != State::Walking {
            return;
        }
        let held_back = refusal && self.goes_past_refusals(rung, now, board);
        if !held_back {
            self.cut_others(now, id, board, out);
            if self.need.stream {
                self.state = State::Committed(id);
                out.push(Action::Commit(id));
            }
        }
    }

    fn ping(&mut self, now: Time, id: AttemptId, board: &Board) {
        let Some(attempt) = self.live(id) else { return };
        if board.spec(attempt.rung).is_some_and(|spec| spec.pings_count) {
            attempt.last_heard = now;
        }
    }

    fn ended(
        &mut self,
        now: Time,
        id: AttemptId,
        ending: &Ending,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let Some(attempt) = self.live(id) else { return };
        if let Ending::Status { status, .. } = ending {
            attempt.status = Some(*status);
        }
        // After a finish reason only usage and terminator were due: a break there
        // takes nothing from the answer, an error object still says that it is wrong.
        let outcome = match (attempt.finished, ending) {
            (Some((_, answer)), Ending::Broken(_)) => judge_answer(answer),
            _ => judge(ending, attempt.first_token.is_some()),
        };
        let end = End { retry_after: retry_after(ending), ..outcome.into() };
        self.close(now, id, end, board, out);
        self.after(now, id, outcome, Some(ending), board, out);
    }

    fn stop(&mut self, now: Time, cause: Cause, board: &mut Board, out: &mut Vec<Action>) {
        if let Some((id, answer)) = self.finished_answer() {
            return self.stop_finished(now, id, answer, cause, board, out);
        }
        self.cut_all(now, End::cancelled(cause), board, out);
        let outcome = RequestOutcome::Cancelled;
        match cause {
            Cause::Drain => self.fail(with_cause(told(Told::Draining, 503, outcome), cause), out),
            Cause::RelayFault => {
                let outcome = RequestOutcome::Failed;
                self.fail(with_cause(told(Told::RelayFault, 500, outcome), cause), out);
            }
            _ => {
                self.state = State::Ended;
                out.push(Action::Abandon { outcome, cause: Some(cause) });
            }
        }
    }

    /// A stop after the finish reason: the client has the whole answer, or gets its ending.
    fn stop_finished(
        &mut self,
        now: Time,
        id: AttemptId,
        answer: Answer,
        cause: Cause,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let outcome = judge_answer(answer);
        self.close(now, id, outcome.into(), board, out);
        if matches!(cause, Cause::ClientGone | Cause::ClientStalled) {
            self.state = State::Ended;
            out.push(Action::Abandon { outcome: answered(outcome), cause: None });
        } else {
            self.commit_and_complete(now, id, answered(outcome), board, out);
        }
    }

    /// Ends an attempt: the one place where an outcome is given.
    fn close(
        &mut self,
        now: Time,
        id: AttemptId,
        end: End,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let Some(attempt) = self.live(id) else { return };
        let End { outcome, cause, retry_after, clock } = end;
        attempt.outcome = Some(outcome);
        board.ended(attempt.rung, now, attempt.dialled, outcome, retry_after);
        out.push(Action::AttemptEnded { attempt: id, outcome, cause, clock });
    }

    fn cut_others(
        &mut self,
        now: Time,
        winner: AttemptId,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let losers: Vec<_> = self.in_flight().filter(|&id| id != winner).collect();
        for id in losers {
            self.close(now, id, End::cancelled(Cause::LostRace), board, out);
        }
        self.pause = None;
    }

    fn cut_all(&mut self, now: Time, end: End, board: &mut Board, out: &mut Vec<Action>) {
        let all: Vec<_> = self.in_flight().collect();
        for id in all {
            self.close(now, id, end, board, out);
        }
        self.pause = None;
    }

    fn commit_and_complete(
        &mut self,
        now: Time,
        id: AttemptId,
        outcome: RequestOutcome,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        self.cut_others(now, id, board, out);
        if !self.is_committed(id) {
            out.push(Action::Commit(id));
        }
        self.state = State::Ended;
        out.push(Action::Complete { attempt: id, outcome });
    }

    fn fail(&mut self, failure: Failure, out: &mut Vec<Action>) {
        self.state = State::Ended;
        out.push(Action::Fail(failure));
    }

    /// Whether a refusal of `rung` is held back because somebody else may still answer.
    fn goes_past_refusals(&self, rung: RungIndex, now: Time, board: &Board) -> bool {
        board.spec(rung).is_some_and(|spec| spec.on_refusal == OnRefusal::Next)
            && self.next_candidate(now, board).is_some()
    }

    fn live(&mut self, id: AttemptId) -> Option<&mut Attempt> {
        self.attempts.iter_mut().find(|attempt| attempt.id == id && attempt.in_flight())
    }

    fn attempt(&self, id: AttemptId) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.id == id)
    }

    /// The client's answer, once it has named its finish reason.
    fn finished_answer(&self) -> Option<(AttemptId, Answer)> {
        let finished = |attempt: &Attempt| Some((attempt.id, attempt.finished?.1));
        match self.state {
            State::Committed(id) => finished(self.attempt(id)?),
            State::Walking if !self.need.stream => {
                self.attempts.iter().filter(|attempt| attempt.in_flight()).find_map(finished)
            }
            State::Walking | State::Ended => None,
        }
    }

    fn in_flight(&self) -> impl Iterator<Item = AttemptId> {
        self.attempts.iter().filter(|attempt| attempt.in_flight()).map(|attempt| attempt.id)
    }
}

/// How the request ended, if the client has an answer of this outcome.
const fn answered(outcome: AttemptOutcome) -> RequestOutcome {
    match outcome {
        AttemptOutcome::Refused => RequestOutcome::Refused,
        _ => RequestOutcome::Ok,
    }
}

const fn retry_after(ending: &Ending) -> Option<std::time::Duration> {
    match ending {
        Ending::Status { retry_after, .. } | Ending::ErrorEvent { retry_after, .. } => *retry_after,
        Ending::Proper(_) | Ending::Broken(_) | Ending::NoHead(_) => None,
    }
}

fn with_cause(failure: Failure, cause: Cause) -> Failure {
    Failure { cause: Some(cause), ..failure }
}

fn inter_token(ladder: &LadderSpec, spec: Option<&RungSpec>) -> std::time::Duration {
    spec.and_then(|spec| spec.inter_token).unwrap_or(ladder.inter_token)
}
