//! Hedges, races, soft clocks and the budgets that bound them.

use super::house::*;
use super::scenario::*;
use crate::{Action, HedgeDelay, HedgeSpec, Input, LadderSpec, Need, RetrySpec, RungSpec, Size};
use shared::{AttemptKind as K, AttemptOutcome as O, Cause, OverrideMode, TokenVerdict};
use std::time::Duration;

fn hedging(count: usize) -> LadderSpec {
    LadderSpec { hedge: HedgeSpec::default(), retries: Some(0), ..ladder(count) }
}

fn hedged(spec: LadderSpec, rungs: Vec<RungSpec>) -> Stage {
    let mut stage = Stage::set(spec, rungs, streaming());
    stage.give(Input::Start);
    stage
}

#[test]
fn a_silent_first_attempt_gets_a_rival_and_the_first_token_wins() {
    let mut stage = hedged(hedging(2), rungs(2));
    let started = stage.now;
    assert_eq!(dials(&stage.wake()), [(2, 1, K::Hedge)]);
    assert_eq!(stage.now.since(started), Duration::from_secs(2), "until 30 tokens were seen");
    let won = stage.token(B);
    let lost = Action::AttemptEnded {
        attempt: A,
        outcome: O::Cancelled,
        cause: Some(Cause::LostRace),
        clock: None,
        verdict: None,
        stream_verdict: None,
    };
    assert_eq!(won, [lost, Action::Commit(B)]);
}

#[test]
fn a_race_lost_at_the_mark_was_slow_though_nobody_was_woken() {
    for (millis, verdict) in [(1_249, None), (1_250, Some(TokenVerdict::Slow))] {
        let delay = HedgeDelay::Fixed(Duration::from_millis(500));
        let spec = LadderSpec { hedge: HedgeSpec { delay, ..HedgeSpec::default() }, ..hedging(2) };
        let mut house = House::of(spec, rungs(2));
        house.knows(FIRST, (1_000, 800), 1.0);
        let (mut walk, _) = house.walk();
        house.after(Duration::from_millis(500));
        house.give(&mut walk, Input::Wake);
        house.after(Duration::from_millis(millis - 500));
        let won = house.give(&mut walk, Input::Token { attempt: B, refusal: false });
        let lost = Action::AttemptEnded {
            attempt: A,
            outcome: O::Cancelled,
            cause: Some(Cause::LostRace),
            clock: None,
            verdict,
            stream_verdict: None,
        };
        assert_eq!(won, [lost, Action::Commit(B)], "lost after {millis} ms");
    }
}

#[test]
fn a_rival_is_never_thought_to_be_slower_than_it_is() {
    // The rival's time to first token, and the hedge's delay for a mark of 1.25 s. The two together
    // never end before the mark; otherwise the loser would be no evidence.
    for (rival, delay) in [(4, 1_250), (100, 1_150), (150, 1_100), (300, 1_010)] {
        let rival = Duration::from_millis(rival);
        let mut house = House::of(hedging(2), rungs(2));
        for _ in 0..40 {
            house.call(SECOND, rival);
            house.after(Duration::from_secs(1));
        }
        house.board.dial(SECOND, house.now, Size::default());
        house.knows(FIRST, (1_000, 800), 1.0);
        let waits = house.board.hedge_delay(FIRST, SECOND, &HedgeSpec::default(), Size::default());
        assert!(waits + rival >= Duration::from_millis(1_250), "{rival:?}: {waits:?}");
        let most = Duration::from_millis(delay) + rival.mul_f64(0.05);
        assert!(waits <= most, "{rival:?}: {waits:?}, and hardly later than that");
    }
}

#[test]
fn nobody_is_hedged_who_must_not_be() {
    let not_interactive = LadderSpec { interactive: false, ..hedging(2) };
    let off =
        LadderSpec { hedge: HedgeSpec { enabled: false, ..HedgeSpec::default() }, ..hedging(2) };
    for spec in [not_interactive, off, hedging(1)] {
        let mut stage = hedged(spec, rungs(2));
        let mut seen = Vec::new();
        while !stage.walk.is_over() {
            seen.extend(dials(&stage.wake()));
        }
        assert!(seen.iter().all(|(_, _, kind)| *kind != K::Hedge), "{seen:?}");
    }
    let need = Need { side_effects: true, ..streaming() };
    let mut stage = Stage::set(hedging(2), rungs(2), need);
    stage.give(Input::Start);
    while !stage.walk.is_over() {
        assert_eq!(dials(&stage.wake()), []);
    }
}

