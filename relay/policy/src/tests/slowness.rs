//! Slow or silent: what a late token spares, what the soft clock cuts, and who leaves a
//! rung that has opened.

use super::house::*;
use super::scenario::*;
use crate::breaker::State;
use crate::lateness::Lateness;
use crate::{Action, HedgeDelay, HedgeSpec, Input, LadderIndex, LadderSpec, RungSpec, Time};
use shared::{AttemptKind as K, AttemptOutcome as O, OverrideMode, TransitionRule};
use std::time::Duration;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn a_rung_answers_late_if_half_of_what_is_bad_were_late_tokens() {
    // Bad attempts, late tokens, seconds since then, and whether the rung is only late.
    for (bad, late, since, mere) in [
        (0, 0, 0, false),
        (3, 2, 0, false),
        (3, 3, 0, true),
        (6, 3, 0, true),
        (7, 3, 0, false),
        (7, 4, 0, true),
        // Both counts fade at the same rate.
        (3, 3, 1, false),
        (6, 6, 20, true),
        (6, 6, 21, false),
    ] {
        let mut lateness = Lateness::default();
        let now = Time::from_millis(5_000_000);
        (0..bad).for_each(|_| lateness.bad(now));
        (0..late).for_each(|_| lateness.late(now));
        let then = now.plus(secs(since));
        assert_eq!(lateness.is_mere(then), mere, "{late} of {bad} late, {since} s ago");
    }
}

/// A house whose rungs take 1 s; the first and the second are at these weights.
fn at_weights(first: f64, second: f64) -> House {
    let mut house = House::new(3);
    house.knows(FIRST, (1_000, 800), first);
    house.knows(SECOND, (1_000, 800), second);
    house.knows(THIRD, (1_000, 800), 1.0);
    house
}

#[test]
fn late_tokens_spare_a_rung_only_while_somebody_is_away() {
    // The weights before, the first rung's weight afterwards, and the rule.
    for (first, second, after, why) in [
        (1.0, 1.0, 1.0, TransitionRule::BadRun),
        (1.0, 0.5, 0.5, TransitionRule::Spared),
        (0.4, 1.0, 0.2, TransitionRule::Spared),
        (0.4, 0.5, 0.2, TransitionRule::Spared),
    ] {
        let mut house = at_weights(first, second);
        for _ in 0..5 {
            house.call(FIRST, ms(1_600));
        }
        assert_eq!(house.whys(), [why], "weights {first} and {second}");
        assert_eq!(house.weight(FIRST), after, "weights {first} and {second}");
        let is_open = matches!(house.state(FIRST), State::Open { .. });
        assert_eq!(is_open, why == TransitionRule::BadRun, "weights {first} and {second}");
    }
}

#[test]
fn silence_is_spared_by_nobody_who_is_away() {
    let mut house = at_weights(1.0, 0.5);
    for _ in 0..5 {
        house.fail(FIRST, ms(1_600), O::TtftTimeout);
    }
    assert_eq!(house.whys(), [TransitionRule::BadRun]);
}

#[test]
fn broken_streams_open_a_rung_however_late_it_answers() {
    let mut house = at_weights(1.0, 0.5);
    for _ in 0..4 {
        house.call(FIRST, ms(1_600));
    }
    assert!(house.board.is_merely_slow(FIRST, house.now));
    for _ in 0..5 {
        let ticket = house.board.dial(FIRST, house.now, crate::Size::default());
        let broken = report(ticket, house.now);
        let broken = crate::board::Report { had_token: true, outcome: O::Stall, ..broken };
        house.board.ended(FIRST, house.now, &broken);
    }
    assert_eq!(house.whys(), [TransitionRule::BrokenRun]);
}

/// A walk on `count` rungs with this reference and this hedge; nothing is due yet.
fn known(count: usize, p95: u64, hedge: HedgeSpec) -> Stage {
    let mut house = House::of(LadderSpec { hedge, ..ladder(count) }, rungs(count));
    for rung in 0..count {
        house.knows(crate::RungIndex(rung), (p95, p95), 1.0);
    }
    let (walk, _) = house.walk();
    Stage { walk, board: house.board, now: house.now }
}

fn no_hedge() -> HedgeSpec {
    HedgeSpec { enabled: false, ..HedgeSpec::default() }
}

/// Wakes the walk until something happens.
fn until_something(stage: &mut Stage) -> Vec<Action> {
    for _ in 0..8 {
        let actions = stage.wake();
        if !actions.is_empty() {
            return actions;
        }
    }
    panic!("nothing ever happens")
}

