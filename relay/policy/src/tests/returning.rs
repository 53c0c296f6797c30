//! Slower is not sick: when a rung on its way back gets a new reference, and what passes
//! for sickness all the same.

use super::house::*;
use crate::breaker::State;
use crate::returning::{Away, Returning};
use shared::AttemptOutcome as O;
use shared::{OverrideMode, TransitionRule};
use std::time::Duration;

const USUAL: Duration = Duration::from_secs(1);

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Away from full weight for this many seconds, while no other rung of its ladders is.
fn alone(seconds: u64) -> Away {
    Away { span: secs(seconds), alone: true }
}

/// A token came, or the race was lost, after this many milliseconds.
#[derive(Debug, Clone, Copy)]
enum At {
    Token(u64),
    Cut(u64),
}
use At::{Cut, Token};

/// `count` attempts, each after the mark or not.
type Some_ = (usize, At, bool);

fn seen(attempts: &[Some_]) -> Returning {
    let mut returning = Returning::default();
    for &(count, at, late) in attempts {
        for _ in 0..count {
            match at {
                Token(after) => returning.token(ms(after), late),
                Cut(after) => returning.cut(ms(after), late),
            }
        }
    }
    returning
}

#[test]
fn ten_attempts_together_say_whether_it_is_slower() {
    let rows: [(&str, &[Some_], Option<f64>); 16] = [
        ("nine are too few", &[(9, Token(2_000), true)], None),
        ("ten are enough", &[(10, Token(2_000), true)], Some(2.0)),
        ("the last ten", &[(30, Token(1_000), false), (10, Token(2_000), true)], Some(2.0)),
        ("two after the mark", &[(8, Token(1_500), false), (2, Token(1_500), true)], None),
        ("three after it", &[(7, Token(1_500), false), (3, Token(1_500), true)], Some(1.5)),
        ("as fast as ever", &[(7, Token(1_200), false), (3, Token(1_900), true)], None),
        ("three stragglers", &[(7, Token(1_500), true), (3, Token(9_000), true)], Some(1.5)),
        ("four stragglers", &[(6, Token(1_500), true), (4, Token(9_000), true)], None),
        ("three cut late", &[(7, Token(1_500), false), (3, Cut(2_000), true)], Some(1.5)),
        ("four cut late", &[(6, Token(1_500), false), (4, Cut(2_000), true)], None),
        ("as slow as may be", &[(10, Token(2_400), true)], Some(2.4)),
        ("much slower", &[(10, Token(2_500), true)], None),
        // The six tokens alone would give 1.4. With the four attempts that were cut before, half
        // take 2 s.
        (
            "cut before the mark, and slower for it",
            &[(4, Token(1_400), false), (4, Cut(1_500), false), (2, Token(2_000), true)],
            None,
        ),
        (
            "the same, and enough after the mark",
            &[(4, Token(1_400), false), (3, Cut(1_500), false), (3, Token(2_000), true)],
            Some(2.0),
        ),
        (
            "the same, and who is left is far too late",
            &[(4, Token(1_400), false), (3, Cut(1_500), false), (3, Token(2_500), true)],
            None,
        ),
        (
            "half of them hang",
            &[(2, Token(1_400), false), (5, Cut(1_500), false), (3, Token(1_450), true)],
            None,
        ),
    ];
    for (what, attempts, ratio) in rows {
        assert_eq!(seen(attempts).slower_by(USUAL, alone(60)), ratio, "{what}");
    }
}

#[test]
fn a_rung_that_is_away_alone_is_believed_after_a_minute() {
    for (away, ratio) in [
        (alone(59), None),
        (alone(60), Some(2.0)),
        (Away { span: secs(0), alone: false }, Some(2.0)),
    ] {
        let attempts: &[Some_] = &[(10, Token(2_000), true)];
        assert_eq!(seen(attempts).slower_by(USUAL, away), ratio, "{away:?}");
    }
}

#[test]
fn a_neighbour_that_is_away_is_told_from_the_rung_itself() {
    // The second rung's weight, and whether ten late answers within a minute give a new reference.
    for (second, believed) in [(1.0, false), (0.5, true)] {
        let mut house = House::new(3);
        house.knows(FIRST, (1_000, 900), 0.1);
        house.knows(SECOND, (1_000, 900), second);
        for _ in 0..10 {
            house.call(FIRST, ms(1_400));
            house.call(FIRST, ms(1_240));
        }
        assert_eq!(house.whys().contains(&TransitionRule::Rebased), believed, "weight {second}");
    }
}

#[test]
fn much_slower_is_believed_after_an_hour() {
    for (away, ratio) in [(alone(3_599), None), (alone(3_600), Some(4.0))] {
        assert_eq!(seen(&[(10, Token(4_000), true)]).slower_by(USUAL, away), ratio);
    }
}

