//! Holds in the middle of walks: who is called, who is waited for, and how long.

use super::scenario::*;
use crate::{AttemptId, Ending, Input, LadderSpec, Need, RungSpec};
use shared::{AttemptKind as K, AttemptOutcome as O, PassedOver, Signature};
use std::time::Duration;

fn no_retries(count: usize) -> LadderSpec {
    LadderSpec { retries: Some(0), ..ladder(count) }
}

fn too_long() -> Ending {
    Ending::Status {
        status: 400,
        signature: Some(Signature::ContextExceeded),
        certain: false,
        retry_after: None,
        names_added_field: false,
    }
}

#[test]
fn a_rung_whose_hold_has_ended_since_the_plan_is_called() {
    for ending in [by_status(500), refused(429, 2)] {
        let mut stage = Stage::set(no_retries(2), rungs(2), streaming());
        stage.hold(1, 1_000);
        stage.give(Input::Start);
        assert_eq!(dials(&stage.after(3_000).end(A, ending)), [(2, 1, K::Failover)]);
        assert_eq!(stage.walk.passed_over(), [], "it was called after all");
    }
}

#[test]
fn the_default_first_clock_holds_once_another_rung_is_free() {
    let mut stage = Stage::set(ladder(2), rungs(2), streaming());
    stage.hold(1, 1_000);
    stage.give(Input::Start);
    assert_eq!(outcomes(&stage.wake()), [(1, O::TtftTimeout)]);

    // The other rung is held when the clock runs out: the attempt is cut when that hold ends.
    let mut stage = Stage::on(2);
    stage.after(14_000).hold(1, 2_000);
    let since = stage.now;
    while dials(&stage.wake()).is_empty() {}
    assert_eq!(stage.now.since(since), Duration::from_secs(2));
}

#[test]
fn a_rung_held_in_mid_walk_is_passed_over_and_told_of() {
    let mut stage = Stage::set(no_retries(2), rungs(2), streaming());
    stage.give(Input::Start);
    stage.hold(1, 10_000);
    let told = failure(&stage.status(A, 500));
    assert_eq!((told.status, told.retry_after), (503, Some(Duration::from_secs(10))));
    let rows: Vec<_> = stage.walk.passed_over().iter().map(|(rung, why)| (rung.0, *why)).collect();
    assert_eq!(rows, [(1, PassedOver::Hold)]);
}

#[test]
fn waiting_is_bounded_by_patience_by_the_early_head_and_by_room_for_an_answer() {
    let not_interactive = || LadderSpec { interactive: false, ..ladder(1) };
    let patient = || LadderSpec { patience: Some(Duration::from_secs(60)), ..ladder(1) };
    let short = Duration::from_secs(12);
    for (spec, seconds, waits) in [
        (ladder(1), 2, true),
        (ladder(1), 3, false),
        (LadderSpec { patience: Some(Duration::from_secs(4)), ..ladder(1) }, 4, true),
        (LadderSpec { patience: Some(Duration::from_secs(4)), ..ladder(1) }, 5, false),
        (patient(), 19, true),
        (patient(), 21, false),
        (not_interactive(), 19, true),
        (not_interactive(), 21, false),
        (LadderSpec { total: short, ..not_interactive() }, 7, true),
        (LadderSpec { total: short, ..not_interactive() }, 8, false),
    ] {
        // The hold comes in answer to a call, or is there from the start.
        let mut called = Stage::set(spec.clone(), rungs(1), streaming());
        called.give(Input::Start);
        called.end(A, refused(429, seconds));
        assert_eq!(!called.walk.is_over(), waits, "{seconds} s, called");
        let mut held = Stage::set(spec, rungs(1), streaming());
        held.hold(0, seconds * 1000);
        held.give(Input::Start);
        assert_eq!(!held.walk.is_over(), waits, "{seconds} s, held");
        if waits {
            assert_eq!(dials(&held.wake()), [(1, 0, K::First)]);
        }
    }
}

#[test]
fn holds_that_others_lengthen_do_not_add_up() {
    let mut stage = Stage::set(ladder(1), rungs(1), streaming());
    stage.hold(0, 2_000);
    stage.give(Input::Start);
    let started = stage.now;
    while !stage.walk.is_over() && stage.walk.attempts_made() == 0 {
        stage.hold(0, 1_900);
        stage.wake();
    }
    assert!(stage.now.since(started) <= Duration::from_secs(2), "{:?}", stage.now.since(started));

    let spec = LadderSpec { max_attempts: Some(20), ..ladder(1) };
    let mut stage = Stage::set(spec, rungs(1), streaming());
    stage.give(Input::Start);
    for attempt in 1.. {
        stage.end(AttemptId(attempt), refused(429, 2));
        if stage.walk.is_over() {
            break;
        }
        stage.wake();
    }
    assert_eq!(stage.walk.attempts_made(), 2, "one wait of 2 s, not ten");
}