#[test]
fn a_fixed_delay_is_kept_and_another_domain_comes_first() {
    let delay = HedgeDelay::Fixed(Duration::from_millis(700));
    let spec = LadderSpec { hedge: HedgeSpec { delay, ..HedgeSpec::default() }, ..hedging(3) };
    let of = |domain| RungSpec { domains: vec![domain], ..RungSpec::default() };
    let mut stage = hedged(spec, vec![of(1), of(1), of(2)]);
    let started = stage.now;
    assert_eq!(dials(&stage.wake()), [(2, 2, K::Hedge)]);
    assert_eq!(stage.now.since(started), Duration::from_millis(700));
}

#[test]
fn a_hedge_carries_on_alone_and_a_failed_one_is_replaced_once() {
    let mut stage = hedged(hedging(4), rungs(4));
    stage.wake();
    assert_eq!(dials(&stage.status(A, 500)), [], "the hedge is in flight");
    assert!(is_committed(&stage.token(B)));

    let mut stage = hedged(hedging(4), rungs(4));
    stage.wake();
    assert_eq!(dials(&stage.status(B, 500)), [(3, 2, K::Hedge)]);
    assert_eq!(dials(&stage.status(C, 500)), [], "once");
    assert!(is_committed(&stage.token(A)));
}

#[test]
fn at_most_two_are_in_flight_and_one_hedge_is_made() {
    let mut stage = hedged(hedging(4), rungs(4));
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.extend(dials(&stage.wake()));
        if stage.now.since(stage.walk.started) >= Duration::from_secs(14) {
            break;
        }
    }
    assert_eq!(seen.first(), Some(&(2, 1, K::Hedge)));
    assert!(seen.iter().filter(|dial| dial.2 == K::Hedge).count() == 1, "{seen:?}");
}

#[test]
fn an_empty_budget_refuses_hedges_and_is_fed_by_requests_alone() {
    let mut first = hedged(hedging(2), rungs(2));
    let mut board = first.board;
    let mut made = 0;
    for _ in 0..100 {
        let mut stage = Stage::set(hedging(2), rungs(2), streaming());
        std::mem::swap(&mut stage.board, &mut board);
        stage.now = first.now;
        stage.walk.started = stage.now;
        stage.give(Input::Start);
        stage.after(2_000);
        made += dials(&stage.give(Input::Wake)).len();
        stage.give(Input::Stop(Cause::ClientGone));
        board = stage.board;
        first.now = stage.now;
    }
    assert!((29..=31).contains(&made), "20 + 0.10 × 100, not {made}");
}

#[test]
fn a_race_starts_at_once_and_replaces_who_fails() {
    let spec = LadderSpec { race: 2, ..hedging(3) };
    let mut stage = Stage::set(spec, rungs(3), streaming());
    let actions = stage.give(Input::Start);
    assert_eq!(dials(&actions), [(1, 0, K::First), (2, 1, K::Hedge)]);
    assert_eq!(dials(&stage.status(B, 500)), [(3, 2, K::Hedge)]);
    let won = stage.token(A);
    assert_eq!(outcomes(&won), [(3, O::Cancelled)]);
}

#[test]
fn whichever_runner_fails_is_replaced_and_what_is_final_is_not() {
    let racing = || {
        let spec = LadderSpec { race: 2, ..hedging(4) };
        let mut stage = Stage::set(spec, rungs(4), streaming());
        stage.give(Input::Start);
        stage
    };
    let mut stage = racing();
    assert_eq!(dials(&stage.status(A, 500)), [(3, 2, K::Hedge)]);
    assert_eq!(dials(&stage.status(B, 503)), [(4, 3, K::Hedge)], "each of them");
    assert!(is_committed(&stage.token(C)));
    let mut stage = racing();
    assert_eq!(dials(&stage.status(A, 400)), [], "no other rung would say otherwise");
    assert!(is_committed(&stage.token(B)));
}

