//! The walk's deadlines: three clocks, the early head, the linger after a
//! finish reason, and the pause before a dial.
//!
//! Only content moves the first two clocks, and pings where they count. The second clock stands
//! still while the client does not read. After a finish reason every clock stops.

use super::{State, Walk};
use crate::action::{Action, FailureReason};
use crate::attempt::{Attempt, End};
use crate::board::Board;
use crate::budget::Budget;
use crate::exhausted::plain_failure;
use crate::index::AttemptId;
use crate::index::RungIndex;
use crate::input::Answer;
use crate::ladder::{DEFAULT_TTFT, LINGER};
use crate::outcome::judge_answer;
use crate::time::Time;
use shared::{AttemptKind, AttemptOutcome, RequestOutcome};
use std::time::Duration;

/// How often an attempt on an opened rung checks whether another rung is usable.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// A moment that never comes.
const NEVER: Time = Time(u64::MAX);

/// What ran out on one attempt.
enum Expired {
    Mark,
    Soft,
    /// Its rung has opened, and the time that it still had is over.
    Opened,
    FirstToken {
        span: Duration,
        explicit: bool,
    },
    Quiet,
    InterToken(Duration),
    Linger(Answer),
}

impl Walk {
    /// When the walk wants [`crate::Input::Wake`] at the latest; `None` when it is over.
    ///
    /// `board` gives the rungs' own clocks.
    #[must_use]
    pub fn next_deadline(&self, board: &Board) -> Option<Time> {
        if self.is_over() {
            return None;
        }
        let attempts = self.attempts.iter().filter(|attempt| attempt.in_flight());
        attempts
            .filter_map(|attempt| self.attempt_deadline(attempt, board).map(|(at, _)| at))
            .chain(self.hedge_due(board))
            .chain(self.pause.map(|pause| pause.until))
            .chain(self.head_due())
            .chain(self.total_due())
            .min()
    }

    pub(super) fn wake(&mut self, now: Time, board: &mut Board, out: &mut Vec<Action>) {
        if self.total_due().is_some_and(|at| at <= now) {
            let clock = Some(self.total());
            let end = End { clock, ..AttemptOutcome::Deadline.into() };
            self.cut_all(now, end, board, out);
            return self
                .fail(plain_failure(FailureReason::Deadline, 504, RequestOutcome::Deadline), out);
        }
        while let Some((id, expired)) = self.first_expired(now, board) {
            self.expire(now, id, &expired, board, out);
        }
        if self.hedge_due(board).is_some_and(|at| at <= now) {
            self.hedge(now, board, out);
        }
        if let Some(pause) = self.pause.filter(|pause| pause.until <= now && !self.is_over()) {
            self.pause = None;
            // The hold may have been lengthened by another walk meanwhile.
            match board.usable(pause.rung, now) {
                Ok(()) => self.dial(now, pause.rung, pause.kind, false, board, out),
                Err(_) => match self.next_candidate(now, board) {
                    Some(rung) => {
                        let first = self.attempts.is_empty();
                        let kind = if first { AttemptKind::First } else { AttemptKind::Failover };
                        self.dial(now, rung, kind, false, board, out);
                    }
                    None => self.wait_or_give_up(now, pause.paid, board, out),
                },
            }
        }
        if self.head_due().is_some_and(|at| at <= now) && !self.is_over() {
            self.head_sent = true;
            out.push(Action::SendHead);
        }
    }

    fn expire(
        &mut self,
        now: Time,
        id: AttemptId,
        expired: &Expired,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let (outcome, clock) = match *expired {
            Expired::Mark => return self.report_slow_if_due(now, id, board),
            Expired::Opened => return self.leave_an_opened_rung(now, id, board, out),
            Expired::Soft => return self.soft(now, id, board, out),
            Expired::Quiet => return self.report_quiet(now, id, board),
            // A request that may not be sent twice ends here too: no other rung will be called.
            Expired::FirstToken { explicit: false, .. }
                if !self.has_side_effects() && !self.somebody_else(now, id, board) =>
            {
                // A rung whose hold or cool-down ends may be usable later.
                let until = self.next_usable(now, board).unwrap_or(NEVER);
                if let Some(attempt) = self.live(id) {
                    attempt.ttft_waived = Some(until);
                }
                return;
            }
            Expired::FirstToken { span, .. } => (AttemptOutcome::TtftTimeout, Some(span)),
            Expired::InterToken(span) => (AttemptOutcome::Stall, Some(span)),
            Expired::Linger(answer) => (judge_answer(answer), None),
        };
        self.close(now, id, End { clock, ..outcome.into() }, board, out);
        self.after(now, id, outcome, None, board, out);
    }

