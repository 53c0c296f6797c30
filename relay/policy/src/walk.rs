//! The walk: one request's progress on its ladder.
//!
//! This file handles the inputs and keeps the attempts; [`clocks`] has the deadlines, [`onward`]
//! decides what follows a failure.
//!
//! Several attempts may be in flight at once: [`hedge`] starts the further ones.
//! [`forced`] handles a rung that an operator forces open meanwhile.

mod clocks;
mod forced;
mod hedge;
mod onward;

use crate::action::{Action, Failure, FailureReason};
use crate::attempt::{Attempt, End};
use crate::board::{Board, Report};
use crate::exhausted::plain_failure;
use crate::index::AttemptId;
use crate::index::{LadderIndex, RungIndex};
use crate::input::{Answer, Ending, Input};
use crate::ladder::{DEFAULT_TTFT, LadderSpec, Need, OnRefusal};
use crate::outcome::{is_excused, is_own_fault, is_suspicion, judge, judge_answer};
use crate::plan::{Plan, plan};
use crate::probe::Probe;
use crate::time::Time;
use hedge::is_silent_probe;
use shared::{AttemptKind, AttemptOutcome, Cause, PassedOver, RequestOutcome, TokenVerdict};
use std::sync::Arc;

/// The state of the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing of any attempt has reached the client.
    Walking,
    /// The client gets this attempt's bytes.
    Committed(AttemptId),
    /// Over.
    Ended,
}

/// A dial that waits: for the back-off before a retry, or for the end of a hold.
#[derive(Debug, Clone, Copy)]
struct Pause {
    until: Time,
    rung: RungIndex,
    kind: AttemptKind,
    /// Whether the call is already paid for. If its hold is lengthened, it takes no second token.
    paid: bool,
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
    /// The ladder's place on the board, for its budgets.
    at: LadderIndex,
    /// Its number on the board, which distinguishes its reports from another request's.
    number: u64,
    /// Hedges started, not counting replacements of failed ones.
    hedges: u32,
    /// A hedge was refused by the budget or found no usable rung: no other hedge is tried.
    hedge_refused: bool,
    /// A failed hedge has been replaced; that is done once.
    replaced: bool,
    /// Whether it was reported to the budget if a hedge has won.
    settled: bool,
    /// Failovers after an explicit failure, or from a rung that has opened.
    failovers: u32,
    /// The one failover after a 429 that is free of budget has been made.
    limited_once: bool,
    pub(super) attempts: Vec<Attempt>,
    pause: Option<Pause>,
    /// No wait for a hold lasts beyond this time; set by the first wait.
    patience_ends: Option<Time>,
    /// An answer that was passed over. The client gets it if no better one comes.
    kept: Option<(AttemptId, RequestOutcome)>,
    /// Whether the status was sent before the first token.
    head_sent: bool,
}

