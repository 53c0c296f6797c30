//! What follows an attempt's end.

use super::scenario::*;
use crate::{
    Action, Answer, Board, Ending, FailureReason, Input, LadderSpec, Need, NoHead, OnEmpty,
    OnRefusal, RungSpec,
};
use shared::{AttemptKind as K, AttemptOutcome as O, Cause, RequestOutcome, Signature};
use std::sync::Arc;

#[test]
fn the_first_token_commits_and_the_proper_end_completes() {
    let mut stage = Stage::on(2);
    assert_eq!(stage.token(A), [Action::Commit(A)]);
    assert_eq!(stage.token(A), [], "a second token changes nothing");
    let done = stage.end(A, Ending::Proper(WHOLE));
    assert_eq!(outcomes(&done), [(1, O::Ok)]);
    assert_eq!(done.last(), Some(&Action::Complete { attempt: A, outcome: RequestOutcome::Ok }));
    assert!(stage.walk.is_over());
}

#[test]
fn explicit_failures_before_the_token_go_to_the_next_rung_at_once() {
    for ending in
        [by_status(500), by_status(503), by_status(401), by_status(302), cut(), unreachable_host()]
    {
        let mut stage = Stage::on(2);
        let actions = stage.end(A, ending.clone());
        assert_eq!(dials(&actions), [(2, 1, K::Failover)], "{ending:?}");
    }
}

#[test]
fn a_bad_request_ends_the_walk_with_the_providers_status() {
    for code in [400, 413, 422, 431] {
        let mut stage = Stage::on(3);
        let told = failure(&stage.status(A, code));
        assert_eq!((told.status, told.answered_by), (code, Some(A)));
        assert_eq!(told.reason, FailureReason::Rejected(O::BadRequest));
        assert_eq!(told.outcome, RequestOutcome::Rejected);
    }
}

#[test]
fn a_prompt_that_is_too_long_goes_only_to_larger_contexts() {
    let sizes = [(Some(1000), 1), (Some(500), 2), (Some(2000), 3), (None, 4)];
    let specs = sizes.map(|(context, model)| RungSpec { context, model, ..RungSpec::default() });
    let mut stage = Stage::set(ladder(4), specs.to_vec(), streaming());
    stage.give(Input::Start);
    let too_long = || Ending::Status {
        status: 400,
        signature: Some(Signature::ContextExceeded),
        certain: false,
        retry_after: None,
        names_added_field: false,
    };
    assert_eq!(dials(&stage.end(A, too_long())), [(2, 2, K::Failover)]);
    // A different failure of the larger rung does not make the smaller one a candidate again.
    assert_eq!(dials(&stage.status(B, 500)), [(3, 3, K::Failover)]);
    let told = failure(&stage.end(C, too_long()));
    assert_eq!((told.status, told.reason), (400, FailureReason::Rejected(O::ContextExceeded)));
}

#[test]
fn a_committed_stream_is_never_retried() {
    for (ending, outcome) in [
        (cut(), O::Disconnect),
        (Ending::ErrorEvent { signature: None, certain: false, retry_after: None }, O::StreamError),
    ] {
        let mut stage = Stage::on(3);
        stage.token(A);
        let actions = stage.end(A, ending);
        assert_eq!(dials(&actions), []);
        assert_eq!(failure(&actions).reason, FailureReason::Broken(outcome));
    }
}

#[test]
fn a_whole_answer_goes_to_the_next_rung_until_its_proper_end() {
    let mut stage = Stage::set(ladder(3), rungs(3), Need::default());
    stage.give(Input::Start);
    assert_eq!(stage.token(A), [], "the token of a whole answer commits nothing");
    assert_eq!(dials(&stage.end(A, cut())), [(2, 1, K::Failover)]);
    stage.token(B);
    let stalled = stage.stall();
    assert_eq!(outcomes(&stalled), [(2, O::Stall)]);
    assert_eq!(dials(&stalled), [(3, 2, K::Failover)]);
    stage.token(C);
    let done = stage.end(C, Ending::Proper(WHOLE));
    assert!(is_committed(&done) && is_complete(&done));
}

#[test]
fn retries_default_to_none_where_another_rung_is_usable_and_to_one_where_none_is() {
    let mut stage = Stage::on(2);
    assert_eq!(dials(&stage.status(A, 500)), [(2, 1, K::Failover)]);
    assert_eq!(dials(&stage.status(B, 500)), [], "a back-off comes first");
    assert_eq!(dials(&stage.wake()), [(3, 1, K::Retry)]);
    assert_eq!(failure(&stage.status(C, 500)).status, 502);
}