    /// The soft first clock: if another rung is usable and the budget has a token, that rung is
    /// called and the silent attempt is cut; if not, the hard clock remains. A rung that is only
    /// late keeps its attempts, because its token is still the likeliest to come.
    fn soft(&mut self, now: Time, id: AttemptId, board: &mut Board, out: &mut Vec<Action>) {
        let Some(rung) = self.attempt(id).map(|attempt| attempt.rung) else { return };
        let clock = board.soft_clock(rung, self.need.size());
        let next = self.next_candidate(now, board).filter(|_| !board.is_merely_slow(rung, now));
        let paid = next.is_some() && board.budget(self.at).is_some_and(Budget::take_retry);
        match next.filter(|_| paid) {
            Some(next) => self.replace_silent(now, id, clock, next, board, out),
            None => {
                if let Some(attempt) = self.live(id) {
                    attempt.soft_waived = true;
                }
            }
        }
    }

    /// An attempt that is past its mark while its rung is open fails over to a rung at full weight,
    /// as after an explicit failure. Otherwise all attempts that were in flight when a busy rung
    /// went silent would wait for the hard clock, because no budget has a token for each of them.
    fn leave_an_opened_rung(
        &mut self,
        now: Time,
        id: AttemptId,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let Some(rung) = self.attempt(id).map(|attempt| attempt.rung) else { return };
        let runs_elsewhere = self
            .attempts
            .iter()
            .any(|other| other.in_flight() && other.id != id && board.is_closed(other.rung));
        let stays = runs_elsewhere || board.is_merely_slow(rung, now);
        let next = self.next_candidate(now, board).filter(|&next| !stays && board.is_full(next));
        match next {
            Some(next) => {
                // It counts as the failover that is free after an explicit failure.
                self.failovers = self.failovers.saturating_add(1);
                let clock = board.chance(rung, self.need.size());
                self.replace_silent(now, id, clock, next, board, out);
            }
            None => {
                if let Some(attempt) = self.live(id) {
                    attempt.look_again = Some(now.plus(LOOK_AGAIN));
                }
            }
        }
    }

    /// When a silent attempt whose rung has opened may be cut. Probes and last resorts are never
    /// cut for this: they were sent to a rung that is not closed.
    fn opened_deadline(&self, attempt: &Attempt, board: &Board) -> Option<Time> {
        let is_sent_there = attempt.ticket.probe || attempt.kind == AttemptKind::LastResort;
        if is_sent_there || board.is_closed(attempt.rung) {
            return None;
        }
        let due = attempt.dialled.plus(board.chance(attempt.rung, self.need.size())?);
        Some(attempt.look_again.map_or(due, |again| again.max(due)))
    }

    fn replace_silent(
        &mut self,
        now: Time,
        id: AttemptId,
        clock: Option<Duration>,
        next: RungIndex,
        board: &mut Board,
        out: &mut Vec<Action>,
    ) {
        let end = End { clock, ..AttemptOutcome::TtftTimeout.into() };
        self.close(now, id, end, board, out);
        self.dial(now, next, AttemptKind::Failover, false, board, out);
    }

    /// Half of the inter-token clock has passed in silence. This is reported once; the stream may
    /// still go on.
    fn report_quiet(&mut self, now: Time, id: AttemptId, board: &mut Board) {
        let Some(attempt) = self.live(id) else { return };
        attempt.quiet = true;
        let (rung, ticket) = (attempt.rung, attempt.ticket);
        board.quiet(rung, now, ticket);
    }