impl Walk {
    /// A walk of a request that was accepted at `now`. Its first input is [`Input::Start`]. `rng`
    /// is its source of chance.
    #[must_use]
    pub fn new(
        now: Time,
        at: LadderIndex,
        ladder: Arc<LadderSpec>,
        need: Need,
        rng: fastrand::Rng,
    ) -> Self {
        Self {
            at,
            number: 0,
            hedges: 0,
            hedge_refused: false,
            replaced: false,
            settled: false,
            failovers: 0,
            limited_once: false,
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

    /// Takes one input and appends the resulting actions to `out`. Inputs about attempts that have
    /// ended, and all inputs after the walk's end, are ignored.
    pub fn handle(&mut self, now: Time, input: Input, board: &mut Board, out: &mut Vec<Action>) {
        if self.is_over() {
            return;
        }
        board.serve(now, self.need.client);
        match input {
            Input::Start => self.start(now, board, out),
            Input::Token { attempt, refusal } => self.token(now, attempt, refusal, board, out),
            Input::Sent(attempt) => {
                if let Some(attempt) = self.live(attempt).filter(|attempt| !attempt.sent) {
                    (attempt.sent, attempt.dialled, attempt.last_sign_of_life) = (true, now, now);
                }
            }
            Input::Ping(attempt) => self.ping(now, attempt),
            Input::Finished(attempt, answer) => {
                if let Some(attempt) = self.live(attempt) {
                    attempt.finished.get_or_insert((now, answer));
                    board.finished(attempt.rung);
                }
            }
            Input::Ended(attempt, ending) => self.ended(now, attempt, &ending, board, out),
            Input::Unblocked(span) => {
                for attempt in self.attempts.iter_mut().filter(|a| a.first_token.is_some()) {
                    attempt.last_sign_of_life = attempt.last_sign_of_life.plus(span).min(now);
                }
            }
            Input::StoodStill { span, until } => {
                for attempt in self.attempts.iter_mut().filter(|attempt| attempt.in_flight()) {
                    attempt.skip(span, until);
                }
            }
            Input::Forced(rung) => self.forced(now, rung, board, out),
            Input::CutStream(rung) => self.cut_stream(now, rung, board, out),
            Input::Stop(cause) => self.stop(now, cause, board, out),
            Input::Wake => self.wake(now, board, out),
        }
    }

    /// Content came on a committed attempt: the hot path's short form of
    /// [`Input::Token`], which needs no board and causes no action.
    pub fn note_content(&mut self, now: Time, attempt: AttemptId) {
        if let Some(attempt) = self.live(attempt) {
            attempt.note_content(now);
        }
    }

    /// Whether the client gets the bytes of `attempt`.
    #[must_use]
    pub fn is_committed(&self, attempt: AttemptId) -> bool {
        self.state == State::Committed(attempt)
    }

    /// Whether `attempt` was counted as slow.
    #[must_use]
    pub fn is_slow(&self, attempt: AttemptId) -> bool {
        self.attempts.iter().any(|one| one.id == attempt && one.slow)
    }

    /// Whether nothing has reached the client yet.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.state == State::Walking
    }

    /// Whether `attempt` was refused in a way that may be about the request instead of our
    /// account.
    #[must_use]
    pub fn is_suspected(&self, attempt: AttemptId) -> bool {
        self.attempts.iter().any(|one| one.id == attempt && one.suspected)
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
        self.number = board.request(self.at);
        self.plan = plan(self.at, &self.ladder, &self.need, board, now);
        let candidates = &mut self.plan.candidates;
        board.order(&self.ladder, candidates, now, &mut self.rng);
        let kind = self.drill(board);
        match self.plan.candidates.first().copied() {
            Some(rung) => {
                self.dial(now, rung, kind, false, board, out);
                self.race(now, board, out);
            }
            None => match self.last_resort(board) {
                Some(rung) => self.dial(now, rung, AttemptKind::LastResort, false, board, out),
                None => self.wait_or_give_up(now, false, board, out),
            },
        }
    }

    /// A drill: a share of the requests skips rung one on purpose, so that the other rungs are
    /// known to work. The first of them that is closed at full weight is called. Rung one is then
    /// the last choice.
    fn drill(&mut self, board: &Board) -> AttemptKind {
        if self.ladder.drill <= 0.0 || self.rng.f64() >= self.ladder.drill {
            return AttemptKind::First;
        }
        let candidates = &mut self.plan.candidates;
        let others = candidates.iter().enumerate().skip(1);
        let full = others.filter(|(_, rung)| board.is_full(**rung)).map(|(at, _)| at).next();
        let Some(at) = full else { return AttemptKind::First };
        let drilled = candidates.remove(at);
        candidates.rotate_left(1);
        candidates.insert(0, drilled);
        AttemptKind::Drill
    }

    /// If no rung is usable and none was called, the open rung whose cool-down ends first is
    /// called, once.
    fn last_resort(&self, board: &Board) -> Option<RungIndex> {
        let open = |reason| matches!(reason, PassedOver::Open | PassedOver::NoSlot);
        let passed = self.plan.passed_over.iter().filter(|(_, reason)| open(*reason));
        passed.map(|(rung, _)| *rung).min_by_key(|&rung| board.reopens(rung))
    }

    fn dial(
        &mut self,
        now: Time,
        rung: RungIndex,
        kind: AttemptKind,
        plain: bool,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let number = u32::try_from(self.attempts.len().saturating_add(1)).unwrap_or(u32::MAX);
        let attempt = AttemptId(number);
        // If a rung has refused the relay's own fields, they are not sent to it again.
        let knows =
            |other: &Attempt| other.rung == rung && (other.plain || other.repeated && !other.stale);
        let plain = plain || self.attempts.iter().any(knows);
        let was_stale = self.attempts.iter().any(|other| other.rung == rung && other.stale);
        // A rung that was passed over when the walk was planned may be called after all.
        if kind != AttemptKind::LastResort {
            self.plan.passed_over.retain(|(other, _)| *other != rung);
        }
        let ticket = board.dial(rung, now, self.need.size());
        self.attempts.push(Attempt::new(
            attempt,
            rung,
            board.spec_at_dial(rung),
            kind,
            ticket,
            now,
            plain,
        ));
        if let Some(attempt) = self.attempts.last_mut() {
            attempt.sent = !self.need.sent_later;
        }
        let (once, probe) = (self.has_side_effects() || was_stale, ticket.probe);
        out.push(Action::Dial { attempt, rung, kind, plain, once, probe });
    }

    fn token(
        &mut self,
        now: Time,
        id: AttemptId,
        refusal: bool,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        self.report_slow_if_due(now, id, board);
        let size = self.need.size();
        let Some(attempt) = self.live(id) else { return };
        attempt.note_content(now);
        let (rung, kind) = (attempt.rung, attempt.kind);
        let past_refusals = attempt.spec.on_refusal == OnRefusal::Next;
        if attempt.first_token.is_none() {
            attempt.first_token = Some(now);
            let (dialled, ticket, slow) = (attempt.dialled, attempt.ticket, attempt.slow);
            board.token(rung, now, dialled, ticket, slow, size);
        }
        if self.state != State::Walking {
            return;
        }
        // A refusal is held back while another rung may still answer.
        let held_back = refusal && past_refusals && self.next_candidate(now, board).is_some();
        if !held_back {
            self.settle_hedge(kind, board);
            self.cut_others(now, id, board, out);
            if self.need.stream {
                self.state = State::Committed(id);
                out.push(Action::Commit(id));
            }
        }
    }

    fn ping(&mut self, now: Time, id: AttemptId) {
        let Some(attempt) = self.live(id) else { return };
        if attempt.spec.pings_count {
            attempt.last_sign_of_life = now;
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
        attempt.status = ending.refused_with();
        let own_fault = is_own_fault(ending, attempt.stood_still);
        let excused = is_excused(ending, attempt.stood_still);
        // After a finish reason only usage and terminator are due. If the body breaks there, the
        // answer is whole all the same; an error object still makes it a failure.
        let outcome = match (attempt.finished, ending) {
            (Some((_, answer)), Ending::Broken(_)) => judge_answer(answer),
            _ => judge(ending, attempt.first_token.is_some()),
        };
        let (retry_after, suspected) = (ending.retry_after(), is_suspicion(ending));
        let cause = own_fault.then_some(Cause::RelayFault);
        let end = End { cause, retry_after, suspected, excused, ..outcome.into() };
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
            Cause::Drain => self
                .fail(with_cause(plain_failure(FailureReason::Draining, 503, outcome), cause), out),
            Cause::Operator => {
                self.fail(
                    with_cause(plain_failure(FailureReason::CutByOperator, 503, outcome), cause),
                    out,
                );
            }
            Cause::RelayFault => {
                let outcome = RequestOutcome::Failed;
                self.fail(
                    with_cause(plain_failure(FailureReason::RelayFault, 500, outcome), cause),
                    out,
                );
            }
            _ => {
                self.state = State::Ended;
                out.push(Action::Abandon { outcome, cause: Some(cause) });
            }
        }
    }

    /// A stop after the finish reason: the answer is whole, so the request does not count as
    /// cancelled. A client that is still connected gets the ending.
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
        self.cut_others(now, id, board, out);
        self.close(now, id, outcome.into(), board, out);
        if matches!(cause, Cause::ClientGone | Cause::ClientStalled) {
            self.state = State::Ended;
            out.push(Action::Abandon { outcome: answered(outcome), cause: None });
        } else {
            self.commit_and_complete(now, id, answered(outcome), board, out);
        }
    }