#[test]
fn ladders_nobody_waits_for_retry_twice_and_stop_at_max_attempts() {
    let spec = LadderSpec { interactive: false, max_attempts: Some(10), ..ladder(2) };
    let mut stage = Stage::set(spec, rungs(2), streaming());
    stage.give(Input::Start);
    let mut seen = Vec::new();
    for attempt in 1.. {
        let mut actions = stage.status(crate::AttemptId(attempt), 500);
        if dials(&actions).is_empty() && !stage.walk.is_over() {
            actions = stage.wake();
        }
        seen.extend(dials(&actions).into_iter().map(|(_, rung, kind)| (rung, kind)));
        if stage.walk.is_over() {
            break;
        }
    }
    let expected = [(0, K::Retry), (0, K::Retry), (1, K::Failover), (1, K::Retry), (1, K::Retry)];
    assert_eq!(seen, expected);
}

#[test]
fn max_attempts_holds_and_a_retry_never_takes_a_candidates_place() {
    let spec = LadderSpec { retries: Some(5), max_attempts: Some(3), ..ladder(3) };
    let mut stage = Stage::set(spec, rungs(3), streaming());
    stage.give(Input::Start);
    assert_eq!(dials(&stage.status(A, 500)), [(2, 1, K::Failover)]);
    assert_eq!(dials(&stage.status(B, 500)), [(3, 2, K::Failover)]);
    assert_eq!(failure(&stage.status(C, 500)).status, 502);
}

#[test]
fn b9_the_default_leaves_room_for_the_retries() {
    for (retries, interactive, most) in
        [(None, true, 3), (None, false, 5), (Some(0), true, 3), (Some(2), true, 5)]
    {
        let spec = LadderSpec { retries, interactive, ..ladder(2) };
        assert_eq!(spec.max_attempts(), most, "{retries:?} {interactive}");
    }
    let spec = LadderSpec { retries: Some(2), ..ladder(2) };
    let mut stage = Stage::set(spec, rungs(2), streaming());
    stage.give(Input::Start);
    for attempt in [A, B] {
        assert_eq!(dials(&stage.status(attempt, 500)), []);
        assert_eq!(dials(&stage.wake()), [(attempt.0 + 1, 0, K::Retry)]);
    }
    assert_eq!(dials(&stage.status(C, 500)), [(4, 1, K::Failover)]);
}

#[test]
fn h1_a_prompt_that_is_too_long_for_one_model_is_tried_on_another() {
    // Context and model of the rung that refuses and of the next one, and whether the next is
    // called.
    for (refused, next, asked) in [
        ((None, 1), (None, 2), true),
        ((None, 1), (None, 1), false),
        ((None, 1), (Some(100), 2), true),
        ((None, 1), (Some(100), 1), false),
        ((Some(100), 1), (None, 2), true),
        ((Some(100), 1), (None, 1), false),
        ((Some(100), 1), (Some(100), 2), false),
        ((Some(100), 1), (Some(200), 1), true),
    ] {
        let rung = |(context, model)| RungSpec { context, model, ..RungSpec::default() };
        let mut stage = Stage::set(ladder(2), vec![rung(refused), rung(next)], streaming());
        stage.give(Input::Start);
        let too_long = Ending::Status {
            status: 400,
            signature: Some(Signature::ContextExceeded),
            certain: false,
            retry_after: None,
            names_added_field: false,
        };
        let next_asked = !dials(&stage.end(A, too_long)).is_empty();
        assert_eq!(next_asked, asked, "{refused:?} then {next:?}");
    }
}

#[test]
fn h4_a_429_without_a_time_is_waited_for_whatever_chance_says() {
    for seed in 0..100 {
        let mut stage = Stage::set(ladder(1), rungs(1), streaming());
        stage.board =
            Board::new(rungs(1), vec![Arc::new(ladder(1))], fastrand::Rng::with_seed(seed));
        stage.give(Input::Start);
        assert_eq!(dials(&stage.status(A, 429)), [], "{seed}");
        assert_eq!(dials(&stage.wake()), [(2, 0, K::Retry)], "{seed}");
    }
}

#[test]
fn fail_fast_retries_nothing_and_waits_for_nothing() {
    let spec = LadderSpec { fail_fast: true, retries: Some(3), ..ladder(1) };
    let mut stage = Stage::set(spec.clone(), rungs(1), streaming());
    stage.give(Input::Start);
    assert_eq!(failure(&stage.status(A, 503)).status, 503);
    let mut stage = Stage::set(spec, rungs(1), streaming());
    stage.give(Input::Start);
    assert_eq!(failure(&stage.end(A, refused(429, 1))).status, 429);
}

