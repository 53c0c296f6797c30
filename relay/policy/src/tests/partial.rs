//! Some calls hang, the others are quick: how soon a rung opens, and how it comes back.

use super::house::*;
use super::scenario::*;
use crate::breaker::State;
use crate::{BreakerSpec, Input, RungSpec, Size};
use shared::{AttemptKind as K, AttemptOutcome as O, OverrideMode, TransitionRule};
use std::time::Duration;

/// How many calls it takes until the first rung is not closed any more, at five a second: every
/// `one_in`th call hangs, the others are as fast as usual. `None`: it stays closed for `most`
/// calls.
fn opens_after(one_in: u64, most: u64) -> Option<u64> {
    let mut house = House::new(2);
    for _ in 0..200 {
        house.good(Duration::from_millis(200));
    }
    (1..=most).find(|nth| {
        if nth % one_in == 0 {
            let ticket = house.board.dial(FIRST, house.now, Size::default());
            house.after(Duration::from_millis(200));
            house.board.slow(FIRST, house.now, ticket, Size::default());
        } else {
            house.good(Duration::from_millis(200));
        }
        house.state(FIRST) != State::Closed
    })
}

#[test]
fn b10_calls_that_hang_among_quick_ones_open_a_rung() {
    let half = opens_after(2, 1000);
    assert!(half.is_some_and(|calls| calls <= 50), "10 s at 5 a second: {half:?}");
    let tenth = opens_after(10, 1000);
    assert!(tenth.is_some_and(|calls| calls <= 400), "{tenth:?}");
    assert_eq!(opens_after(20, 5000), None, "a twentieth is what is usual beyond a mark");
}

/// A call to the first rung that is silent until its mark.
fn hang(house: &mut House) {
    let ticket = house.board.dial(FIRST, house.now, Size::default());
    house.after(Duration::from_millis(200));
    house.board.slow(FIRST, house.now, ticket, Size::default());
}

/// Does this `times` times: one call hangs, three are fast.
fn some_hang(house: &mut House, times: u32) {
    for _ in 0..times {
        hang(house);
        (0..3).for_each(|_| _ = house.call(FIRST, Duration::from_millis(600)));
    }
}

/// A house whose first rung usually takes 0.6 s, sometimes 1.2 s, and was opened by hanging calls.
fn opened_by_hanging() -> House {
    let mut house = House::new(2);
    for nth in 0..60 {
        house.call(FIRST, Duration::from_millis(if nth % 10 == 9 { 1_200 } else { 600 }));
    }
    some_hang(&mut house, 14);
    while house.state(FIRST) == State::Closed {
        hang(&mut house);
    }
    assert_eq!(house.whys(), [TransitionRule::Hanging]);
    house
}

#[test]
fn b10_two_good_probes_say_little_of_calls_that_hang_now_and_then() {
    let mut house = opened_by_hanging();
    house.after(secs(11));
    for nth in 0..10 {
        assert_ne!(house.state(FIRST), State::Closed, "after {nth} probes");
        house.call(FIRST, Duration::from_millis(600));
    }
    assert_eq!(house.state(FIRST), State::Closed);
}

#[test]
fn b10_a_hedge_goes_out_sooner_where_calls_hang_and_the_others_are_quick() {
    let mut house = House::new(2);
    for rung in [FIRST, SECOND] {
        (0..60).for_each(|_| _ = house.call(rung, Duration::from_millis(600)));
    }
    let delay = |house: &House| {
        house.board.hedge_delay(FIRST, SECOND, &house.ladder.hedge, Size::default())
    };
    house.call(FIRST, Duration::from_millis(600));
    let before = delay(&house);
    some_hang(&mut house, 4);
    assert_eq!(delay(&house), before, "four may be stragglers");
    some_hang(&mut house, 6);
    assert_eq!(house.state(FIRST), State::Closed);
    assert!(delay(&house) < before, "{:?}", delay(&house));
    let half_way = (before + house.ladder.hedge.min) / 2;
    assert!(delay(&house) >= half_way, "{:?}", delay(&house));
}

