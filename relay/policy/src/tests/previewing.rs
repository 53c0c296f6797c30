//! How long users would wait after a change: the rungs' times, mixed.

use super::house::{FIRST, House, SECOND, THIRD};
use crate::RungIndex;
use crate::preview::first_tokens;
use std::time::Duration;

const MILLI: Duration = Duration::from_millis(1);

#[test]
fn times_are_mixed_by_whom_a_change_would_call() {
    let mut house = House::new(3);
    for (rung, millis) in [(FIRST, 400), (SECOND, 2_000)] {
        for _ in 0..40 {
            house.call(rung, MILLI * millis);
        }
    }
    let called = |fast: usize, slow: usize| -> Vec<Option<RungIndex>> {
        let fast = std::iter::repeat_n(Some(FIRST), fast);
        fast.chain(std::iter::repeat_n(Some(SECOND), slow)).collect()
    };
    // Buckets are 4 % wide.
    let near = |time: Duration, millis: u32| {
        (time.as_secs_f64() / (MILLI * millis).as_secs_f64() - 1.0).abs() < 0.05
    };
    // How many requests call the fast and the slow rung; p50 and p95 in milliseconds.
    let rows = [
        (100, 0, 400, 400),
        (0, 100, 2_000, 2_000),
        (90, 10, 400, 2_000),
        (96, 4, 400, 400),
        (40, 60, 2_000, 2_000),
    ];
    for (fast, slow, half, most) in rows {
        let found = first_tokens(&mut house.board, &called(fast, slow), house.now);
        let (Some(p50), Some(p95)) = found else { panic!("{fast} {slow}: {found:?}") };
        assert!(near(p50, half) && near(p95, most), "{fast} {slow}: {found:?}");
    }
}

#[test]
fn what_has_not_been_seen_is_not_known() {
    let mut house = House::new(3);
    house.call(FIRST, MILLI * 400);
    let now = house.now;
    assert!(first_tokens(&mut house.board, &[Some(FIRST)], now).1.is_some());
    let unknown = (None, None);
    assert_eq!(first_tokens(&mut house.board, &[Some(FIRST), Some(THIRD)], now), unknown);
    assert_eq!(first_tokens(&mut house.board, &[None], now), unknown, "nobody is called");
    assert_eq!(first_tokens(&mut house.board, &[], now), unknown);
    // Of every third call it is only known that it takes longer.
    for number in 0..30 {
        if number % 3 == 0 {
            house.fail(SECOND, MILLI * 3_000, shared::AttemptOutcome::TtftTimeout);
        } else {
            house.call(SECOND, MILLI * 400);
        }
    }
    let now = house.now;
    let (half, most) = first_tokens(&mut house.board, &[Some(SECOND)], now);
    assert!(half.is_some() && most.is_none(), "{half:?} {most:?}");
}