    fn first_expired(&self, now: Time, board: &Board) -> Option<(AttemptId, Expired)> {
        if self.is_over() {
            return None;
        }
        self.attempts.iter().filter(|attempt| attempt.in_flight()).find_map(|attempt| {
            let (at, expired) = self.attempt_deadline(attempt, board)?;
            (at <= now).then_some((attempt.id, expired))
        })
    }

    fn attempt_deadline(&self, attempt: &Attempt, board: &Board) -> Option<(Time, Expired)> {
        if let Some((at, answer)) = attempt.finished {
            return Some((at.plus(LINGER), Expired::Linger(answer)));
        }
        if !attempt.sent {
            return None;
        }
        let spec = &*attempt.spec;
        if attempt.first_token.is_some() {
            let span = spec.inter_token.unwrap_or(self.ladder.inter_token);
            if !attempt.quiet {
                return Some((attempt.last_sign_of_life.plus(span / 2), Expired::Quiet));
            }
            return Some((attempt.last_sign_of_life.plus(span), Expired::InterToken(span)));
        }
        let early = self.early_deadline(attempt, board);
        let own = spec.ttft.or(self.ladder.ttft);
        let (span, explicit): (Duration, bool) =
            own.map_or((DEFAULT_TTFT, false), |own| (own, true));
        // Before the first token only pings that count, and pauses of the relay, move this time.
        let due = attempt.last_sign_of_life.plus(span);
        let waived = attempt.ttft_waived.filter(|_| !explicit);
        let at = waived.map_or(due, |until| due.max(until));
        let hard = (at < NEVER).then_some((at, Expired::FirstToken { span, explicit }));
        let opened = self.opened_deadline(attempt, board).map(|at| (at, Expired::Opened));
        // If several are due at the same time, the hard clock comes first, then mark or soft clock.
        [hard, early, opened].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// The slow mark and the soft clock of a silent attempt, whichever is first.
    fn early_deadline(&self, attempt: &Attempt, board: &Board) -> Option<(Time, Expired)> {
        let after = |span: Option<Duration>| span.map(|span| attempt.dialled.plus(span));
        let size = self.need.size();
        let mark = after(board.mark(attempt.rung, size).filter(|_| !attempt.slow));
        // Without a reference the soft clock is not used if the config sets the first clock, or
        // lets pings count because the model thinks in silence: the operator may know better how
        // long this rung takes.
        let spec = &*attempt.spec;
        let told = spec.pings_count || spec.ttft.or(self.ladder.ttft).is_some();
        let is_due = !attempt.soft_waived && (!told || board.has_reference(attempt.rung, size));
        let soft = after(board.soft_clock(attempt.rung, size).filter(|_| is_due));
        match (mark, soft) {
            (Some(mark), Some(soft)) if soft < mark => Some((soft, Expired::Soft)),
            (Some(mark), _) => Some((mark, Expired::Mark)),
            (None, soft) => soft.map(|soft| (soft, Expired::Soft)),
        }
    }

    /// Whether `id` can be cut: another attempt is in flight, or another rung is usable.
    fn somebody_else(&self, now: Time, id: AttemptId, board: &Board) -> bool {
        self.in_flight().any(|other| other != id) || self.next_candidate(now, board).is_some()
    }

    /// The early head: only for a stream, and only while nothing has been committed.
    fn head_due(&self) -> Option<Time> {
        let wanted = self.need.stream && !self.head_sent && self.state == State::Walking;
        wanted.then(|| self.started.plus(self.ladder.early_headers))
    }

    /// The third clock; it stops at a finish reason like the others.
    fn total_due(&self) -> Option<Time> {
        let finished = self.attempts.iter().any(|a| a.in_flight() && a.finished.is_some());
        (!finished).then(|| self.started.plus(self.total()))
    }

    /// The third clock's length. A committed stream gets more time, so that a long answer that goes
    /// well is not cut.
    fn total(&self) -> Duration {
        match self.state {
            State::Committed(_) => self.ladder.stream_total,
            State::Walking | State::Ended => self.ladder.total,
        }
    }
}