#[test]
fn who_is_retried_and_who_is_not() {
    let spec = LadderSpec { retries: Some(1), max_attempts: Some(9), ..ladder(2) };
    for (ending, retried) in [
        (by_status(500), true),
        (by_status(408), true),
        (by_status(503), true),
        (unreachable_host(), true),
        (cut(), false),
        (by_status(401), false),
        (by_status(302), false),
        (by_status(429), false),
    ] {
        let mut stage = Stage::set(spec.clone(), rungs(2), streaming());
        stage.give(Input::Start);
        let at_once = dials(&stage.end(A, ending.clone()));
        assert_eq!(at_once.is_empty(), retried, "{ending:?}");
    }
}

#[test]
fn back_off_grows_and_varies() {
    let longest = |attempt: u32| {
        let waits = (0..50).map(|seed| {
            let spec = LadderSpec { retries: Some(4), max_attempts: Some(9), ..ladder(1) };
            let mut stage = Stage::set(spec, rungs(1), streaming());
            stage.walk.rng = fastrand::Rng::with_seed(seed);
            stage.give(Input::Start);
            for earlier in 1..attempt {
                stage.status(crate::AttemptId(earlier), 500);
                stage.wake();
            }
            stage.status(crate::AttemptId(attempt), 500);
            stage.walk.next_deadline(&stage.board).unwrap().since(stage.now).as_millis()
        });
        waits.max().unwrap()
    };
    assert!(longest(1) > 150 && longest(2) > 300 && longest(3) > 600);
}

#[test]
fn back_off_stays_within_its_bounds() {
    for seed in 0..50 {
        let spec = LadderSpec { retries: Some(4), max_attempts: Some(9), ..ladder(1) };
        let mut stage = Stage::set(spec, rungs(1), streaming());
        stage.walk.rng = fastrand::Rng::with_seed(seed);
        stage.give(Input::Start);
        for (attempt, most) in [(1, 250), (2, 500), (3, 1000), (4, 1500)] {
            stage.status(crate::AttemptId(attempt), 500);
            let due = stage.walk.next_deadline(&stage.board).unwrap();
            assert!(due.since(stage.now).as_millis() <= most, "retry {attempt}");
            stage.wake();
        }
    }
}

#[test]
fn empty_answers_follow_the_rungs_rule_and_two_of_them_end_the_walk() {
    let empty = || Ending::Proper(Answer { content: false, ..WHOLE });
    let mut stage = Stage::on(3);
    assert_eq!(dials(&stage.end(A, empty())), [(2, 1, K::Failover)]);
    let told = failure(&stage.end(B, empty()));
    assert_eq!((told.status, told.reason), (502, FailureReason::BadGateway));

    let spec = RungSpec { on_empty: OnEmpty::End, ..RungSpec::default() };
    let mut stage = Stage::set(ladder(2), vec![spec; 2], streaming());
    stage.give(Input::Start);
    let done = stage.end(A, empty());
    assert!(is_committed(&done) && is_complete(&done), "{done:?}");
}

#[test]
fn refusals_are_answers_unless_the_rung_says_next() {
    let refusal = || Ending::Proper(Answer { refused: true, ..WHOLE });
    let mut stage = Stage::on(2);
    assert!(is_committed(&stage.give(Input::Token { attempt: A, refusal: true })));
    let done = stage.end(A, refusal());
    let refused = Action::Complete { attempt: A, outcome: RequestOutcome::Refused };
    assert_eq!(done.last(), Some(&refused));

    let spec = RungSpec { on_refusal: OnRefusal::Next, ..RungSpec::default() };
    let mut stage = Stage::set(ladder(2), vec![spec; 2], streaming());
    stage.give(Input::Start);
    let held = stage.give(Input::Token { attempt: A, refusal: true });
    assert_eq!(held, [], "refusal text is held back");
    assert_eq!(dials(&stage.end(A, refusal())), [(2, 1, K::Failover)]);
    let last = stage.give(Input::Token { attempt: B, refusal: true });
    assert!(is_committed(&last), "nobody is left to ask, so the refusal is the answer");
}

#[test]
fn a_prompt_refused_by_status_is_told_as_such() {
    let filtered = Ending::Status {
        status: 400,
        signature: Some(Signature::Refused),
        certain: false,
        retry_after: None,
        names_added_field: false,
    };
    let mut stage = Stage::on(2);
    let told = failure(&stage.end(A, filtered));
    assert_eq!((told.status, told.outcome), (400, RequestOutcome::Refused));
}

