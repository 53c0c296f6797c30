//! The three clocks, the early head and the linger.

use super::scenario::*;
use crate::{
    Action, Answer, Ending, FailureReason, Input, LadderIndex, LadderSpec, Need, RungSpec,
};
use shared::{AttemptKind as K, AttemptOutcome as O, RequestOutcome};
use std::time::Duration;

fn secs(secs: u64) -> Option<Duration> {
    Some(Duration::from_secs(secs))
}

#[test]
fn the_first_clock_cuts_a_silent_attempt_and_the_next_rung_is_called() {
    let mut stage = Stage::on(2);
    // The budget has no token for the soft clock.
    while stage.board.budget(LadderIndex(0)).unwrap().take_retry() {}
    let started = stage.now;
    // The soft clock passes first and does nothing.
    assert_eq!(stage.wake(), []);
    let actions = stage.wake();
    assert_eq!(stage.now.since(started), Duration::from_secs(15));
    assert_eq!(outcomes(&actions), [(1, O::TtftTimeout)]);
    assert_eq!(dials(&actions), [(2, 1, K::Failover)]);
}

#[test]
fn alone_with_nobody_left_there_is_no_default_first_clock() {
    let mut stage = Stage::on(1);
    let started = stage.now;
    while !stage.walk.is_over() {
        stage.wake();
    }
    assert_eq!(stage.now.since(started), Duration::from_secs(90), "only the third clock ends it");
}

#[test]
fn an_explicit_first_clock_always_holds() {
    let by_ladder = (LadderSpec { ttft: secs(1), ..ladder(1) }, rungs(1));
    let by_rung = (ladder(1), vec![RungSpec { ttft: secs(1), ..RungSpec::default() }]);
    for (spec, rungs) in [by_ladder, by_rung] {
        let mut stage = Stage::set(spec, rungs, streaming());
        stage.give(Input::Start);
        let started = stage.now;
        let told = failure(&stage.wake());
        assert_eq!(stage.now.since(started), Duration::from_secs(1));
        assert_eq!((told.status, told.reason), (504, FailureReason::Timeout));
    }
}

#[test]
fn the_second_clock_is_fed_by_content_and_stands_still_while_the_client_does_not_read() {
    let mut stage = Stage::on(2);
    stage.token(A);
    stage.after(10_000).token(A);
    stage.after(14_000).give(Input::Unblocked(Duration::from_secs(9)));
    let read = stage.now;
    let actions = stage.stall();
    assert_eq!(stage.now.since(read), Duration::from_secs(10));
    assert_eq!(outcomes(&actions), [(1, O::Stall)]);
    assert_eq!(failure(&actions).reason, FailureReason::Broken(O::Stall));
}

#[test]
fn pings_feed_the_second_clock_only_where_the_rung_says_so() {
    for (pings_count, outcome) in [(false, O::Stall), (true, O::Deadline)] {
        let spec = RungSpec { pings_count, inter_token: secs(1), ..RungSpec::default() };
        let mut stage = Stage::set(ladder(1), vec![spec], streaming());
        stage.give(Input::Start);
        stage.token(A);
        let mut seen = Vec::new();
        while !stage.walk.is_over() {
            stage.after(600).give(Input::Ping(A));
            let due = stage.walk.next_deadline(&stage.board).unwrap();
            if due <= stage.now.plus(Duration::from_millis(600)) {
                seen = stage.wake();
            }
        }
        assert_eq!(outcomes(&seen), [(1, outcome)]);
    }
}

#[test]
fn pings_that_count_hold_off_the_first_clock_too() {
    let spec = RungSpec { pings_count: true, ..RungSpec::default() };
    let mut stage = Stage::set(ladder(2), vec![spec; 2], streaming());
    stage.give(Input::Start);
    stage.after(14_000).give(Input::Ping(A));
    assert_eq!(outcomes(&stage.after(1_000).give(Input::Wake)), []);
    assert_eq!(outcomes(&stage.after(14_000).give(Input::Wake)), [(1, O::TtftTimeout)]);
}

#[test]
fn a_rungs_own_clocks_beat_the_ladders() {
    let spec = RungSpec { ttft: secs(3), inter_token: secs(4), ..RungSpec::default() };
    let ladder = || LadderSpec { ttft: secs(1), inter_token: Duration::from_secs(1), ..ladder(1) };
    let mut stage = Stage::set(ladder(), vec![spec.clone()], streaming());
    stage.give(Input::Start);
    let started = stage.now;
    stage.wake();
    assert_eq!(stage.now.since(started), Duration::from_secs(3));
    let mut stage = Stage::set(ladder(), vec![spec], streaming());
    stage.give(Input::Start);
    stage.token(A);
    let heard = stage.now;
    stage.stall();
    assert_eq!(stage.now.since(heard), Duration::from_secs(4));
}

