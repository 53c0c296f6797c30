//! Overrides: their end, and what becomes of walks that are on the rung.

use super::scenario::*;
use crate::breaker::State;
use crate::{Action, Ending, FailureReason, Input, LadderSpec, Need, RungIndex, RungSpec};
use shared::{
    AttemptKind as K, AttemptOutcome as O, BreakerState, Cause, OverrideMode, PassedOver,
    TokenVerdict, TransitionRule,
};
use std::time::Duration;

const FIRST: RungIndex = RungIndex(0);
const SECOND: RungIndex = RungIndex(1);
const FREE: State = State::HalfOpen { taken: false, good: 0 };

fn whys(stage: &mut Stage) -> Vec<(TransitionRule, BreakerState, BreakerState)> {
    let row = |t: crate::Transition| (t.why, t.from, t.to);
    stage.board.take_transitions().into_iter().map(row).collect()
}

fn state(stage: &Stage) -> State {
    stage.board.breaker(FIRST).unwrap().state()
}

#[test]
fn an_override_ends_by_itself() {
    let rows = [
        (OverrideMode::ForcedOpen, Err(PassedOver::Forced), FREE, BreakerState::HalfOpen),
        (OverrideMode::ForcedClosed, Ok(()), State::Closed, BreakerState::Closed),
        (OverrideMode::Demoted, Ok(()), State::Closed, BreakerState::Closed),
    ];
    for (mode, during, after, word) in rows {
        let mut stage = Stage::on(2);
        let until = stage.now.plus(Duration::from_secs(60));
        stage.board.force_until(FIRST, stage.now, mode, Some(until));
        stage.after(59_999);
        assert_eq!(stage.board.usable(FIRST, stage.now), during, "{mode:?}");
        assert_eq!(stage.board.forced(FIRST, stage.now), Some((mode, Some(until))));
        stage.board.settle(stage.now);
        assert_eq!(whys(&mut stage), [], "{mode:?}: not yet");
        // Its end is visible before it has been settled.
        stage.after(1);
        assert_eq!(stage.board.usable(FIRST, stage.now), Ok(()), "{mode:?}");
        assert_eq!(stage.board.forced(FIRST, stage.now), Some((OverrideMode::Auto, None)));
        stage.board.settle(stage.now);
        stage.board.settle(stage.now);
        assert_eq!(
            whys(&mut stage),
            [(TransitionRule::Expired, BreakerState::Closed, word)],
            "{mode:?}: once"
        );
        assert_eq!(state(&stage), after, "{mode:?}");
    }
}

#[test]
fn every_walk_ends_what_is_over_before_it_looks() {
    let mut stage = Stage::on(2);
    let until = stage.now.plus(Duration::from_secs(60));
    stage.board.force_until(FIRST, stage.now, OverrideMode::ForcedOpen, Some(until));
    stage.after(60_000);
    let spec = ladder(2);
    let mut next = Stage { board: stage.board, ..Stage::set(spec, rungs(2), streaming()) };
    next.now = stage.now;
    let actions = next.give(Input::Start);
    assert!(matches!(actions[0], Action::Dial { rung: FIRST, probe: true, .. }), "{actions:?}");
    // Slow start follows.
    next.token(A);
    let mut second = Stage { board: next.board, ..Stage::set(ladder(2), rungs(2), streaming()) };
    second.now = next.now;
    second.give(Input::Start);
    second.token(A);
    assert_eq!(state(&second), State::Closed);
    assert!(second.board.breaker(FIRST).unwrap().weight() < 1.0);
}

#[test]
fn a_demotion_that_is_over_puts_nobody_behind() {
    for (left, first) in [(1, 1), (0, 0)] {
        let mut stage = Stage::set(ladder(2), rungs(2), streaming());
        let until = stage.now.plus(Duration::from_millis(left));
        stage.board.force_until(FIRST, stage.now, OverrideMode::Demoted, Some(until));
        assert_eq!(dials(&stage.give(Input::Start)), [(1, first, K::First)], "{left} ms left");
    }
}