    /// Ends an attempt: sets its outcome and reports it to the board.
    fn close(
        &mut self,
        now: Time,
        id: AttemptId,
        end: End,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let (size, client, walk) = (self.need.size(), self.need.client, self.number);
        let Some(attempt) = self.live(id) else { return };
        let End { outcome, cause, retry_after, clock, suspected, excused } = end;
        attempt.outcome = Some(outcome);
        attempt.suspected = suspected;
        let report = Report {
            ticket: attempt.ticket,
            outcome,
            cause,
            had_token: attempt.first_token.is_some(),
            slow: attempt.slow,
            quiet: attempt.quiet,
            dialled: attempt.dialled,
            status: attempt.status,
            retry_after,
            size,
            suspected,
            walk,
            client,
            excused,
        };
        let (verdict, stream_verdict) = report.verdicts();
        board.ended(attempt.rung, now, &report);
        out.push(Action::AttemptEnded {
            attempt: id,
            outcome,
            cause,
            clock,
            verdict,
            stream_verdict,
        });
    }

    /// A silent probe that lost its race goes on in the background, because the breaker needs its
    /// result.
    fn detach(&mut self, id: AttemptId, board: &Board, out: &mut Vec<Action>) {
        let (size, walk) = (self.need.size(), self.number);
        let (own, client) = (self.ladder.ttft, self.need.client);
        let Some(attempt) = self.live(id) else { return };
        attempt.outcome = Some(AttemptOutcome::Cancelled);
        let hard = attempt.spec.ttft.or(own);
        let mark = board.mark(attempt.rung, size);
        let probe = Probe {
            rung: attempt.rung,
            ticket: attempt.ticket,
            dialled: attempt.dialled,
            stood_still: attempt.stood_still,
            size,
            walk,
            client,
            mark: mark.map(|mark| attempt.dialled.plus(mark)),
            slow: attempt.slow,
            had_token: false,
            hard: attempt.dialled.plus(hard.unwrap_or(DEFAULT_TTFT)),
            verdict: None,
        };
        let verdict = attempt.slow.then_some(TokenVerdict::Slow);
        out.push(Action::Detach { attempt: id, probe });
        out.push(Action::AttemptEnded {
            attempt: id,
            outcome: AttemptOutcome::Cancelled,
            cause: Some(Cause::LostRace),
            clock: None,
            verdict,
            stream_verdict: None,
        });
    }

