//! Kinds of requests: what is slow for one is usual for another.

use super::house::*;
use super::scenario::*;
use crate::breaker::State;
use crate::{Effort, HedgeSpec, Kind, Need, Size};
use std::time::Duration;

const THINKS: Size =
    Size { prompt_tokens: 0, kind: Kind { effort: Effort::High, attachments: false } };
const QUICK: Size =
    Size { prompt_tokens: 0, kind: Kind { effort: Effort::Usual, attachments: false } };

fn long(prompt_tokens: u64) -> Size {
    Size { prompt_tokens, ..QUICK }
}

/// A call of the first rung, reported to the board as by a walk.
fn call(house: &mut House, size: Size, millis: u64) {
    let (dialled, ticket) = (house.now, house.board.dial(FIRST, house.now, size));
    let span = Duration::from_millis(millis);
    house.after(span);
    let slow = house.board.mark(FIRST, size).is_some_and(|mark| span >= mark);
    if slow {
        house.board.slow(FIRST, house.now, ticket, size);
    }
    house.board.token(FIRST, house.now, dialled, ticket, slow, size);
}

#[test]
fn b4_thinkers_after_quick_requests_do_not_open_a_rung() {
    let mut house = House::new(2);
    house.learn(Duration::from_millis(500));
    for _ in 0..40 {
        call(&mut house, THINKS, 4_000);
    }
    assert_eq!((house.state(FIRST), house.whys()), (State::Closed, vec![]));
    let mark = house.board.mark(FIRST, THINKS).unwrap();
    assert!((4.5..5.6).contains(&mark.as_secs_f64()), "its kind's own mark: {mark:?}");
    let quick = house.board.mark(FIRST, QUICK).unwrap();
    assert!(quick < Duration::from_millis(800), "and a quick one's stays: {quick:?}");
    let wait = house.board.hedge_delay(FIRST, SECOND, &HedgeSpec::default(), THINKS);
    assert!(wait > Duration::from_millis(4_000), "not hedged before it usually answers: {wait:?}");
}

#[test]
fn b4_a_kind_that_is_not_known_is_given_more_time_and_is_not_called_slow() {
    let mut house = House::new(2);
    house.learn(Duration::from_millis(500));
    assert_eq!(house.board.mark(FIRST, THINKS), None);
    let wait = house.board.hedge_delay(FIRST, SECOND, &HedgeSpec::default(), THINKS);
    assert_eq!((wait, house.board.soft_clock(FIRST, THINKS)), (secs(4), Some(secs(8))));
    // On a rung that is slow itself, a kind gets no less time than usual requests.
    let mut house = House::new(2);
    house.learn(secs(6));
    let soft = house.board.soft_clock(FIRST, THINKS).unwrap();
    assert!(soft > secs(10), "{soft:?}");
}

#[test]
fn b4_each_kind_of_request_has_its_own_mark() {
    let efforts = [Effort::Usual, Effort::Little, Effort::Low, Effort::Medium, Effort::High];
    let kinds = efforts.into_iter().flat_map(|effort| {
        [false, true].map(|attachments| Size { kind: Kind { effort, attachments }, ..QUICK })
    });
    let mut house = House::new(2);
    let mut marks = Vec::new();
    for (nth, size) in (1..).zip(kinds) {
        for _ in 0..40 {
            call(&mut house, size, nth * 600);
        }
        marks.push(house.board.mark(FIRST, size).unwrap().as_secs_f64() / 0.6);
    }
    for (nth, mark) in (1..).zip(marks) {
        let wanted = 1.25 * f64::from(nth);
        assert!((mark - wanted).abs() < 0.1 * wanted, "kind {nth}: {mark} of {wanted}");
    }
    assert_eq!(house.whys(), [], "all of them are well");
}

#[test]
fn b4_what_a_prompt_token_takes_is_learned_for_each_rung() {
    for micros in [4, 36] {
        let mut house = House::new(2);
        house.learn(Duration::from_millis(500));
        for nth in 0..200_u64 {
            let tokens = if nth % 8 == 0 { 30_000 } else { 1_000 };
            // The times vary, so that there is a real median.
            call(&mut house, long(tokens), 450 + nth * 37 % 100 + micros * (tokens - 550) / 1000);
        }
        assert_eq!(house.whys(), [], "{micros} us: a long prompt is not slow");
        let term = |tokens| house.board.mark(FIRST, long(tokens)).unwrap();
        let more = term(30_000).saturating_sub(term(0)).as_secs_f64();
        let wanted = micros as f64 * 29_450e-6;
        assert!((0.6 * wanted..1.6 * wanted).contains(&more), "{micros} us: {more} of {wanted}");
    }
}

#[test]
fn b4_a_walk_waits_by_the_kind_of_its_request() {
    for (kind, seconds) in [(QUICK.kind, 2), (THINKS.kind, 4)] {
        let spec = crate::LadderSpec { hedge: HedgeSpec::default(), ..ladder(2) };
        let need = Need { kind, ..streaming() };
        let mut stage = Stage::set(spec, rungs(2), need);
        stage.give(crate::Input::Start);
        let began = stage.now;
        while dials(&stage.wake()).is_empty() {}
        assert_eq!(stage.now.since(began), secs(seconds), "{kind:?}");
    }
}
