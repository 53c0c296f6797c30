//! Slower is not sick: when a rung on its way back gets a new reference, and what passes
//! for sickness all the same.

use super::house::*;
use crate::policy::Why;
use crate::policy::breaker::State;
use crate::policy::returning::Returning;
use shared::AttemptOutcome as O;
use std::time::Duration;

const USUAL: Duration = Duration::from_secs(1);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// `count` attempts, each after so many milliseconds and after the mark or not.
type Some_ = (usize, Option<u64>, bool);

fn seen(attempts: &[Some_]) -> Returning {
    let mut returning = Returning::default();
    for &(count, after, late) in attempts {
        for _ in 0..count {
            match after {
                Some(after) => returning.token(ms(after), late),
                None => returning.cut_after_mark(),
            }
        }
    }
    returning
}

#[test]
fn ten_attempts_together_say_whether_it_is_slower() {
    let cut = None;
    let rows: [(&str, &[Some_], Option<f64>); 12] = [
        ("nine are too few", &[(9, Some(2_000), true)], None),
        ("ten are enough", &[(10, Some(2_000), true)], Some(2.0)),
        ("the last ten count", &[(30, Some(1_000), false), (10, Some(2_000), true)], Some(2.0)),
        ("two after the mark", &[(8, Some(1_500), false), (2, Some(1_500), true)], None),
        ("three after the mark", &[(7, Some(1_500), false), (3, Some(1_500), true)], Some(1.5)),
        ("as fast as ever", &[(7, Some(1_200), false), (3, Some(1_900), true)], None),
        ("three stragglers", &[(7, Some(1_500), true), (3, Some(9_000), true)], Some(1.5)),
        ("four stragglers", &[(6, Some(1_500), true), (4, Some(9_000), true)], None),
        ("three cut after the mark", &[(7, Some(1_500), false), (3, cut, true)], Some(1.5)),
        ("four cut after the mark", &[(6, Some(1_500), false), (4, cut, true)], None),
        ("as slow as may be", &[(10, Some(2_400), true)], Some(2.4)),
        ("much slower", &[(10, Some(2_500), true)], None),
    ];
    for (what, attempts, ratio) in rows {
        assert_eq!(seen(attempts).slower_by(USUAL, secs(60)), ratio, "{what}");
    }
}

#[test]
fn much_slower_is_believed_after_an_hour() {
    for (away, ratio) in [(secs(3_599), None), (secs(3_600), Some(4.0))] {
        assert_eq!(seen(&[(10, Some(4_000), true)]).slower_by(USUAL, away), ratio);
    }
}

#[test]
fn an_error_empties_the_list_and_what_was_used_is_used_up() {
    let mut returning = seen(&[(9, Some(2_000), true)]);
    returning.forget();
    returning.token(ms(2_000), true);
    assert_eq!(returning.slower_by(USUAL, secs(60)), None);
    let mut returning = seen(&[(10, Some(2_000), true)]);
    assert!(returning.slower_by(USUAL, secs(60)).is_some());
    assert_eq!(returning.slower_by(ms(2_000), secs(60)), None);
}

#[test]
fn small_steps_do_not_add_up_until_it_has_been_back() {
    let mut returning = seen(&[(10, Some(2_000), true)]);
    assert_eq!(returning.slower_by(USUAL, secs(60)), Some(2.0));
    for _ in 0..10 {
        returning.token(ms(3_000), true);
    }
    // Only half as slow again, but three times what it was when it left.
    assert_eq!(returning.slower_by(ms(2_000), secs(120)), None);
    returning.is_back();
    for _ in 0..10 {
        returning.token(ms(3_000), true);
    }
    assert_eq!(returning.slower_by(ms(2_000), secs(60)), Some(1.5));
}

/// A rung of 1 s at this weight, above another one.
fn away(weight: f64) -> House {
    let mut house = House::new(2);
    house.knows(FIRST, (1_000, 1_000), weight);
    house
}

#[test]
fn a_new_reference_is_worth_two_doublings() {
    let mut house = away(0.1);
    for _ in 0..10 {
        // Never five slow ones in a row, which would halve the weight.
        house.call(FIRST, ms(1_400));
        if house.whys().contains(&Why::Rebased) {
            break;
        }
        house.call(FIRST, ms(1_240));
    }
    // Five good ones among them would have doubled it, but none came five in a row.
    assert_eq!(house.weight(FIRST), 0.4);
    let reference = house.board.reference(FIRST).unwrap();
    assert!((1.2..1.45).contains(&reference.as_secs_f64()), "{reference:?}");
}

#[test]
fn a_half_open_rung_is_closed_by_it_and_an_open_one_is_heard_when_it_has_cooled_down() {
    let mut house = away(1.0);
    for _ in 0..5 {
        house.fail(FIRST, secs(0), O::ServerError);
    }
    house.whys();
    // Every probe comes after the mark: the rung is open again before its token is there.
    for round in 0..10 {
        let State::Open { until } = house.state(FIRST) else { panic!("round {round}: not open") };
        house.now = until;
        house.call(FIRST, ms(2_000));
        assert_eq!(house.whys(), [Why::CooledDown, Why::ProbeBad], "round {round}");
        assert_eq!(house.board.reference(FIRST), Some(secs(1)), "never while it is open");
    }
    let State::Open { until } = house.state(FIRST) else { panic!("open") };
    house.now = until;
    house.call(FIRST, ms(2_000));
    assert_eq!(house.whys(), [Why::CooledDown, Why::Rebased]);
    assert_eq!((house.state(FIRST), house.weight(FIRST)), (State::Closed, 0.4));
    assert_eq!(house.board.reference(FIRST), Some(secs(2)));
}

#[test]
fn what_it_took_before_does_not_pull_the_new_reference_down() {
    let mut house = House::new(2);
    house.learn(ms(1_000));
    let before = house.board.reference(FIRST).unwrap();
    for _ in 0..5 {
        house.fail(FIRST, secs(0), O::ServerError);
    }
    let left = house.now;
    while !house.board.is_full(FIRST) {
        assert!(house.now.since(left) < secs(500), "not back");
        if let State::Open { until } = house.state(FIRST) {
            house.now = house.now.max(until);
        }
        house.call(FIRST, ms(1_900));
    }
    let rebased = house.board.reference(FIRST).unwrap();
    assert!(rebased > before.mul_f64(1.7), "{before:?} → {rebased:?}");
    // Within the ten minutes for which the old times are kept.
    for _ in 0..5 {
        house.call(FIRST, ms(1_900));
    }
    assert_eq!(house.board.reference(FIRST), Some(rebased));
}

#[test]
fn the_reference_stands_still_while_the_rung_is_away() {
    let mut house = House::new(2);
    house.learn(ms(1_000));
    // Slower of late, yet before the mark: at full weight the reference would rise now.
    for _ in 0..40 {
        house.call(FIRST, ms(1_200));
    }
    for _ in 0..5 {
        house.fail(FIRST, secs(0), O::ServerError);
    }
    let reference = house.board.reference(FIRST).unwrap();
    house.board.force(FIRST, house.now, crate::policy::Override::ForcedClosed);
    for _ in 0..20 {
        house.after(secs(10));
        house.board.dial(FIRST, house.now);
    }
    assert_eq!(house.board.reference(FIRST), Some(reference));
}
