//! A small stage for walks: rungs, a board, a time, and what was done.

use crate::board::Report;
use crate::breaker::Ticket;
use crate::{
    Action, Answer, AttemptId, Board, Break, Ending, Failure, HedgeSpec, Input, LadderIndex,
    LadderSpec, Need, NoHead, RungIndex, RungSpec, Size, Time, Walk,
};
use shared::{AttemptKind, AttemptOutcome};
use std::sync::Arc;
use std::time::Duration;

pub(super) const A: AttemptId = AttemptId(1);
pub(super) const B: AttemptId = AttemptId(2);
pub(super) const C: AttemptId = AttemptId(3);

pub(super) const WHOLE: Answer =
    Answer { content: true, refused: false, length: false, invalid: false };

/// A walk on its stage.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) walk: Walk,
    pub(super) board: Board,
    pub(super) now: Time,
}

/// `rungs` rungs of default limits.
pub(super) fn rungs(rungs: usize) -> Vec<RungSpec> {
    vec![RungSpec::default(); rungs]
}

pub(super) fn ladder(rungs: usize) -> LadderSpec {
    // Hedges have tests of their own.
    let hedge = HedgeSpec { enabled: false, ..HedgeSpec::default() };
    LadderSpec { rungs: (0..rungs).map(RungIndex).collect(), hedge, ..LadderSpec::default() }
}

pub(super) fn streaming() -> Need {
    Need { stream: true, ..Need::default() }
}

impl Stage {
    /// A walk that has not started yet.
    pub(super) fn set(ladder: LadderSpec, rungs: Vec<RungSpec>, need: Need) -> Self {
        let ladder = Arc::new(ladder);
        let board = Board::new(rungs, vec![Arc::clone(&ladder)], fastrand::Rng::with_seed(7));
        let now = Time::from_millis(1_000_000);
        let rng = fastrand::Rng::with_seed(11);
        Self { walk: Walk::new(now, LadderIndex(0), ladder, need, rng), board, now }
    }

    /// A streaming walk on `count` default rungs, started.
    pub(super) fn on(count: usize) -> Self {
        let mut stage = Self::set(ladder(count), rungs(count), streaming());
        stage.give(Input::Start);
        stage
    }

    pub(super) fn give(&mut self, input: Input) -> Vec<Action> {
        let mut actions = Vec::new();
        self.walk.handle(self.now, input, &mut self.board, &mut actions);
        actions
    }

    pub(super) fn after(&mut self, millis: u64) -> &mut Self {
        self.now = self.now.plus(Duration::from_millis(millis));
        self
    }

    /// Goes to the next deadline and wakes the walk.
    pub(super) fn wake(&mut self) -> Vec<Action> {
        let at = self.walk.next_deadline(&self.board).expect("a walk that waits has a deadline");
        self.now = self.now.max(at);
        self.give(Input::Wake)
    }

    /// Another walk's 429 with this Retry-After.
    pub(super) fn hold(&mut self, rung: usize, millis: u64) {
        self.limit(rung, Some(Duration::from_millis(millis)));
    }

    /// Another walk's 429.
    pub(super) fn limit(&mut self, rung: usize, retry_after: Option<Duration>) {
        let report = Report {
            ticket: Ticket::default(),
            outcome: AttemptOutcome::RateLimited,
            cause: None,
            had_token: false,
            slow: false,
            quiet: false,
            dialled: self.now,
            status: None,
            retry_after,
            size: Size::default(),
            suspected: false,
            walk: 0,
            client: 0,
            excused: false,
        };
        self.board.ended(RungIndex(rung), self.now, &report);
    }

    /// Goes to the second clock's end. At its half the quiet stream is reported to the rung, which
    /// changes nothing for the walk.
    pub(super) fn stall(&mut self) -> Vec<Action> {
        let half = self.wake();
        assert_eq!(half, [], "half a clock is no stall");
        self.wake()
    }

    pub(super) fn token(&mut self, attempt: AttemptId) -> Vec<Action> {
        self.give(Input::Token { attempt, refusal: false })
    }

    pub(super) fn end(&mut self, attempt: AttemptId, ending: Ending) -> Vec<Action> {
        self.give(Input::Ended(attempt, ending))
    }

    pub(super) fn status(&mut self, attempt: AttemptId, status: u16) -> Vec<Action> {
        self.end(attempt, by_status(status))
    }
}

pub(super) fn by_status(status: u16) -> Ending {
    Ending::Status {
        status,
        signature: None,
        certain: false,
        retry_after: None,
        names_added_field: false,
    }
}

pub(super) fn refused(status: u16, seconds: u64) -> Ending {
    let retry_after = Some(Duration::from_secs(seconds));
    Ending::Status {
        status,
        signature: None,
        certain: false,
        retry_after,
        names_added_field: false,
    }
}

pub(super) fn cut() -> Ending {
    Ending::Broken(Break::EndOfBody)
}

pub(super) fn unreachable_host() -> Ending {
    Ending::NoHead(NoHead::NotConnected)
}

/// The dials among `actions`: attempt number, rung, kind.
pub(super) fn dials(actions: &[Action]) -> Vec<(u32, usize, AttemptKind)> {
    let dial = |action: &Action| match action {
        Action::Dial { attempt, rung, kind, .. } => Some((attempt.0, rung.0, *kind)),
        _ => None,
    };
    actions.iter().filter_map(dial).collect()
}

/// The outcomes among `actions`.
pub(super) fn outcomes(actions: &[Action]) -> Vec<(u32, AttemptOutcome)> {
    let ended = |action: &Action| match action {
        Action::AttemptEnded { attempt, outcome, .. } => Some((attempt.0, *outcome)),
        _ => None,
    };
    actions.iter().filter_map(ended).collect()
}

/// The failure among `actions`.
pub(super) fn failure(actions: &[Action]) -> Failure {
    let failed = |action: &Action| match action {
        Action::Fail(failure) => Some(failure.clone()),
        _ => None,
    };
    actions.iter().find_map(failed).unwrap_or_else(|| panic!("no failure in {actions:?}"))
}

pub(super) fn is_complete(actions: &[Action]) -> bool {
    actions.iter().any(|action| matches!(action, Action::Complete { .. }))
}

pub(super) fn is_committed(actions: &[Action]) -> bool {
    actions.iter().any(|action| matches!(action, Action::Commit(_)))
}