#[test]
fn a_complaint_about_an_added_field_is_repeated_once_without_it() {
    let complaint = || Ending::Status {
        status: 400,
        signature: None,
        certain: false,
        retry_after: None,
        names_added_field: true,
    };
    let mut stage = Stage::on(2);
    let actions = stage.end(A, complaint());
    assert_eq!(dials(&actions), [(2, 0, K::Retry)]);
    assert!(matches!(actions.last(), Some(Action::Dial { plain: true, .. })), "{actions:?}");
    assert_eq!(failure(&stage.end(B, complaint())).status, 400, "only once");
}

#[test]
fn side_effects_are_not_sent_twice_without_an_explicit_refusal() {
    let need = Need { side_effects: true, ..streaming() };
    let in_stream = Ending::ErrorEvent {
        signature: Some(Signature::Overloaded),
        certain: false,
        retry_after: None,
    };
    let empty = Ending::Proper(Answer { content: false, ..WHOLE });
    let closed = Ending::NoHead(NoHead::Closed);
    let ambiguous = [by_status(500), by_status(302), cut(), closed, in_stream, empty];
    for ending in ambiguous {
        let mut stage = Stage::set(ladder(2), rungs(2), need);
        let dial = stage.give(Input::Start);
        assert!(matches!(dial.first(), Some(Action::Dial { once: true, .. })), "{dial:?}");
        let actions = stage.end(A, ending.clone());
        assert_eq!(dials(&actions), [], "{ending:?}");
        assert!(stage.walk.is_over());
        // The ladder's setting that there are no side effects ends this limit.
        let spec = LadderSpec { side_effects_none: true, ..ladder(2) };
        let mut stage = Stage::set(spec, rungs(2), need);
        stage.give(Input::Start);
        assert_eq!(dials(&stage.end(A, ending)).len(), 1);
    }
    // A silent attempt is not cut in order to call another rung. But the first clock ends it,
    // whether the config sets it or not.
    let mut stage = Stage::set(ladder(2), rungs(2), need);
    stage.give(Input::Start);
    let started = stage.now;
    while !stage.walk.is_over() {
        assert_eq!(dials(&stage.wake()), []);
    }
    assert_eq!(stage.now.since(started).as_secs(), 15, "not the third clock");
    let explicit = LadderSpec { ttft: Some(std::time::Duration::from_secs(1)), ..ladder(2) };
    let mut stage = Stage::set(explicit, rungs(2), need);
    stage.give(Input::Start);
    assert_eq!(failure(&stage.wake()).status, 504);
    for ending in [by_status(429), by_status(503), by_status(401), unreachable_host()] {
        let mut stage = Stage::set(ladder(2), rungs(2), need);
        stage.give(Input::Start);
        assert_eq!(dials(&stage.end(A, ending.clone())).len(), 1, "{ending:?}");
    }
}

#[test]
fn a_stop_cancels_what_is_in_flight_with_its_cause() {
    let mut stage = Stage::on(2);
    let gone = stage.give(Input::Stop(Cause::ClientGone));
    let cancelled = Action::AttemptEnded {
        attempt: A,
        outcome: O::Cancelled,
        cause: Some(Cause::ClientGone),
        clock: None,
        verdict: None,
        stream_verdict: None,
    };
    assert_eq!(gone.first(), Some(&cancelled));
    assert_eq!(stage.status(A, 500), [], "what comes later is ignored");

    let mut stage = Stage::on(2);
    stage.token(A);
    let told = failure(&stage.give(Input::Stop(Cause::Drain)));
    assert_eq!((told.reason, told.status), (FailureReason::Draining, 503));
}

#[test]
fn after_the_finish_reason_a_break_or_a_client_that_leaves_is_a_success() {
    let mut stage = Stage::on(2);
    stage.token(A);
    stage.give(Input::Finished(A, WHOLE));
    let done = stage.end(A, cut());
    assert!(is_complete(&done));

    let mut stage = Stage::on(2);
    stage.token(A);
    stage.give(Input::Finished(A, WHOLE));
    let gone = stage.give(Input::Stop(Cause::ClientGone));
    assert_eq!(outcomes(&gone), [(1, O::Ok)]);
    assert_eq!(gone.last(), Some(&Action::Abandon { outcome: RequestOutcome::Ok, cause: None }));

    let mut stage = Stage::on(2);
    stage.token(A);
    stage.give(Input::Finished(A, WHOLE));
    let error = Ending::ErrorEvent { signature: None, certain: false, retry_after: None };
    assert_eq!(failure(&stage.end(A, error)).reason, FailureReason::Broken(O::StreamError));
}
