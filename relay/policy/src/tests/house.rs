//! Many walks on one board: what they do to a rung, one after the other.

use super::scenario::*;
use crate::board::Report;
use crate::breaker::{State, Ticket};
use crate::{
    Action, Board, Ending, Input, LadderIndex, LadderSpec, Reference, Remembered,
    RememberedBreaker, RungIndex, RungSpec, Size, Time, Walk,
};
use shared::{AttemptKind as K, AttemptOutcome, TransitionRule};
use std::sync::Arc;
use std::time::Duration;

pub(super) const FIRST: RungIndex = RungIndex(0);
pub(super) const SECOND: RungIndex = RungIndex(1);
pub(super) const THIRD: RungIndex = RungIndex(2);

/// Many walks on one board.
pub(super) struct House {
    pub(super) board: Board,
    pub(super) ladder: Arc<LadderSpec>,
    pub(super) now: Time,
    seed: u64,
}

impl House {
    pub(super) fn new(count: usize) -> Self {
        Self::of(LadderSpec { retries: Some(0), ..ladder(count) }, rungs(count))
    }

    pub(super) fn of(ladder: LadderSpec, rungs: Vec<RungSpec>) -> Self {
        let ladder = Arc::new(ladder);
        let board = Board::new(rungs, vec![Arc::clone(&ladder)], fastrand::Rng::with_seed(5));
        Self { board, ladder, now: Time::from_millis(100_000_000), seed: 0 }
    }

    /// A walk that has dialled its first rung.
    pub(super) fn walk(&mut self) -> (Walk, Vec<Action>) {
        self.seed += 1;
        let rng = fastrand::Rng::with_seed(self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut walk =
            Walk::new(self.now, LadderIndex(0), Arc::clone(&self.ladder), streaming(), rng);
        let actions = self.give(&mut walk, Input::Start);
        (walk, actions)
    }

    pub(super) fn give(&mut self, walk: &mut Walk, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        walk.handle(self.now, input, &mut self.board, &mut actions);
        actions
    }

    pub(super) fn after(&mut self, span: Duration) -> &mut Self {
        self.now = self.now.plus(span);
        self
    }

    /// A request whose first attempt ends with `ending`. A second attempt, if there is one,
    /// answers.
    pub(super) fn request(&mut self, ending: &Ending) -> Vec<(u32, usize, K)> {
        let (mut walk, actions) = self.walk();
        let mut seen = dials(&actions);
        seen.extend(dials(&self.give(&mut walk, Input::Ended(A, ending.clone()))));
        if !walk.is_over() {
            self.give(&mut walk, Input::Token { attempt: B, refusal: false });
            self.give(&mut walk, Input::Ended(B, Ending::Proper(WHOLE)));
        }
        seen
    }

    /// A request that its first rung answers after `span`.
    pub(super) fn good(&mut self, span: Duration) -> Vec<(u32, usize, K)> {
        let (mut walk, actions) = self.walk();
        self.after(span);
        self.give(&mut walk, Input::Token { attempt: A, refusal: false });
        self.give(&mut walk, Input::Ended(A, Ending::Proper(WHOLE)));
        dials(&actions)
    }

    /// Enough good requests for a reference of about `span`.
    pub(super) fn learn(&mut self, span: Duration) {
        for _ in 0..60 {
            self.good(span);
            self.after(Duration::from_secs(1));
        }
    }

    pub(super) fn state(&self, rung: RungIndex) -> State {
        self.board.breaker(rung).unwrap().state()
    }

    pub(super) fn whys(&mut self) -> Vec<TransitionRule> {
        self.board.take_transitions().into_iter().map(|transition| transition.why).collect()
    }

    /// Opens the first rung's breaker; returns when it cools down.
    pub(super) fn open(&mut self) -> Time {
        for _ in 0..5 {
            self.request(&by_status(500));
        }
        match self.state(FIRST) {
            State::Open { until } => until,
            other => panic!("not open: {other:?}"),
        }
    }
    /// Sets what the board knows of a rung, as after a restart: its reference, and its weight.
    pub(super) fn knows(&mut self, rung: RungIndex, (p95, usual): (u64, u64), weight: f64) {
        let reference =
            Reference { p95: Duration::from_millis(p95), usual: Duration::from_millis(usual) };
        let away_since = (weight < 1.0).then_some(self.now);
        let breaker = RememberedBreaker { weight, away_since, ..RememberedBreaker::default() };
        let kept = Remembered { reference: Some(reference), hold: None, breaker, finishes: false };
        self.board.restore(rung, self.now, &kept);
    }

    pub(super) fn weight(&self, rung: RungIndex) -> f64 {
        self.board.breaker(rung).unwrap().weight()
    }

    /// A call of `rung` that brings its token after `span`, past the mark or not, and then comes to
    /// its proper end. It is made without a walk, so that the weight does not decide which rung is
    /// called.
    pub(super) fn call(&mut self, rung: RungIndex, span: Duration) -> Ticket {
        let (dialled, ticket) = (self.now, self.board.dial(rung, self.now, Size::default()));
        self.after(span);
        let slow = self.board.mark(rung, Size::default()).is_some_and(|mark| span >= mark);
        if slow {
            self.board.slow(rung, self.now, ticket, Size::default());
        }
        self.board.token(rung, self.now, dialled, ticket, slow, Size::default());
        let had_token = Report { had_token: true, slow, ..report(ticket, dialled) };
        self.board.ended(rung, self.now, &had_token);
        ticket
    }

    /// A call of `rung` that ends with `outcome` before its token, after `span`.
    pub(super) fn fail(&mut self, rung: RungIndex, span: Duration, outcome: AttemptOutcome) {
        let (dialled, ticket) = (self.now, self.board.dial(rung, self.now, Size::default()));
        self.after(span);
        self.board.ended(rung, self.now, &Report { outcome, ..report(ticket, dialled) });
    }
}

pub(super) fn report(ticket: Ticket, dialled: Time) -> Report {
    Report {
        ticket,
        outcome: AttemptOutcome::Ok,
        cause: None,
        had_token: false,
        slow: false,
        quiet: false,
        dialled,
        status: None,
        retry_after: None,
        size: Size::default(),
        suspected: false,
        walk: 0,
        client: 0,
        excused: false,
    }
}

pub(super) const fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}