#[test]
fn the_last_word_on_an_override_counts() {
    let mut stage = Stage::on(2);
    let at = |seconds| Some(stage.now.plus(Duration::from_secs(seconds)));
    let (minute, hour) = (at(60), at(3600));
    // Extended, then made endless, then ended by hand: no expiry is left over.
    stage.board.force_until(FIRST, stage.now, OverrideMode::ForcedOpen, minute);
    stage.board.force_until(FIRST, stage.now, OverrideMode::ForcedOpen, hour);
    stage.after(61_000);
    assert_eq!(stage.board.usable(FIRST, stage.now), Err(PassedOver::Forced), "extended");
    stage.board.force(FIRST, stage.now, OverrideMode::ForcedOpen);
    stage.after(3_600_000);
    stage.board.settle(stage.now);
    assert_eq!(stage.board.usable(FIRST, stage.now), Err(PassedOver::Forced), "endless");
    stage.board.force(FIRST, stage.now, OverrideMode::Auto);
    assert_eq!(
        whys(&mut stage),
        [(TransitionRule::Operator, BreakerState::Closed, BreakerState::HalfOpen)]
    );
    let soon = stage.now.plus(Duration::from_secs(1));
    stage.board.force_until(FIRST, stage.now, OverrideMode::Auto, Some(soon));
    stage.after(2_000);
    stage.board.settle(stage.now);
    assert_eq!(whys(&mut stage), [], "nothing was in force");
}

#[test]
fn the_first_of_several_ends_first_and_the_others_later() {
    let mut stage = Stage::on(2);
    for (rung, seconds) in [(FIRST, 60), (SECOND, 30)] {
        let until = stage.now.plus(Duration::from_secs(seconds));
        stage.board.force_until(rung, stage.now, OverrideMode::Demoted, Some(until));
    }
    for (millis, ended) in [(29_999, 0), (1, 1), (29_999, 0), (1, 1), (9_000, 0)] {
        stage.after(millis);
        stage.board.settle(stage.now);
        assert_eq!(whys(&mut stage).len(), ended);
    }
}

/// The attempts that were cut, with their causes and verdicts.
fn cut(actions: &[Action]) -> Vec<(u32, O, Option<Cause>, Option<TokenVerdict>)> {
    let ended = |action: &Action| match action {
        Action::AttemptEnded { attempt, outcome, cause, verdict, .. } => {
            Some((attempt.0, *outcome, *cause, *verdict))
        }
        _ => None,
    };
    actions.iter().filter_map(ended).collect()
}

fn force(stage: &mut Stage, rung: RungIndex) -> Vec<Action> {
    stage.board.force(rung, stage.now, OverrideMode::ForcedOpen);
    stage.give(Input::Forced(rung))
}

const BY_OPERATOR: (u32, O, Option<Cause>, Option<TokenVerdict>) =
    (1, O::Cancelled, Some(Cause::Operator), None);

#[test]
fn what_is_silent_on_a_rung_that_is_forced_open_goes_elsewhere_at_once_and_free() {
    let mut stage = Stage::on(2);
    let budget = stage.board.levels(crate::LadderIndex(0));
    let actions = force(&mut stage, FIRST);
    assert_eq!(cut(&actions), [BY_OPERATOR]);
    assert_eq!(dials(&actions), [(2, 1, K::Failover)]);
    assert_eq!(stage.board.levels(crate::LadderIndex(0)), budget);
    assert_eq!(whys(&mut stage), [], "it says nothing of the rung");
    // The answer comes from the other rung.
    assert!(is_committed(&stage.token(B)));
}

#[test]
fn it_is_free_however_many_failovers_there_were_and_however_empty_the_budget() {
    let mut stage = Stage::on(4);
    while stage.board.budget(crate::LadderIndex(0)).is_some_and(|b| b.take_retry()) {}
    stage.board.force(RungIndex(3), stage.now, OverrideMode::ForcedOpen);
    stage.board.force(RungIndex(3), stage.now, OverrideMode::Auto);
    stage.status(A, 500);
    stage.status(B, 500);
    // The fourth rung is half-open: with an empty budget an ordinary failover would not go there.
    assert_eq!(dials(&force(&mut stage, RungIndex(2))), [(4, 3, K::Failover)]);
}

