//! The client's error when no rung answered: the error of the highest rank among all rungs that
//! were tried or passed over.

use crate::action::{Failure, FailureReason};
use crate::attempt::Attempt;
use crate::board::Board;
use crate::breaker::Breaker;
use crate::index::RungIndex;
use crate::plan::Plan;
use crate::table::{Rank, row};
use crate::time::Time;
use shared::{AttemptOutcome, PassedOver, RequestOutcome};
use std::time::Duration;

/// The failure of a walk without a usable rung.
pub(crate) fn failure(attempts: &[Attempt], plan: &Plan, board: &Board, now: Time) -> Failure {
    let counts = |attempt: &&Attempt| !attempt.repeated;
    // A feature that one rung lacks counts only if every other rung lacks it too.
    let speaks_for_all = |attempt: &Attempt| !attempt.elsewhere && attempt.outcome.is_some();
    let any = attempts.iter().filter(counts).any(speaks_for_all);
    let ranked = attempts
        .iter()
        .filter(counts)
        .filter(|attempt| !(any && attempt.elsewhere))
        .filter_map(|attempt| Some((rank(attempt)?, attempt)))
        .min_by_key(|(rank, _)| *rank);
    match ranked {
        None if attempts.is_empty() => nobody_called(plan, board, now),
        Some((Rank::Terminal, attempt)) => terminal(attempt),
        None | Some(_) => by_rank(attempts, plan, board, now),
    }
}

/// The rank of an attempt's error. A 405 says that the rung's address does not take such calls,
/// which is not about the request.
fn rank(attempt: &Attempt) -> Option<Rank> {
    let outcome = attempt.outcome?;
    let is_405 = outcome == AttemptOutcome::BadRequest && attempt.status == Some(405);
    Some(if is_405 { Rank::BadGateway } else { row(outcome).rank })
}

fn terminal(attempt: &Attempt) -> Failure {
    let outcome = attempt.outcome.unwrap_or(AttemptOutcome::BadRequest);
    let ends = if outcome == AttemptOutcome::Refused {
        RequestOutcome::Refused
    } else {
        RequestOutcome::Rejected
    };
    let status = match outcome {
        AttemptOutcome::ContextExceeded => 400,
        // Never a 401 or a 429: the client would think that its own key or rate is refused.
        _ => attempt.status.filter(|s| matches!(s, 400 | 413 | 422 | 431)).unwrap_or(400),
    };
    Failure {
        answered_by: Some(attempt.id),
        ..plain_failure(FailureReason::Rejected(outcome), status, ends)
    }
}

fn nobody_called(plan: &Plan, board: &Board, now: Time) -> Failure {
    let incapable = |reason| {
        matches!(
            reason,
            PassedOver::Capability
                | PassedOver::Dialect
                | PassedOver::Context
                | PassedOver::MaxOutput
        )
    };
    let able = || plan.passed_over.iter().filter(|(_, reason)| !incapable(*reason));
    if able().next().is_none() {
        let reason = plan.passed_over.last().map_or(PassedOver::Capability, |(_, reason)| *reason);
        // A feature is named only if every rung was passed over for a missing capability.
        let other = plan.passed_over.iter().rev().find(|(_, why)| *why != PassedOver::Capability);
        let reason = other.map_or(reason, |(_, why)| *why);
        let feature = plan.lacking.filter(|_| other.is_none());
        return plain_failure(
            FailureReason::NoRungAble { reason, feature },
            400,
            RequestOutcome::NoCandidate,
        );
    }
    if able().all(|(_, reason)| *reason == PassedOver::Forced) {
        return plain_failure(FailureReason::AllForcedOpen, 503, RequestOutcome::NoCandidate);
    }
    let retry_after = soonest(plan, board, now);
    let (gist, status) = if able().all(|(_, reason)| *reason == PassedOver::Hold) {
        (FailureReason::RateLimited, 429)
    } else {
        (FailureReason::Unavailable, 503)
    };
    Failure { retry_after, ..plain_failure(gist, status, RequestOutcome::NoCandidate) }
}