#[test]
fn b10_a_rung_whose_calls_hang_is_not_taken_for_a_slower_one() {
    let mut house = opened_by_hanging();
    house.after(secs(61));
    (0..10).for_each(|_| _ = house.call(FIRST, Duration::from_millis(600)));
    assert_eq!(house.whys(), [TransitionRule::CooledDown, TransitionRule::ProbesGood]);
    // Three of ten are late and the others, by chance, slower than usual.
    for nth in 0..10 {
        house.call(FIRST, Duration::from_millis(if nth % 3 == 2 { 1_600 } else { 900 }));
        let whys = house.whys();
        assert!(!whys.contains(&TransitionRule::Rebased), "{whys:?}");
    }
}

#[test]
fn b10_a_late_token_takes_back_what_its_silence_said() {
    let mut house = House::new(2);
    house.learn(Duration::from_millis(600));
    for nth in 0..400 {
        let late = nth % 5 == 0;
        house.call(FIRST, Duration::from_millis(if late { 1_500 } else { 400 }));
    }
    assert_eq!(house.whys(), [], "one in five is late, none hangs");
}

#[test]
fn h3_quiet_time_brings_a_rung_back_as_good_calls_do() {
    let mut house = House::new(2);
    house.open();
    house.after(secs(10));
    for _ in 0..2 {
        house.good(Duration::from_millis(100));
    }
    assert!((house.weight(FIRST) - 0.1).abs() < 1e-9, "{}", house.weight(FIRST));
    // With few requests, none of which the rung gets, it is back at full weight after a minute.
    let mut weights = Vec::new();
    for _ in 0..5 {
        house.after(secs(15));
        let now = house.now;
        house.board.settle(now);
        weights.push((house.weight(FIRST) * 10.0).round());
    }
    assert_eq!(weights, [2.0, 4.0, 8.0, 10.0, 10.0]);
    assert!(house.board.is_full(FIRST));
}

#[test]
fn h3_a_bad_call_starts_the_quiet_time_anew() {
    let mut house = House::new(2);
    house.open();
    house.after(secs(10));
    for _ in 0..2 {
        house.good(Duration::from_millis(100));
    }
    house.after(secs(14));
    house.fail(FIRST, Duration::ZERO, O::ServerError);
    house.after(secs(14));
    let now = house.now;
    house.board.settle(now);
    assert!((house.weight(FIRST) - 0.1).abs() < 1e-9, "{}", house.weight(FIRST));
}

fn limited() -> House {
    let breaker =
        BreakerSpec { open_ttft_p95: Some(secs(1)), jitter: 0.0, ..BreakerSpec::default() };
    let mut specs = vec![RungSpec::default(); 2];
    specs[0].breaker = breaker;
    House::of(ladder(2), specs)
}

#[test]
fn b9_a_p95_over_its_limit_opens_and_probes_are_judged_by_that_limit() {
    let mut house = limited();
    while house.state(FIRST) == State::Closed {
        house.call(FIRST, Duration::from_millis(1_500));
    }
    assert_eq!(house.whys(), [TransitionRule::SlowP95]);
    // The rung is as slow as before: no probe closes it, although its mark is later than its
    // tokens.
    for _ in 0..40 {
        house.after(secs(11));
        house.call(FIRST, Duration::from_millis(1_500));
    }
    let whys = house.whys();
    assert!(
        whys.iter().all(|why| matches!(why, TransitionRule::CooledDown | TransitionRule::ProbeBad)),
        "{whys:?}"
    );
    // It is within the limit again. It takes ten probes, because two would miss one slow call in
    // twenty.
    house.after(secs(11));
    for nth in 0..10 {
        assert_ne!(house.state(FIRST), State::Closed, "after {nth} probes");
        house.call(FIRST, Duration::from_millis(700));
    }
    assert_eq!(house.state(FIRST), State::Closed);
    // The slow times from before do not open it again.
    house.whys();
    for _ in 0..60 {
        house.call(FIRST, Duration::from_millis(700));
    }
    assert_eq!((house.whys(), house.board.is_full(FIRST)), (vec![], true));
}

