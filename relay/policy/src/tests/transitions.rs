//! What a breaker's change says: its figures, and its words.

use super::house::*;
use super::scenario::*;
use crate::board::Report;
use crate::{BreakerSpec, LadderSpec, RungSpec, Transition};
use shared::AttemptOutcome as O;
use shared::{BreakerState, OverrideMode, TransitionRule};
use std::time::Duration;

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The first rung's transitions after `what`, in a house of rungs that take 1 s.
fn told(what: impl FnOnce(&mut House)) -> Vec<Transition> {
    told_with(BreakerSpec::default(), 2, what)
}

fn told_with(spec: BreakerSpec, count: usize, what: impl FnOnce(&mut House)) -> Vec<Transition> {
    let rung = RungSpec { breaker: spec, ..RungSpec::default() };
    let ladder = LadderSpec { retries: Some(0), ..ladder(count) };
    let mut house = House::of(ladder, vec![rung; count]);
    house.knows(FIRST, (1_000, 1_000), 1.0);
    what(&mut house);
    house.board.take_transitions()
}

fn fail(house: &mut House, times: usize) {
    (0..times).for_each(|_| house.fail(FIRST, ms(0), O::ServerError));
}

fn slow(house: &mut House, times: usize) {
    (0..times).for_each(|_| house.fail(FIRST, ms(1_500), O::TtftTimeout));
}

/// Calls that are reported as slow while they still run, as a walk does.
fn late(house: &mut House, times: usize) {
    for _ in 0..times {
        house.call(FIRST, ms(1_500));
    }
}

fn good(house: &mut House, times: usize) {
    for _ in 0..times {
        house.call(FIRST, ms(0));
    }
}

fn refuse(house: &mut House, status: Option<u16>) {
    let ticket = house.board.dial(FIRST, house.now, crate::Size::default());
    let refused = Report { outcome: O::Auth, status, ..report(ticket, house.now) };
    house.board.ended(FIRST, house.now, &refused);
}

fn cool(house: &mut House) {
    house.after(secs(14));
}

#[track_caller]
fn assert_words(rows: Vec<(&str, Vec<Transition>)>) {
    for (text, told) in rows {
        assert_eq!(told.last().map(Transition::text).as_deref(), Some(text), "{told:?}");
    }
}

#[test]
fn the_words_of_an_opening_say_what_was_counted() {
    assert_words(vec![
        ("5 slow in a row", told(|house| late(house, 5))),
        ("5 failed in a row", told(|house| fail(house, 5))),
        (
            "5 bad in a row, 2 of them slow",
            told(|house| {
                fail(house, 3);
                late(house, 2);
            }),
        ),
        (
            "5 of 10 bad in 30 s",
            told(|house| {
                good(house, 3);
                fail(house, 2);
                good(house, 2);
                fail(house, 3);
            }),
        ),
        (
            "5 broken streams in a row",
            told(|house| {
                for _ in 0..5 {
                    let ticket = house.board.dial(FIRST, house.now, crate::Size::default());
                    let broken = report(ticket, house.now);
                    let broken = Report { had_token: true, outcome: O::Disconnect, ..broken };
                    house.board.ended(FIRST, house.now, &broken);
                }
            }),
        ),
        ("account refused (401)", told(|house| refuse(house, Some(401)))),
        ("account refused", told(|house| refuse(house, None))),
    ]);
}

#[test]
fn the_words_of_the_way_back_say_what_happened() {
    assert_words(vec![
        (
            "cool-down over, probing",
            told(|house| {
                fail(house, 5);
                cool(house);
                house.board.dial(FIRST, house.now, crate::Size::default());
            }),
        ),
        (
            "probe failed (server_error)",
            told(|house| {
                fail(house, 5);
                cool(house);
                fail(house, 1);
            }),
        ),
        (
            "probe was slow",
            told(|house| {
                fail(house, 5);
                cool(house);
                late(house, 1);
            }),
        ),
        (
            "probes were good, back at 10 % of its traffic",
            told(|house| {
                fail(house, 5);
                cool(house);
                good(house, 2);
            }),
        ),
        (
            "5 failed in a row; not opened: a ladder would be left without a rung, weight 50 %",
            told_with(BreakerSpec::default(), 1, |house| fail(house, 5)),
        ),
        (
            "5 slow in a row; not opened: it answers, only late, weight 50 %",
            told(|house| {
                house.knows(SECOND, (1_000, 1_000), 0.5);
                late(house, 5);
            }),
        ),
        (
            "an operator's override ran out",
            told(|house| {
                let until = house.now.plus(secs(1));
                house.board.force_until(FIRST, house.now, OverrideMode::Demoted, Some(until));
                house.board.settle(until);
            }),
        ),
        ("24 attempts in a row without a token", {
            let breaker =
                BreakerSpec { open_consecutive: 1000, open_rate: 2.0, ..Default::default() };
            let spec = RungSpec { breaker, ..RungSpec::default() };
            let mut house = House::of(ladder(2), vec![spec; 2]);
            fail(&mut house, 24);
            house.board.take_transitions()
        }),
    ]);
}

#[test]
fn the_figures_are_those_of_the_moment() {
    let told = told(|house| {
        slow(house, 1);
        late(house, 1);
        fail(house, 3);
        cool(house);
        house.board.dial(FIRST, house.now, crate::Size::default());
    });
    let [opened, cooled] = &told[..] else { panic!("{told:?}") };
    assert_eq!(
        (opened.why, opened.from, opened.to),
        (TransitionRule::BadRun, BreakerState::Closed, BreakerState::Open)
    );
    let counted = opened.evidence;
    assert_eq!((counted.calls, counted.bad, counted.slow), (5, 5, 1), "cut at its clock: not slow");
    assert_eq!(opened.tip.outcome, Some(O::ServerError));
    assert_eq!((opened.mark, opened.reference), (Some(ms(1_250)), Some(secs(1))));
    let span = opened.cooldown().unwrap();
    assert!(span >= ms(3_500) && span <= ms(6_500), "{span:?}");
    assert_eq!(opened.until, Some(opened.at.plus(span)));
    assert_eq!(
        (cooled.why, cooled.until, cooled.cooldown()),
        (TransitionRule::CooledDown, None, None)
    );
    assert_eq!(cooled.tip, crate::transition::Tip::default());
    assert!(cooled.generation > opened.generation, "{told:?}");
}

#[test]
fn only_what_an_attempt_did_is_a_requests() {
    for (what, is_a_requests) in [
        (told(|house| fail(house, 5)), true),
        (told(|house| house.board.probe_now(FIRST, house.now)), false),
    ] {
        assert_eq!(what.last().map(Transition::is_a_requests), Some(is_a_requests), "{what:?}");
    }
}
