//! Holds: bounds, doubling, and the later one wins.

use crate::hold::Hold;
use crate::{RungSpec, Time};
use std::time::Duration;

/// `seconds` after a moment long after the start; negative: before it.
fn after(seconds: f64) -> Time {
    Time(1_000_000_000).plus(Duration::from_secs_f64(1000.0 + seconds))
}

fn held(hold: &Hold, now: Time) -> f64 {
    hold.until(now).map_or(0.0, |until| until.since(now).as_secs_f64())
}

fn ask(hold: &mut Hold, now: Time, dialled: Time, retry_after: Option<f64>) {
    let wait = retry_after.map(Duration::from_secs_f64);
    hold.begin(now, dialled, wait, &RungSpec::default(), &mut fastrand::Rng::with_seed(3));
}

#[test]
fn a_retry_after_is_believed_within_bounds() {
    for (asked, least, most) in [
        (Some(1.0), 1.0, 1.0),
        (Some(40.0), 40.0, 40.0),
        (Some(9_999_999.0), 900.0, 900.0),
        (Some(0.3), 1.4, 2.0),
        (Some(0.0), 1.4, 2.0),
        (None, 1.4, 2.0),
    ] {
        let mut hold = Hold::default();
        ask(&mut hold, after(0.0), after(0.0), asked);
        let span = held(&hold, after(0.0));
        assert!(span >= least && span <= most, "{asked:?}: {span}");
    }
}

#[test]
fn the_later_of_overlapping_holds_wins() {
    let mut hold = Hold::default();
    ask(&mut hold, after(0.0), after(0.0), Some(60.0));
    ask(&mut hold, after(1.0), after(0.0), Some(1.0));
    ask(&mut hold, after(2.0), after(0.0), None);
    assert_eq!(held(&hold, after(2.0)), 58.0);
}

#[test]
fn guesses_double_only_for_calls_made_after_the_last_hold_and_are_forgotten_at_a_token() {
    let mut hold = Hold::default();
    ask(&mut hold, after(0.0), after(0.0), None);
    for _ in 0..7 {
        ask(&mut hold, after(0.1), after(0.0), None);
    }
    assert!(held(&hold, after(0.1)) <= 2.0, "the same refusal eight times is one");
    for (round, most) in [(1, 4.0), (2, 8.0), (3, 16.0), (4, 30.0), (5, 30.0)] {
        let now = after(f64::from(round) * 100.0);
        ask(&mut hold, now, now, None);
        let span = held(&hold, now);
        assert!(span <= most && span >= most * 0.7, "round {round}: {span}");
    }
    hold.token(after(700.0));
    ask(&mut hold, after(800.0), after(800.0), None);
    assert!(held(&hold, after(800.0)) <= 2.0);
}

#[test]
fn a_token_of_a_call_from_before_the_hold_forgets_nothing() {
    let mut hold = Hold::default();
    ask(&mut hold, after(0.0), after(0.0), None);
    hold.token(after(-1.0));
    assert!(held(&hold, after(0.0)) > 1.0);
    ask(&mut hold, after(100.0), after(100.0), None);
    assert!(held(&hold, after(100.0)) >= 2.8, "doubled");
}
