//! The interface to the policy core: turns the simulation's terms into the core's, and back.

use crate::chance::About;
use crate::incident::Fault;
use crate::policies::Policy;
use crate::world::{RUNGS, World};
use policy::probe::Probe;
use policy::{
    Action, Answer, AttemptId, Board, BreakerSpec, Effort, Ending, HedgeDelay, HedgeSpec, Input,
    Kind, LadderIndex, LadderSpec, Need, NoHead, RungIndex, RungSpec, Time, Walk,
};
use shared::{AttemptKind, AttemptOutcome};
use std::sync::Arc;
use std::time::Duration;

/// The time that the simulation starts at, so that nothing happens at zero.
const START: f64 = 1000.0;
const OLD_CLOCK: Duration = Duration::from_secs(15);
const WHOLE: Answer = Answer { content: true, refused: false, length: false, invalid: false };

/// Seconds of the simulation in the core's time.
pub fn time(seconds: f64) -> Time {
    Time::default().plus(Duration::from_secs_f64((seconds + START).max(0.0)))
}

/// And back.
pub fn seconds(time: Time) -> f64 {
    time.since(Time::default()).as_secs_f64() - START
}

/// The ladder of `policy` over these rungs.
pub fn ladder(policy: Policy, rungs: &[usize]) -> Arc<LadderSpec> {
    let hedge = match policy {
        Policy::Ours | Policy::HedgeOnly => HedgeSpec::default(),
        Policy::FixedHedge => {
            HedgeSpec { delay: HedgeDelay::Fixed(Duration::from_secs(2)), ..HedgeSpec::default() }
        }
        Policy::Timeout | Policy::CoolDown | Policy::BreakerOnly => {
            HedgeSpec { enabled: false, ..HedgeSpec::default() }
        }
    };
    Arc::new(LadderSpec {
        rungs: rungs.iter().copied().map(RungIndex).collect(),
        ttft: (policy != Policy::Ours).then_some(OLD_CLOCK),
        // A chain of one-rung ladders goes on at once.
        fail_fast: matches!(policy, Policy::Timeout | Policy::CoolDown),
        hedge,
        ..LadderSpec::default()
    })
}

/// The shared state of one run.
pub fn board(world: &World, policy: Policy, ladder: &Arc<LadderSpec>) -> Board {
    let enabled = matches!(policy, Policy::Ours | Policy::BreakerOnly);
    let rung = |index| RungSpec {
        domains: vec![index],
        breaker: BreakerSpec { enabled, ..BreakerSpec::default() },
        ..RungSpec::default()
    };
    let rungs = (0..).take(RUNGS).map(rung).collect();
    let rng = fastrand::Rng::with_seed(world.seed_for(About::Board, 0));
    Board::new(rungs, vec![Arc::clone(ladder)], rng)
}

/// One request's walk.
pub fn walk(now: Time, world: &World, request: usize, ladder: &Arc<LadderSpec>) -> Walk {
    let (prompt, thinks) =
        world.requests.get(request).map_or((0, false), |request| (request.prompt, request.thinks));
    let effort = if thinks { Effort::High } else { Effort::Usual };
    let kind = Kind { effort, ..Kind::default() };
    let need = Need { stream: true, prompt_tokens: u64::from(prompt), kind, ..Need::default() };
    let rng = fastrand::Rng::with_seed(world.seed_for(About::Walk, request as u64));
    Walk::new(now, LadderIndex(0), Arc::clone(ladder), need, rng)
}

/// A first token, as an input of the core.
pub const fn token(attempt: AttemptId) -> Input {
    Input::Token { attempt, refusal: false }
}

/// A proper end.
pub const fn proper() -> Ending {
    Ending::Proper(WHOLE)
}

/// An explicit failure.
pub const fn fault(how: Fault) -> Ending {
    match how {
        Fault::Server => status(500),
        Fault::TooMany => status(429),
        Fault::Refused => Ending::NoHead(NoHead::NotConnected),
        Fault::ErrorEvent => {
            Ending::ErrorEvent { signature: None, certain: false, retry_after: None }
        }
    }
}

const fn status(status: u16) -> Ending {
    Ending::Status {
        status,
        signature: None,
        certain: false,
        retry_after: None,
        names_added_field: false,
    }
}

/// What the core asks for, as far as the simulation needs it.
#[derive(Debug)]
pub(crate) enum Step {
    Dial {
        attempt: AttemptId,
        rung: usize,
        hedge: bool,
    },
    Commit(AttemptId),
    /// An attempt ended; `fault` says whether its rung is to blame.
    Ended {
        attempt: AttemptId,
        fault: bool,
        /// It was cut after its first token.
        died: bool,
    },
    Detached(AttemptId, Probe),
    Other,
}

pub(crate) fn step(action: Action) -> Step {
    match action {
        Action::Dial { attempt, rung, kind, .. } => {
            Step::Dial { attempt, rung: rung.0, hedge: kind == AttemptKind::Hedge }
        }
        Action::Commit(attempt) => Step::Commit(attempt),
        Action::AttemptEnded { attempt, outcome, .. } => Step::Ended {
            attempt,
            fault: !matches!(outcome, AttemptOutcome::Ok | AttemptOutcome::Cancelled),
            died: outcome == AttemptOutcome::Stall,
        },
        Action::Detach { attempt, probe } => Step::Detached(attempt, probe),
        Action::SendHead | Action::Complete { .. } | Action::Fail(_) | Action::Abandon { .. } => {
            Step::Other
        }
    }
}

/// A breaker's transition.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The rung.
    pub rung: usize,
    /// When, in seconds since the start.
    pub at: f64,
    /// The state before.
    pub from: &'static str,
    /// The state after.
    pub to: &'static str,
    /// The rule that caused it.
    pub why: &'static str,
    /// The weight afterwards.
    pub weight: f64,
    /// The rung's reference afterwards.
    pub reference: f64,
}

/// The reference: what the core takes for the p95 of a rung that is well.
pub fn reference(board: &Board, rung: usize) -> f64 {
    board.reference(RungIndex(rung)).map_or(f64::NAN, |span| span.as_secs_f64())
}

/// Whether a rung is closed and always the first choice.
pub fn is_full(board: &Board, rung: usize) -> bool {
    board.is_full(RungIndex(rung))
}

/// The changes since the last call of this function.
pub fn changes(board: &mut Board) -> Vec<Change> {
    let told = board.take_transitions();
    told.into_iter()
        .map(|change| Change {
            rung: change.rung.0,
            at: seconds(change.at),
            from: change.from.as_str(),
            to: change.to.as_str(),
            why: change.why.as_str(),
            weight: change.weight,
            reference: reference(board, change.rung.0),
        })
        .collect()
}