#[test]
fn the_soft_clock_is_not_far_beyond_the_mark() {
    // A reference, and when a silent attempt fails over to the next rung, in milliseconds.
    for (p95, clock) in [(500, 3_000), (1_000, 3_000), (2_000, 3_600), (6_000, 10_800)] {
        let mut stage = known(2, p95, no_hedge());
        let started = stage.now;
        let actions = until_something(&mut stage);
        assert_eq!(stage.now.since(started), ms(clock), "{p95}");
        assert_eq!(outcomes(&actions), [(1, O::TtftTimeout)], "{p95}");
        assert_eq!(dials(&actions), [(2, 1, K::Failover)], "{p95}");
    }
}

#[test]
fn the_soft_clock_takes_from_the_budget_and_does_nothing_without_it() {
    let mut stage = known(2, 2_000, no_hedge());
    let at = LadderIndex(0);
    let before = stage.board.levels(at).unwrap().1;
    until_something(&mut stage);
    assert_eq!(stage.board.levels(at).unwrap().1, before - 1.0);
    let mut stage = known(2, 2_000, no_hedge());
    while stage.board.budget(at).unwrap().take_retry() {}
    let started = stage.now;
    let actions = until_something(&mut stage);
    assert_eq!(stage.now.since(started), secs(15), "the hard clock remains");
    assert_eq!(outcomes(&actions), [(1, O::TtftTimeout)]);
}

#[test]
fn an_attempt_on_a_rung_that_answers_late_is_not_cut_by_the_soft_clock() {
    let mut stage = known(2, 2_000, no_hedge());
    let mut house = House::new(2);
    std::mem::swap(&mut house.board, &mut stage.board);
    // One call is good; otherwise the attempt's own mark would be the fifth bad one in a row.
    for span in [3_000, 3_000, 1_000, 3_000, 3_000] {
        house.now = stage.now;
        house.call(FIRST, ms(span));
    }
    std::mem::swap(&mut house.board, &mut stage.board);
    let started = stage.now;
    until_something(&mut stage);
    assert_eq!(stage.now.since(started), secs(15), "only the hard clock cuts it");
}

#[test]
fn the_soft_clock_cuts_beside_a_hedge_too() {
    let delay = HedgeDelay::Fixed(ms(1_000));
    let mut stage = known(3, 2_000, HedgeSpec { delay, ..HedgeSpec::default() });
    assert_eq!(dials(&until_something(&mut stage)), [(2, 1, K::Hedge)]);
    let actions = until_something(&mut stage);
    assert_eq!(outcomes(&actions), [(1, O::TtftTimeout)], "the first one at its own soft clock");
    assert_eq!(dials(&actions), [(3, 2, K::Failover)]);
    assert!(is_committed(&stage.token(B)), "the hedge still runs");
}

/// What the state is when a silent first attempt reaches its mark.
#[derive(Debug, Clone, Copy)]
enum Around {
    Opened,
    NotOpened,
    NobodyIsFull,
    AnswersLate,
    Hedged,
}