#[test]
fn an_error_empties_the_list_and_what_was_used_is_used_up() {
    let mut returning = seen(&[(9, Token(2_000), true)]);
    returning.forget();
    returning.token(ms(2_000), true);
    assert_eq!(returning.slower_by(USUAL, alone(60)), None);
    let mut returning = seen(&[(10, Token(2_000), true)]);
    assert!(returning.slower_by(USUAL, alone(60)).is_some());
    assert_eq!(returning.slower_by(ms(2_000), alone(60)), None);
}

#[test]
fn small_steps_do_not_add_up_until_it_has_been_back() {
    let mut returning = seen(&[(10, Token(2_000), true)]);
    assert_eq!(returning.slower_by(USUAL, alone(60)), Some(2.0));
    for _ in 0..10 {
        returning.token(ms(3_000), true);
    }
    // It is only 1.5 times as slow as after the first step, but three times as slow as when it left
    // full weight.
    assert_eq!(returning.slower_by(ms(2_000), alone(120)), None);
    returning.is_back();
    for _ in 0..10 {
        returning.token(ms(3_000), true);
    }
    assert_eq!(returning.slower_by(ms(2_000), alone(60)), Some(1.5));
}

/// A rung of 1 s at this weight, above another one.
fn away(weight: f64) -> House {
    let mut house = House::new(2);
    house.knows(FIRST, (1_000, 1_000), weight);
    house
}

#[test]
fn a_new_reference_is_worth_two_doublings() {
    let mut house = House::new(2);
    house.knows(FIRST, (1_000, 900), 0.1);
    // A rung that is away alone gets a new reference only after a minute.
    house.after(secs(60));
    for _ in 0..10 {
        // Never five slow attempts in a row, which would halve the weight.
        house.call(FIRST, ms(1_400));
        if house.whys().contains(&TransitionRule::Rebased) {
            break;
        }
        house.call(FIRST, ms(1_240));
    }
    // The good attempts did not double the weight, because no five came in a row. The quiet minute
    // before them did.
    assert_eq!(house.weight(FIRST), 0.8);
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
    // Every probe's token comes after the mark: the rung is open again before the token comes.
    for round in 0..10 {
        let State::Open { until } = house.state(FIRST) else { panic!("round {round}: not open") };
        house.now = until;
        house.call(FIRST, ms(2_000));
        assert_eq!(
            house.whys(),
            [TransitionRule::CooledDown, TransitionRule::ProbeBad],
            "round {round}"
        );
        assert_eq!(house.board.reference(FIRST), Some(secs(1)), "never while it is open");
    }
    let State::Open { until } = house.state(FIRST) else { panic!("open") };
    house.now = until;
    house.call(FIRST, ms(2_000));
    assert_eq!(house.whys(), [TransitionRule::CooledDown, TransitionRule::Rebased]);
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
    // This is within the ten minutes for which the old times would be kept.
    for _ in 0..5 {
        house.call(FIRST, ms(1_900));
    }
    assert_eq!(house.board.reference(FIRST), Some(rebased));
}

#[test]
fn the_reference_stands_still_while_the_rung_is_away() {
    let mut house = House::new(2);
    house.learn(ms(1_000));
    // The rung has become slower, but not beyond the mark: at full weight the reference would rise
    // now.
    for _ in 0..40 {
        house.call(FIRST, ms(1_200));
    }
    for _ in 0..5 {
        house.fail(FIRST, secs(0), O::ServerError);
    }
    let reference = house.board.reference(FIRST).unwrap();
    house.board.force(FIRST, house.now, OverrideMode::ForcedClosed);
    for _ in 0..20 {
        house.after(secs(10));
        house.board.dial(FIRST, house.now, crate::Size::default());
    }
    assert_eq!(house.board.reference(FIRST), Some(reference));
}

#[test]
fn the_reference_rises_with_late_tokens_and_not_with_what_is_cut() {
    // How many late tokens, and how many losers of races that were cut a little sooner, for every
    // ten usual calls. By Kaplan and Meier alone, the p95 is that of the late tokens in all rows.
    // The reference rises with up to two cuts for each late token.
    for (late, cut, rises) in
        [(2, 0, true), (1, 2, true), (2, 4, true), (1, 3, false), (2, 5, false)]
    {
        let mut house = House::new(2);
        house.learn(ms(1_000));
        let before = house.board.reference(FIRST).unwrap();
        for _ in 0..10 {
            for _ in 0..10 {
                house.call(FIRST, ms(1_000));
            }
            for _ in 0..late {
                house.call(FIRST, ms(1_200));
            }
            for _ in 0..cut {
                let (dialled, ticket) =
                    (house.now, house.board.dial(FIRST, house.now, crate::Size::default()));
                house.after(ms(1_100));
                let lost = crate::board::Report {
                    outcome: O::Cancelled,
                    cause: Some(shared::Cause::LostRace),
                    ..report(ticket, dialled)
                };
                house.board.ended(FIRST, house.now, &lost);
            }
        }
        let after = house.board.reference(FIRST).unwrap();
        // A move within one bucket does not count.
        assert_eq!(
            after > before.mul_f64(1.04),
            rises,
            "{late} late, {cut} cut: {before:?} → {after:?}"
        );
    }
}
