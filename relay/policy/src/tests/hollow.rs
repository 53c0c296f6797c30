//! Empty and invalid answers: how a walk goes on after them, and what they do to their rung.

use super::house::{FIRST, House};
use super::scenario::*;
use crate::breaker::State;
use crate::{Answer, AttemptId, Ending, Input, RungSpec};
use shared::AttemptKind as K;
use std::time::Duration;

const EMPTY: Ending = Ending::Proper(Answer { content: false, ..WHOLE });

#[test]
fn b3_rungs_that_cost_nothing_are_passed_however_many_are_empty() {
    let free = RungSpec { free: true, ..RungSpec::default() };
    let specs = vec![free.clone(), free.clone(), free, RungSpec::default(), RungSpec::default()];
    let mut stage = Stage::set(ladder(5), specs, streaming());
    stage.give(Input::Start);
    assert_eq!(dials(&stage.end(A, EMPTY)), [(2, 1, K::Failover)]);
    assert_eq!(dials(&stage.end(B, EMPTY)), [(3, 2, K::Failover)]);
    assert_eq!(dials(&stage.end(C, EMPTY)), [(4, 3, K::Failover)]);
    let fourth = AttemptId(4);
    assert_eq!(dials(&stage.end(fourth, EMPTY)), [(5, 4, K::Failover)]);
    let fifth = AttemptId(5);
    assert_eq!(failure(&stage.end(fifth, EMPTY)).status, 502, "two that cost something");
}

/// Makes `count` requests whose calls to the first rung all end with `ending`; returns how many of
/// them called that rung first.
fn asked_first(house: &mut House, count: usize, ending: &Ending) -> usize {
    let mut asked = 0;
    for _ in 0..count {
        house.after(Duration::from_secs(1));
        let (mut walk, actions) = house.walk();
        let mut due = dials(&actions);
        asked += usize::from(due[0].1 == 0);
        while let Some((attempt, rung, _)) = due.pop() {
            let attempt = AttemptId(attempt);
            let how = if rung == 0 { ending.clone() } else { Ending::Proper(WHOLE) };
            if how == Ending::Proper(WHOLE) {
                house.give(&mut walk, Input::Token { attempt, refusal: false });
            }
            due = dials(&house.give(&mut walk, Input::Ended(attempt, how)));
        }
    }
    asked
}

#[test]
fn b3_a_rung_that_gives_nothing_is_asked_first_by_few_until_it_answers() {
    for ending in [EMPTY, Ending::Proper(Answer { invalid: true, ..WHOLE })] {
        let mut house = House::new(2);
        let asked = asked_first(&mut house, 100, &ending);
        assert!((4..=25).contains(&asked), "{asked} of 100 paid for it");
        assert_eq!(house.state(FIRST), State::Closed, "it says nothing of whether it is up");
        asked_first(&mut house, 200, &Ending::Proper(WHOLE));
        let asked = asked_first(&mut house, 50, &Ending::Proper(WHOLE));
        assert_eq!(asked, 50, "it is back");
    }
}

#[test]
fn b3_a_few_empty_answers_are_usual() {
    let mut house = House::new(2);
    for _ in 0..20 {
        assert_eq!(asked_first(&mut house, 3, &Ending::Proper(WHOLE)), 3);
        assert_eq!(asked_first(&mut house, 1, &EMPTY), 1);
    }
}