#[test]
fn whoever_is_past_the_mark_on_a_rung_that_opened_leaves_it_for_one_at_full_weight() {
    for (around, leaves) in [
        (Around::Opened, true),
        (Around::NotOpened, false),
        (Around::NobodyIsFull, false),
        (Around::AnswersLate, false),
        (Around::Hedged, false),
    ] {
        let delay = HedgeDelay::Fixed(ms(100));
        let enabled = matches!(around, Around::Hedged);
        let hedge = HedgeSpec { enabled, delay, ..HedgeSpec::default() };
        let mut stage = known(3, 1_000, hedge);
        let at = LadderIndex(0);
        // The budget is empty, because this failover needs none: a busy rung's whole traffic may
        // have to move.
        while stage.board.budget(at).unwrap().take_retry() {}
        if enabled {
            stage.wake();
        }
        let mut house = House::new(3);
        std::mem::swap(&mut house.board, &mut stage.board);
        house.now = stage.now;
        if matches!(around, Around::NobodyIsFull) {
            house.knows(SECOND, (1_000, 1_000), 0.5);
            house.knows(THIRD, (1_000, 1_000), 0.5);
        }
        // The attempt's own mark is one more bad attempt.
        let failures = if matches!(around, Around::NotOpened) { 3 } else { 5 };
        for _ in 0..failures {
            house.fail(FIRST, ms(0), O::ServerError);
        }
        if matches!(around, Around::AnswersLate) {
            let ticket = crate::breaker::Ticket::default();
            for _ in 0..4 {
                house.board.token(
                    FIRST,
                    house.now,
                    house.now,
                    ticket,
                    true,
                    crate::Size::default(),
                );
            }
        }
        std::mem::swap(&mut house.board, &mut stage.board);
        let mark = stage.walk.started.plus(ms(1_250));
        let mut seen = Vec::new();
        while stage.now < mark {
            seen = stage.wake();
        }
        assert_eq!(stage.now, mark, "{around:?}");
        let moved: &[_] = if leaves { &[(2, 1, K::Failover)] } else { &[] };
        assert_eq!(dials(&seen), moved, "{around:?}");
        if leaves {
            assert_eq!(outcomes(&seen), [(1, O::TtftTimeout)]);
            // This was the free failover. A further one needs a token of the empty budget, or a
            // rung at full weight, and the third rung is half-open.
            stage.board.force(THIRD, stage.now, OverrideMode::ForcedOpen);
            stage.board.force(THIRD, stage.now, OverrideMode::Auto);
            assert_eq!(dials(&stage.status(B, 500)), []);
            assert!(stage.walk.is_over());
        }
    }
}

#[test]
fn neither_a_probe_nor_a_last_resort_leaves_its_rung_at_the_mark() {
    let mut house = at_weights(1.0, 1.0);
    for _ in 0..5 {
        house.fail(FIRST, ms(0), O::ServerError);
    }
    let State::Open { until } = house.state(FIRST) else { panic!("open") };
    house.now = until;
    let (mut probe, actions) = house.walk();
    assert!(matches!(actions.first(), Some(Action::Dial { probe: true, .. })), "{actions:?}");
    house.after(ms(1_250));
    assert_eq!(house.give(&mut probe, Input::Wake), [], "it is what the rung is judged by");
    assert!(matches!(house.state(FIRST), State::Open { .. }), "and it was bad");

    let mut house = at_weights(1.0, 1.0);
    house.fail(FIRST, ms(0), O::Auth);
    for rung in [SECOND, THIRD] {
        house.board.force(rung, house.now, OverrideMode::ForcedOpen);
    }
    let (mut last, actions) = house.walk();
    assert_eq!(dials(&actions), [(1, 0, K::LastResort)]);
    for rung in [SECOND, THIRD] {
        house.board.force(rung, house.now, OverrideMode::ForcedClosed);
    }
    house.after(ms(1_250));
    assert_eq!(house.give(&mut last, Input::Wake), [], "nobody else was there to be called");
}

#[test]
fn before_there_is_a_reference_the_soft_clock_is_4_s() {
    let asked = |ladder_ttft, rung_ttft, pings_count| {
        let spec = RungSpec { ttft: rung_ttft, pings_count, ..RungSpec::default() };
        (LadderSpec { ttft: ladder_ttft, ..ladder(2) }, vec![spec; 2])
    };
    let usual = || (ladder(2), rungs(2));
    // The ladder, whether the retry budget has a token, and when the first attempt is cut.
    for ((ladder, rungs), full, cut) in [
        (usual(), true, Some(secs(4))),
        (usual(), false, Some(secs(15))),
        ((ladder(1), rungs(1)), true, None),
        // A configured first clock, or pings that count, are not cut short by the soft clock.
        (asked(Some(secs(9)), None, false), true, Some(secs(9))),
        (asked(None, Some(secs(9)), false), true, Some(secs(9))),
        (asked(None, None, true), true, Some(secs(15))),
    ] {
        let count = ladder.rungs.len();
        let mut house = House::of(ladder, rungs);
        let (walk, _) = house.walk();
        let mut stage = Stage { walk, board: house.board, now: house.now };
        while !full && stage.board.budget(LadderIndex(0)).unwrap().take_retry() {}
        let started = stage.now;
        let mut seen = Vec::new();
        while seen.is_empty() && stage.walk.next_deadline(&stage.board).is_some() {
            seen = outcomes(&stage.wake());
        }
        let waited = stage.now.since(started);
        match cut {
            Some(cut) => assert_eq!((waited, seen), (cut, vec![(1, O::TtftTimeout)]), "{count}"),
            None => assert!(waited > secs(60), "nobody else: it waits, {waited:?}"),
        }
    }
}