    /// Reports once that the mark has passed without a token. The call goes on.
    fn report_slow_if_due(&mut self, now: Time, id: AttemptId, board: &mut Board) {
        let size = self.need.size();
        let Some(attempt) = self.live(id) else { return };
        if !attempt.sent || attempt.slow || attempt.first_token.is_some() {
            return;
        }
        let mark = board.mark(attempt.rung, size);
        if mark.is_some_and(|mark| attempt.dialled.plus(mark) <= now) {
            attempt.slow = true;
            board.slow(attempt.rung, now, attempt.ticket, size);
        }
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
            // An attempt that loses its race after its mark counts as slow, also if its mark and
            // the winner's token come at the same moment.
            self.report_slow_if_due(now, id, board);
            if self.attempt(id).is_some_and(is_silent_probe) {
                self.detach(id, board, out);
            } else {
                self.close(now, id, End::cancelled(Cause::LostRace), board, out);
            }
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

    fn live(&mut self, id: AttemptId) -> Option<&mut Attempt> {
        self.attempts.iter_mut().find(|attempt| attempt.id == id && attempt.in_flight())
    }

    fn attempt(&self, id: AttemptId) -> Option<&Attempt> {
        self.attempts.iter().find(|attempt| attempt.id == id)
    }

    /// The client's answer, if its finish reason has come.
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

/// The outcome of a request whose client gets an answer with this outcome.
const fn answered(outcome: AttemptOutcome) -> RequestOutcome {
    match outcome {
        AttemptOutcome::Refused => RequestOutcome::Refused,
        _ => RequestOutcome::Ok,
    }
}

fn with_cause(failure: Failure, cause: Cause) -> Failure {
    Failure { cause: Some(cause), ..failure }
}