#[test]
fn a_later_failover_needs_the_budget_or_a_rung_that_is_well() {
    // The retry budget of the board's first ladder is spent.
    let spec = LadderSpec { max_attempts: Some(9), ..hedging(4) };
    let mut stage = hedged(spec, rungs(4));
    while stage.board.budget(crate::LadderIndex(0)).unwrap().take_retry() {}
    assert_eq!(dials(&stage.status(A, 500)), [(2, 1, K::Failover)], "the first is free");
    assert_eq!(dials(&stage.status(B, 500)), [(3, 2, K::Failover)], "to a rung that is well");
    // The last rung is half-open.
    stage.board.force(crate::RungIndex(3), stage.now, OverrideMode::ForcedOpen);
    stage.board.force(crate::RungIndex(3), stage.now, OverrideMode::Auto);
    assert_eq!(dials(&stage.status(C, 500)), [], "half-open and nothing to pay with");
    assert!(stage.walk.is_over());
}

#[test]
fn retries_take_from_the_budget() {
    let spec = LadderSpec { retries: Some(1), max_attempts: Some(9), ..hedging(1) };
    let mut stage = hedged(spec.clone(), rungs(1));
    stage.status(A, 500);
    assert!(!stage.walk.is_over());
    let mut stage = hedged(spec, rungs(1));
    while stage.board.budget(crate::LadderIndex(0)).unwrap().take_retry() {}
    stage.status(A, 500);
    assert!(stage.walk.is_over());
}

#[test]
fn a_ladders_own_retry_budget_rules_it() {
    // A burst, a share, and how many of forty requests may retry.
    for (burst, share, most) in [(1.0, 0.0, 1), (5.0, 0.0, 5), (1.0, 0.5, 20), (20.0, 0.2, 27)] {
        let retry = RetrySpec { share, burst };
        let spec = LadderSpec { retries: Some(1), retry, ..hedging(1) };
        let mut stage = hedged(spec.clone(), rungs(1));
        let mut retried = 0;
        for _ in 0..40 {
            stage.status(A, 500);
            retried += usize::from(!stage.walk.is_over());
            let board = stage.board;
            stage = Stage { board, ..Stage::set(spec.clone(), rungs(1), streaming()) };
            stage.give(Input::Start);
        }
        assert_eq!(retried, most, "burst {burst}, share {share}");
    }
}

#[test]
fn coming_back_after_a_hold_is_paid_for_once() {
    let at = crate::LadderIndex(0);
    let level = |stage: &Stage| stage.board.levels(at).unwrap().1;
    let mut stage = hedged(LadderSpec { max_attempts: Some(9), ..hedging(1) }, rungs(1));
    let before = level(&stage);
    assert_eq!(dials(&stage.end(A, refused(429, 1))), []);
    // Another request's refusal lengthens the hold: the same wait goes on.
    stage.after(500).hold(0, 1_000);
    assert_eq!(dials(&stage.wake()), []);
    assert_eq!(dials(&stage.wake()), [(2, 0, K::Retry)]);
    assert_eq!(level(&stage), before - 1.0);
    while stage.board.budget(at).unwrap().take_retry() {}
    stage.end(B, refused(429, 1));
    assert!(stage.walk.is_over(), "with nothing to pay with it does not wait again");
}

#[test]
fn a_drill_goes_past_rung_one() {
    let spec = LadderSpec { drill: 1.0, ..hedging(3) };
    let mut stage = Stage::set(spec, rungs(3), streaming());
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 1, K::Drill)]);
    let alone = LadderSpec { drill: 1.0, ..hedging(1) };
    let mut stage = Stage::set(alone, rungs(1), streaming());
    assert_eq!(dials(&stage.give(Input::Start)), [(1, 0, K::First)]);
}

#[test]
fn a_drill_goes_to_a_rung_at_full_weight() {
    // Which other rungs are half-open, where the drill goes, its kind, and which rung comes next.
    for (half_open, goes, kind, then) in [
        (vec![], 1, K::Drill, 2),
        (vec![1], 2, K::Drill, 1),
        (vec![2], 1, K::Drill, 2),
        (vec![1, 2], 0, K::First, 1),
    ] {
        let spec = LadderSpec { drill: 1.0, ..hedging(3) };
        let mut stage = Stage::set(spec, rungs(3), streaming());
        for &rung in &half_open {
            let rung = crate::RungIndex(rung);
            stage.board.force(rung, stage.now, OverrideMode::ForcedOpen);
            stage.board.force(rung, stage.now, OverrideMode::Auto);
        }
        assert_eq!(dials(&stage.give(Input::Start)), [(1, goes, kind)], "{half_open:?}");
        let next = dials(&stage.status(A, 500));
        assert_eq!(next, [(2, then, K::Failover)], "{half_open:?}: rung one is the last choice");
    }
}