fn by_rank(attempts: &[Attempt], plan: &Plan, board: &Board, now: Time) -> Failure {
    let own_attempts = || attempts.iter().filter(|attempt| !attempt.repeated);
    let ranks = || own_attempts().filter_map(rank);
    // A rung that is open for a refused account does not lack capacity, so it does not count here.
    let is_refused = |rung| board.breaker(rung).is_some_and(Breaker::is_hard_down);
    let open = plan.passed_over.iter().any(|(rung, reason)| {
        matches!(reason, PassedOver::Open | PassedOver::NoSlot) && !is_refused(*rung)
    });
    let is_held = |rung| board.held_until(rung, now).is_some();
    let held = callable(plan).any(is_held);
    // A rung that was called counts by its last outcome; one that was not, by its hold.
    let limited = |rung| {
        let last = own_attempts().rfind(|attempt| attempt.rung == rung);
        last.map_or_else(|| is_held(rung), |a| a.outcome == Some(AttemptOutcome::RateLimited))
    };
    let retry_after = soonest(plan, board, now);
    let failed = RequestOutcome::Failed;
    // The provider's message is passed on from the attempt that decides the client's error. Not
    // from a refused account: that is between the relay's operator and the provider.
    let answered_by = |wanted| {
        let decides = |attempt: &&Attempt| {
            attempt.outcome != Some(AttemptOutcome::Auth) && rank(attempt) == Some(wanted)
        };
        own_attempts().rfind(decides).map(|attempt| attempt.id)
    };
    if callable(plan).next().is_some() && callable(plan).all(limited) && !open {
        let answered_by = answered_by(Rank::RateLimited);
        Failure {
            retry_after,
            answered_by,
            ..plain_failure(FailureReason::RateLimited, 429, failed)
        }
    } else if ranks().any(|rank| rank == Rank::Unavailable) || held || open {
        let answered_by = answered_by(Rank::Unavailable);
        Failure {
            retry_after,
            answered_by,
            ..plain_failure(FailureReason::Unavailable, 503, failed)
        }
    } else if ranks().any(|rank| rank == Rank::Timeout) {
        plain_failure(FailureReason::Timeout, 504, failed)
    } else if own_attempts().next().is_some()
        && own_attempts().all(|it| it.outcome == Some(AttemptOutcome::Auth) && !it.suspected)
    {
        plain_failure(FailureReason::AccountRefused, 502, failed)
    } else {
        Failure {
            answered_by: answered_by(Rank::BadGateway),
            ..plain_failure(FailureReason::BadGateway, 502, failed)
        }
    }
}

/// The soonest end of a hold or a cool-down of any rung that this request could use.
fn soonest(plan: &Plan, board: &Board, now: Time) -> Option<Duration> {
    let open = |reason| matches!(reason, PassedOver::Open | PassedOver::NoSlot);
    let open = plan.passed_over.iter().filter(|(_, reason)| open(*reason)).map(|(rung, _)| *rung);
    callable(plan)
        .chain(open)
        .filter_map(|rung| {
            let held = board.held_until(rung, now);
            held.max(board.reopens(rung))
        })
        .min()
        .map(|until| until.since(now))
}

/// Rungs that this request could be sent to, now or after a hold.
fn callable(plan: &Plan) -> impl Iterator<Item = RungIndex> {
    let held = plan.passed_over.iter().filter(|(_, reason)| *reason == PassedOver::Hold);
    plan.candidates.iter().copied().chain(held.map(|(rung, _)| *rung))
}

pub(crate) const fn plain_failure(
    reason: FailureReason,
    status: u16,
    outcome: RequestOutcome,
) -> Failure {
    Failure { reason, status, retry_after: None, answered_by: None, outcome, cause: None }
}