#[test]
fn the_soonest_is_waited_for_and_of_two_the_higher_one() {
    for (first, second, called) in [(1_500, 1_000, 1), (1_000, 1_500, 0), (1_000, 1_000, 0)] {
        let mut stage = Stage::set(ladder(2), rungs(2), streaming());
        stage.hold(0, first);
        stage.hold(1, second);
        stage.give(Input::Start);
        assert_eq!(dials(&stage.wake()), [(1, called, K::First)]);
    }
}

#[test]
fn when_a_wait_is_over_and_the_hold_was_lengthened_another_free_rung_is_called() {
    let mut stage = Stage::set(ladder(2), rungs(2), streaming());
    stage.hold(0, 1_000);
    stage.hold(1, 1_000);
    stage.give(Input::Start);
    stage.hold(0, 10_000);
    assert_eq!(dials(&stage.wake()), [(1, 1, K::First)]);

    let mut stage = Stage::on(1);
    stage.status(A, 500);
    stage.hold(0, 5_000);
    let told = failure(&stage.wake());
    assert_eq!((told.status, told.retry_after.is_some()), (503, true), "held during the back-off");
}

#[test]
fn nobody_waits_for_a_rung_that_would_not_be_called_again() {
    // A rung is not called again after junk, even if it is held meanwhile.
    let mut stage = Stage::on(1);
    stage.hold(0, 1_000);
    stage.end(A, cut());
    assert!(stage.walk.is_over());
    // To wait for a retry, a retry must be left.
    for ending in [by_status(500), refused(503, 1)] {
        let mut stage = Stage::set(no_retries(1), rungs(1), streaming());
        stage.give(Input::Start);
        stage.hold(0, 1_000);
        stage.end(A, ending);
        assert!(stage.walk.is_over());
    }
    // A rung with a smaller context would answer the same.
    let specs = [Some(1000), Some(500)].map(|context| RungSpec { context, ..RungSpec::default() });
    let mut stage = Stage::set(ladder(2), specs.to_vec(), streaming());
    stage.hold(1, 1_500);
    stage.give(Input::Start);
    stage.end(A, too_long());
    assert!(stage.walk.is_over());
}

#[test]
fn a_wait_never_takes_the_place_of_a_candidate_that_was_never_called() {
    let spec = LadderSpec { max_attempts: Some(2), ..ladder(2) };
    let mut stage = Stage::set(spec, rungs(2), streaming());
    stage.give(Input::Start);
    stage.hold(1, 1_500);
    stage.end(A, refused(429, 1));
    assert_eq!(dials(&stage.wake()), [(2, 1, K::Failover)]);
}

#[test]
fn a_503_with_a_retry_after_is_a_hold_and_not_retried_into() {
    let mut stage = Stage::set(LadderSpec { retries: Some(2), ..ladder(2) }, rungs(2), streaming());
    stage.give(Input::Start);
    assert_eq!(dials(&stage.end(A, refused(503, 20))), [(2, 1, K::Failover)]);
    let held = stage.board.held_until(crate::RungIndex(0), stage.now);
    assert_eq!(held.map(|until| until.since(stage.now)), Some(Duration::from_secs(20)));
    // A 503 without a Retry-After is no hold.
    let mut stage = Stage::on(2);
    stage.status(A, 503);
    assert_eq!(stage.board.held_until(crate::RungIndex(0), stage.now), None);
}

#[test]
fn a_rungs_own_hold_settings_count() {
    let spec = RungSpec {
        hold_base: Duration::from_secs(8),
        max_hold: Duration::from_secs(9),
        ..RungSpec::default()
    };
    for (ending, least, most) in [(by_status(429), 5.6, 9.0), (refused(429, 600), 9.0, 9.0)] {
        let mut stage = Stage::set(ladder(2), vec![spec.clone(); 2], streaming());
        stage.give(Input::Start);
        stage.end(A, ending);
        let until = stage.board.held_until(crate::RungIndex(0), stage.now).unwrap();
        let span = until.since(stage.now).as_secs_f64();
        assert!((least..=most).contains(&span), "{span}");
    }
}

#[test]
fn a_token_after_a_hold_forgets_the_doubling() {
    let mut stage = Stage::on(1);
    for _ in 0..4 {
        stage.limit(0, None);
        stage.after(60_000);
    }
    let mut next = Stage::set(ladder(1), rungs(1), Need { stream: true, ..Need::default() });
    (next.board, next.now) = (stage.board, stage.now);
    next.walk.started = next.now;
    next.give(Input::Start);
    next.token(A);
    next.limit(0, None);
    let until = next.board.held_until(crate::RungIndex(0), next.now).unwrap();
    assert!(until.since(next.now) <= Duration::from_millis(2_600));
}
