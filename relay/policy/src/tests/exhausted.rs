//! The ranking of what the client is told.

use super::scenario::*;
use crate::{AttemptId, Ending, FailureReason, Input, LadderSpec, Need};
use shared::{AttemptOutcome, Signature};
use std::time::Duration;

/// Ends one attempt after another with `endings`, none of them retried.
fn told(endings: &[Ending]) -> crate::Failure {
    let spec = LadderSpec { fail_fast: true, ..ladder(endings.len()) };
    let mut stage = Stage::set(spec, rungs(endings.len()), streaming());
    let mut actions = stage.give(Input::Start);
    for (index, ending) in endings.iter().enumerate() {
        let attempt = AttemptId(u32::try_from(index).unwrap() + 1);
        actions = stage.end(attempt, ending.clone());
    }
    failure(&actions)
}

fn missing() -> Ending {
    Ending::Status {
        status: 404,
        signature: Some(Signature::BadRequest),
        certain: false,
        retry_after: None,
        names_added_field: false,
    }
}

#[test]
fn one_error_by_rank_over_all_attempts() {
    let rows: &[(&[Ending], u16, FailureReason)] = &[
        (&[by_status(429), by_status(429)], 429, FailureReason::RateLimited),
        (&[by_status(429), by_status(500)], 503, FailureReason::Unavailable),
        (&[by_status(503), by_status(500)], 503, FailureReason::Unavailable),
        (&[by_status(401), by_status(500)], 502, FailureReason::BadGateway),
        (&[by_status(401), by_status(401)], 502, FailureReason::AccountRefused),
        // An account is not reported as refused while the refusal may be about the request.
        (&[by_status(401), by_status(402)], 502, FailureReason::BadGateway),
        (&[by_status(404)], 502, FailureReason::BadGateway),
        (&[by_status(405)], 502, FailureReason::BadGateway),
        // If one rung lacks a feature and another one broke, the error is about the broken one.
        (&[missing(), by_status(500)], 502, FailureReason::BadGateway),
        (&[missing(), missing()], 400, FailureReason::Rejected(AttemptOutcome::BadRequest)),
        (&[by_status(401), by_status(503)], 503, FailureReason::Unavailable),
        (&[cut(), unreachable_host()], 502, FailureReason::BadGateway),
    ];
    for (endings, status, gist) in rows {
        let told = told(endings);
        assert_eq!((told.status, told.reason), (*status, *gist), "{endings:?}");
    }
}

#[test]
fn a_rung_counts_as_rate_limited_by_what_it_said_last() {
    // One rung: a failure, then a 429.
    let mut stage = Stage::on(1);
    stage.status(A, 500);
    stage.wake();
    assert_eq!(failure(&stage.end(B, refused(429, 50))).status, 429);
    // One rung: a 429 whose hold is waited for, then a failure without a hold.
    let mut stage = Stage::on(1);
    stage.end(A, refused(429, 1));
    stage.wake();
    let told = failure(&stage.status(B, 500));
    assert_eq!((told.status, told.retry_after), (502, None));
    // A rung that was never called, and is free, is not rate limited.
    let spec = LadderSpec { max_attempts: Some(1), ..ladder(2) };
    let mut stage = Stage::set(spec, rungs(2), streaming());
    stage.give(Input::Start);
    assert_eq!(failure(&stage.end(A, refused(429, 50))).status, 503);
    // A hold of another rung counts only while it lasts.
    for (millis, status) in [(1_000, 502), (60_000, 503)] {
        let spec = LadderSpec { retries: Some(0), max_attempts: Some(1), ..ladder(2) };
        let mut stage = Stage::set(spec, rungs(2), streaming());
        stage.hold(1, millis);
        stage.give(Input::Start);
        assert_eq!(failure(&stage.after(5_000).status(A, 500)).status, status);
    }
    // The soonest hold counts, also that of a rung that was not called.
    let mut stage = Stage::on(2);
    stage.hold(1, 10_000);
    let told = failure(&stage.end(A, refused(429, 50)));
    assert_eq!((told.status, told.retry_after), (429, Some(Duration::from_secs(10))));
}

#[test]
fn a_later_terminal_error_speaks() {
    let told = told(&[by_status(500), by_status(400)]);
    assert_eq!((told.status, told.answered_by), (400, Some(B)));
}

#[test]
fn h5_whose_outcome_decides_has_the_word_but_a_refused_account_has_none() {
    let rows: &[(&[Ending], Option<AttemptId>)] = &[
        (&[by_status(503)], Some(A)),
        (&[by_status(503), by_status(500)], Some(A)),
        (&[by_status(500), by_status(503)], Some(B)),
        (&[by_status(500), by_status(500)], Some(B)),
        (&[by_status(429), by_status(429)], Some(B)),
        (&[by_status(401)], None),
        (&[by_status(401), by_status(402)], None),
        (&[by_status(500), by_status(401)], Some(A)),
    ];
    for (endings, speaker) in rows {
        assert_eq!(told(endings).answered_by, *speaker, "{endings:?}");
    }
}

#[test]
fn statuses_that_would_be_said_of_the_client_are_not_passed_on() {
    for status in [401, 403, 404, 413, 429, 500] {
        for signature in [Signature::Refused, Signature::BadRequest, Signature::ContextExceeded] {
            let ending = Ending::Status {
                status,
                signature: Some(signature),
                certain: false,
                retry_after: None,
                names_added_field: false,
            };
            let is_its_own = status == 413 && signature != Signature::ContextExceeded;
            assert_eq!(told(&[ending]).status, if is_its_own { 413 } else { 400 });
        }
    }
}

#[test]
fn a_stall_of_a_whole_answer_is_a_timeout() {
    let mut stage = Stage::set(ladder(1), rungs(1), Need::default());
    stage.give(Input::Start);
    stage.token(A);
    assert_eq!(failure(&stage.stall()).status, 504);
}

#[test]
fn a_timeout_outranks_a_bad_gateway() {
    let spec = LadderSpec { ttft: Some(Duration::from_secs(1)), fail_fast: true, ..ladder(2) };
    let mut stage = Stage::set(spec, rungs(2), streaming());
    stage.give(Input::Start);
    stage.wake();
    assert_eq!(failure(&stage.status(B, 500)).status, 504);
}

#[test]
fn the_soonest_retry_after_is_passed_on() {
    let told = told(&[refused(429, 40), refused(429, 20)]);
    assert_eq!(told.retry_after, Some(Duration::from_secs(20)));
    let unavailable = super::exhausted::told(&[by_status(500), refused(503, 30)]);
    assert_eq!(unavailable.retry_after, Some(Duration::from_secs(30)));
}