#[test]
fn unread_time_never_reaches_into_the_future() {
    let mut stage = Stage::on(1);
    stage.token(A);
    stage.after(30_000).token(A);
    stage.give(Input::Unblocked(Duration::from_secs(30)));
    let read = stage.now;
    stage.stall();
    assert_eq!(stage.now.since(read), Duration::from_secs(15));
}

#[test]
fn nobody_is_called_after_the_third_clock() {
    let empty = Answer { content: false, ..WHOLE };
    let late = |stage: &mut Stage| {
        stage.give(Input::Start);
        stage.after(88_990).give(Input::Finished(A, empty));
        stage.after(1_500);
    };
    let spec = || LadderSpec { ttft: secs(89), ..ladder(2) };
    let mut stage = Stage::set(spec(), rungs(2), streaming());
    late(&mut stage);
    let actions = stage.end(A, Ending::Proper(empty));
    assert_eq!(dials(&actions), []);
    assert_eq!(failure(&actions).reason, FailureReason::Deadline);
    let mut stage = Stage::set(spec(), rungs(2), streaming());
    late(&mut stage);
    assert_eq!(dials(&stage.wake()), [], "the linger ran out, and so had the third clock");
}

#[test]
fn the_third_clock_ends_everything() {
    let spec = LadderSpec { total: Duration::from_secs(3), ..ladder(2) };
    let mut stage = Stage::set(spec, rungs(2), streaming());
    stage.give(Input::Start);
    let actions = stage.wake();
    assert_eq!(outcomes(&actions), [(1, O::Deadline)]);
    let told = failure(&actions);
    assert_eq!((told.status, told.outcome), (504, RequestOutcome::Deadline));
}

#[test]
fn a_committed_stream_may_run_on_to_a_third_clock_of_its_own() {
    let clocks = (Duration::from_secs(3), Duration::from_secs(8));
    let spec = LadderSpec { total: clocks.0, stream_total: clocks.1, ..ladder(1) };
    let mut stage = Stage::set(spec.clone(), rungs(1), streaming());
    stage.give(Input::Start);
    stage.token(A);
    for _ in 0..7 {
        stage.after(1_000).give(Input::Wake);
        stage.walk.note_content(stage.now, A);
        assert!(!stage.walk.is_over());
    }
    let actions = stage.after(1_000).give(Input::Wake);
    assert_eq!(outcomes(&actions), [(1, O::Deadline)]);
    // A whole answer is not committed before its end.
    let mut stage = Stage::set(spec, rungs(1), Need::default());
    stage.give(Input::Start);
    stage.token(A);
    assert_eq!(outcomes(&stage.after(3_000).give(Input::Wake)), [(1, O::Deadline)]);
}

#[test]
fn after_a_finish_reason_the_clocks_stop_and_the_relay_ends_the_stream_itself() {
    let mut stage = Stage::on(1);
    stage.token(A);
    stage.after(89_500).give(Input::Finished(A, WHOLE));
    let finished = stage.now;
    let done = stage.wake();
    assert_eq!(stage.now.since(finished), Duration::from_secs(2), "beyond the third clock");
    assert_eq!(outcomes(&done), [(1, O::Ok)]);
    assert!(is_complete(&done));
}

#[test]
fn content_after_a_finish_reason_starts_the_clocks_again() {
    for hot in [true, false] {
        let mut stage = Stage::on(1);
        stage.token(A);
        stage.give(Input::Finished(A, WHOLE));
        stage.after(1_000);
        if hot {
            stage.walk.note_content(stage.now, A);
        } else {
            stage.token(A);
        }
        let heard = stage.now;
        let actions = stage.stall();
        assert_eq!(stage.now.since(heard), Duration::from_secs(15), "no linger any more");
        assert_eq!(outcomes(&actions), [(1, O::Stall)]);
    }
}

#[test]
fn the_head_goes_out_early_once_and_only_for_streams() {
    for (stream, heads) in [(true, 1), (false, 0)] {
        let need = Need { stream, ..Need::default() };
        let mut stage = Stage::set(ladder(1), rungs(1), need);
        stage.give(Input::Start);
        let mut seen = Vec::new();
        while !stage.walk.is_over() {
            seen.extend(stage.wake());
        }
        let sent = seen.iter().filter(|action| matches!(action, Action::SendHead)).count();
        assert_eq!(sent, heads);
    }
}