#[test]
fn a_committed_stream_and_other_rungs_run_on() {
    let mut stage = Stage::on(2);
    assert_eq!(force(&mut stage, SECOND), [], "it is not on that one");
    stage.token(A);
    assert_eq!(force(&mut stage, FIRST), []);
    assert!(is_complete(&stage.end(A, Ending::Proper(WHOLE))));
}

#[test]
fn another_attempt_in_flight_carries_on() {
    let spec = LadderSpec { race: 2, ..ladder(3) };
    let mut stage = Stage::set(spec, rungs(3), streaming());
    assert_eq!(stage.give(Input::Start).len(), 2);
    let actions = force(&mut stage, FIRST);
    assert_eq!((cut(&actions), dials(&actions)), (vec![BY_OPERATOR], vec![]));
    assert!(is_committed(&stage.token(B)));
}

#[test]
fn an_answer_in_the_making_is_cut_and_one_that_is_whole_is_not() {
    let whole = Need::default();
    for (finished, goes) in [(false, true), (true, false)] {
        let mut stage = Stage::set(ladder(2), rungs(2), whole);
        stage.give(Input::Start);
        stage.token(A);
        if finished {
            stage.give(Input::Finished(A, WHOLE));
        }
        let actions = force(&mut stage, FIRST);
        assert_eq!(dials(&actions).len(), usize::from(goes), "{actions:?}");
        // The verdict of its first token stays.
        let good = (1, O::Cancelled, Some(Cause::Operator), Some(TokenVerdict::Good));
        assert_eq!(cut(&actions), if goes { vec![good] } else { vec![] });
    }
}

#[test]
fn a_wait_for_it_ends_too() {
    let mut stage = Stage::set(ladder(2), rungs(2), streaming());
    stage.hold(0, 1_000);
    stage.hold(1, 1_500);
    assert_eq!(stage.give(Input::Start), [], "it waits for the first hold");
    assert_eq!(force(&mut stage, FIRST), [], "now for the other");
    stage.after(1_000);
    assert_eq!(stage.give(Input::Wake), []);
    assert_eq!(dials(&stage.wake()), [(1, 1, K::First)]);
}

#[test]
fn a_back_off_before_a_retry_is_not_waited_for() {
    let mut stage = Stage::set(LadderSpec { retries: Some(2), ..ladder(2) }, rungs(2), streaming());
    stage.give(Input::Start);
    assert_eq!(dials(&stage.status(A, 500)), [], "it backs off");
    assert_eq!(dials(&force(&mut stage, FIRST)), [(2, 1, K::Failover)], "at once");
}

#[test]
fn with_nobody_else_the_client_is_told() {
    let mut stage = Stage::on(1);
    let actions = force(&mut stage, FIRST);
    assert_eq!(cut(&actions), [BY_OPERATOR]);
    assert_eq!(failure(&actions).status, 503);
    assert_eq!(failure(&actions).reason, FailureReason::AllForcedOpen);
}

#[test]
fn a_request_that_may_have_set_something_off_is_not_sent_again() {
    let acting = Need { side_effects: true, ..streaming() };
    let mut stage = Stage::set(ladder(2), rungs(2), acting);
    stage.give(Input::Start);
    let actions = force(&mut stage, FIRST);
    assert_eq!((cut(&actions), dials(&actions)), (vec![BY_OPERATOR], vec![]));
    assert!(stage.walk.is_over());
}

#[test]
fn a_probe_gives_its_slot_back() {
    let mut stage = Stage::set(ladder(2), vec![RungSpec::default(); 2], streaming());
    stage.board.force(FIRST, stage.now, OverrideMode::ForcedOpen);
    stage.board.force(FIRST, stage.now, OverrideMode::Auto);
    stage.give(Input::Start);
    assert_eq!(state(&stage), State::HalfOpen { taken: true, good: 0 });
    force(&mut stage, FIRST);
    assert_eq!(state(&stage), FREE);
}