#[test]
fn b9_shedding_begins_at_one_in_ten_and_rises_steadily() {
    // How many of 100 calls are bad, and the least and the largest share of requests that is moved
    // past the rung.
    let mut before = 0.0;
    for (bad, least, most) in [(5, 0.0, 0.0), (10, 0.0, 0.02), (20, 0.08, 0.15), (40, 0.30, 0.38)] {
        let mut house = House::new(2);
        for nth in 0..100 {
            if nth * bad / 100 == (nth + 1) * bad / 100 {
                house.call(FIRST, Duration::from_millis(1));
            } else {
                house.fail(FIRST, Duration::from_millis(1), O::ServerError);
            }
        }
        let share = house.board.shed_share(FIRST, house.now);
        assert!((least..=most).contains(&share), "{bad} of 100 bad: {share}");
        assert!(share >= before, "{bad} of 100 bad: {share}, fewer than {before}");
        before = share;
    }
}

/// Sixty walks at once on a fresh relay whose first rung hangs.
fn sixty(house: &mut House) -> Vec<crate::Walk> {
    (0..60).map(|_| house.walk().0).collect()
}

#[test]
fn b2_nobody_goes_on_waiting_at_a_rung_that_has_opened_without_a_reference() {
    let mut house = House::new(2);
    let began = house.now;
    let mut walks = sixty(&mut house);
    while walks.iter().any(|walk| walk.attempts_made() < 2) {
        let next = walks.iter().filter_map(|walk| walk.next_deadline(&house.board)).min();
        house.now = house.now.max(next.unwrap());
        assert!(house.now.since(began) <= secs(4), "opened at 4 s, and still waited for");
        for walk in &mut walks {
            if walk.next_deadline(&house.board).is_some_and(|at| at <= house.now) {
                let mut out = Vec::new();
                walk.handle(house.now, Input::Wake, &mut house.board, &mut out);
            }
        }
    }
    assert_eq!(house.whys(), [TransitionRule::BadRun], "five soft clocks in a row");
}

#[test]
fn b2_an_attempt_past_its_mark_leaves_when_its_rung_opens_later() {
    let mut house = House::new(2);
    house.learn(Duration::from_millis(500));
    let (mut early, _) = house.walk();
    house.after(secs(1));
    house.give(&mut early, Input::Wake);
    assert_eq!(early.attempts_made(), 1, "past its mark, at a rung that is closed");
    for _ in 0..5 {
        house.request(&by_status(500));
    }
    assert_eq!(house.whys(), [TransitionRule::BadRun]);
    let due = early.next_deadline(&house.board).unwrap();
    assert!(due <= house.now, "it is due at once");
    let moved = house.give(&mut early, Input::Wake);
    assert_eq!(dials(&moved), [(2, 1, K::Failover)]);
}

#[test]
fn b2_an_attempt_stays_where_nobody_is_better_and_looks_again() {
    let mut house = House::new(2);
    house.learn(Duration::from_millis(500));
    let (mut waits, _) = house.walk();
    house.open();
    house.board.force(SECOND, house.now, OverrideMode::ForcedOpen);
    house.after(secs(1));
    let out = house.give(&mut waits, Input::Wake);
    assert_eq!(dials(&out), []);
    let again = waits.next_deadline(&house.board).unwrap();
    assert!(again > house.now, "no deadline is due twice");
    house.board.force(SECOND, house.now, OverrideMode::ForcedClosed);
    house.now = again;
    assert_eq!(dials(&house.give(&mut waits, Input::Wake)), [(2, 1, K::Failover)]);
}

#[test]
fn h3_where_many_ask_good_calls_and_not_time_bring_a_rung_back() {
    for (requests, weight) in [(49, 0.2), (51, 0.1)] {
        let mut house = House::new(2);
        house.open();
        house.after(secs(10));
        for _ in 0..2 {
            house.good(Duration::from_millis(100));
        }
        for _ in 0..requests {
            house.board.request(crate::LadderIndex(0));
        }
        house.after(secs(15));
        let now = house.now;
        house.board.settle(now);
        assert!((house.weight(FIRST) - weight).abs() < 1e-9, "{requests} requests");
    }
}
