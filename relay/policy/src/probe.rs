//! A losing probe that goes on in the background.
//!
//! A half-open breaker needs its probe's result also when another attempt was faster. Otherwise
//! hedges would keep it from ever closing. So the losing probe keeps its slot until its first
//! token, its end or its hard clock, while its request goes on without it.

use crate::attempt::End;
use crate::board::{Board, Report};
use crate::breaker::Ticket;
use crate::index::RungIndex;
use crate::input::Ending;
use crate::ladder::Size;
use crate::outcome::{is_excused, is_own_fault, is_suspicion, judge};
use crate::time::Time;
use shared::{AttemptOutcome, Cause, TokenVerdict};
use std::time::Duration;

/// One losing probe.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    pub(crate) rung: RungIndex,
    pub(crate) ticket: Ticket,
    pub(crate) dialled: Time,
    /// The relay stood still while it ran.
    pub(crate) stood_still: bool,
    pub(crate) size: Size,
    /// The number of the walk that it was an attempt of.
    pub(crate) walk: u64,
    /// The number of the client whose request it was.
    pub(crate) client: u64,
    /// When its mark passes, if it has one.
    pub(crate) mark: Option<Time>,
    pub(crate) slow: bool,
    pub(crate) had_token: bool,
    /// When it is cut.
    pub(crate) hard: Time,
    /// Its verdict since it went on in the background.
    pub(crate) verdict: Option<TokenVerdict>,
}

impl Probe {
    /// When it wants [`Probe::wake`] at the latest.
    #[must_use]
    pub fn next_deadline(&self) -> Time {
        self.mark.filter(|_| !self.slow).map_or(self.hard, |mark| mark.min(self.hard))
    }

    /// Its verdict on its rung, once it has one; `None` if it was reported as slow while its request
    /// still ran.
    #[must_use]
    pub const fn verdict(&self) -> Option<TokenVerdict> {
        self.verdict
    }

    /// The relay stood still for `span` until `until`: that is not the provider's time.
    pub fn skip(&mut self, span: Duration, until: Time) {
        let span = span.min(until.since(self.dialled));
        self.stood_still |= !span.is_zero();
        self.dialled = self.dialled.plus(span);
        self.mark = self.mark.map(|mark| mark.plus(span));
        self.hard = self.hard.plus(span);
    }

    /// Its call goes out only now.
    pub fn sent(&mut self, now: Time) {
        let (span, stood_still) = (now.since(self.dialled), self.stood_still);
        self.skip(span, now);
        self.stood_still = stood_still;
    }

    /// Its first token came: it is done.
    pub fn token(&mut self, now: Time, board: &mut Board) {
        board.serve(now, self.client);
        if self.mark.is_some_and(|mark| mark <= now) {
            self.report_slow(now, board);
        }
        board.token(self.rung, now, self.dialled, self.ticket, self.slow, self.size);
        self.had_token = true;
        self.end(now, AttemptOutcome::Cancelled.into(), None, board);
    }

    /// Its call is over without a token: it is done.
    pub fn ended(&mut self, now: Time, ending: &Ending, board: &mut Board) {
        board.serve(now, self.client);
        // Its outcome counts as if its client still waited.
        let (retry_after, suspected) = (ending.retry_after(), is_suspicion(ending));
        let cause = is_own_fault(ending, self.stood_still).then_some(Cause::RelayFault);
        let excused = is_excused(ending, self.stood_still);
        let end = End { cause, retry_after, suspected, excused, ..judge(ending, false).into() };
        self.end(now, end, ending.refused_with(), board);
    }

    /// A deadline may have passed; returns whether it is done and must be cut.
    pub fn wake(&mut self, now: Time, board: &mut Board) -> bool {
        board.serve(now, self.client);
        if self.mark.is_some_and(|mark| mark <= now) {
            self.report_slow(now, board);
        }
        if self.hard > now {
            return false;
        }
        self.end(now, AttemptOutcome::TtftTimeout.into(), None, board);
        true
    }

    /// Its rung was forced open: it ends without a verdict.
    pub fn cut(&mut self, now: Time, board: &mut Board) {
        board.serve(now, self.client);
        self.end(now, AttemptOutcome::Cancelled.into(), None, board);
    }

    /// The rung that it is on.
    #[must_use]
    pub const fn rung(&self) -> RungIndex {
        self.rung
    }

    fn report_slow(&mut self, now: Time, board: &mut Board) {
        if !self.slow {
            self.slow = true;
            self.verdict = Some(TokenVerdict::Slow);
            board.slow(self.rung, now, self.ticket, self.size);
        }
    }

    fn end(&mut self, now: Time, end: End, status: Option<u16>, board: &mut Board) {
        let End { outcome, cause, retry_after, suspected, excused, .. } = end;
        let report = Report {
            ticket: self.ticket,
            outcome,
            cause,
            had_token: self.had_token,
            slow: self.slow,
            quiet: false,
            dialled: self.dialled,
            status,
            retry_after,
            size: self.size,
            suspected,
            walk: self.walk,
            client: self.client,
            excused,
        };
        if !self.slow {
            self.verdict = report.verdicts().0;
        }
        board.ended(self.rung, now, &report);
    }
}
