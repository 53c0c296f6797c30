//! A refused account: which refusals speak of it, and from when.

use super::house::*;
use super::scenario::*;
use crate::policy::board::Report;
use crate::policy::breaker::State;
use crate::policy::{
    Action, Ending, HedgeDelay, HedgeSpec, Input, LadderSpec, Override, Probe, RungSpec, Told, Why,
};
use shared::{AttemptKind as K, AttemptOutcome as O, PassedOver, Signature};
use std::time::Duration;

fn known(status: u16) -> Ending {
    let signature = Some(Signature::Auth);
    Ending::Status { status, signature, retry_after: None, names_added_field: false }
}

/// What one request after the other hears from the first rung.
#[derive(Debug, Clone)]
enum Hears {
    Says(Ending),
    Token,
}
use Hears::{Says, Token};

#[test]
fn an_unknown_403_opens_on_the_second_one_with_no_good_between() {
    let odd = || Says(by_status(403));
    for (hears, opens) in [
        (vec![Says(by_status(401))], true),
        (vec![Says(by_status(402))], true),
        (vec![Says(known(403))], true),
        (vec![odd()], false),
        (vec![odd(), odd()], true),
        (vec![odd(), Token, odd()], false),
        (vec![odd(), Token, odd(), odd()], true),
        // What says nothing of the account does not clear it.
        (vec![odd(), Says(by_status(500)), odd()], true),
    ] {
        let mut house = House::new(2);
        for one in &hears {
            match one {
                Says(ending) => {
                    let seen = house.request(ending);
                    assert_eq!(seen.len(), 2, "the next rung is called: {hears:?}");
                }
                Token => {
                    house.good(secs(0));
                }
            }
        }
        let is_open = matches!(house.state(FIRST), State::Open { .. });
        assert_eq!(is_open, opens, "{hears:?}");
        let whys: &[Why] = if opens { &[Why::Auth] } else { &[] };
        assert_eq!(house.whys(), whys, "{hears:?}");
    }
}

#[test]
fn the_same_request_is_no_second_witness() {
    let mut house = House::new(2);
    let hears = |house: &mut House, walk| {
        let ticket = house.board.dial(FIRST, house.now, crate::policy::Size::default());
        let odd = Report { outcome: O::Auth, unmatched: true, walk, ..report(ticket, house.now) };
        house.board.ended(FIRST, house.now, &odd);
    };
    for _ in 0..3 {
        hears(&mut house, 7);
    }
    assert_eq!(house.state(FIRST), State::Closed);
    hears(&mut house, 8);
    assert_eq!(house.whys(), [Why::Auth]);
}

/// The half-open first rung's probe, running on unseen after the hedge has won.
fn unseen(house: &mut House) -> Probe {
    let (mut walk, actions) = house.walk();
    assert!(matches!(actions.first(), Some(Action::Dial { probe: true, .. })), "{actions:?}");
    house.after(secs(2));
    house.give(&mut walk, Input::Wake);
    let won = house.give(&mut walk, Input::Token { attempt: B, refusal: false });
    let probe = won.into_iter().find_map(|action| match action {
        Action::Detach { probe, .. } => Some(probe),
        _ => None,
    });
    probe.unwrap()
}

fn half_open() -> House {
    let delay = HedgeDelay::Fixed(Duration::from_secs(1));
    let hedge = HedgeSpec { delay, ..HedgeSpec::default() };
    let spec = LadderSpec { retries: Some(0), hedge, ..ladder(2) };
    let mut house = House::of(spec, vec![RungSpec::default(); 2]);
    house.now = house.open();
    house.whys();
    house
}

#[test]
fn an_unseen_probe_that_is_told_to_wait_holds_its_rung_for_so_long() {
    for status in [429, 503, 529] {
        let mut house = half_open();
        let mut probe = unseen(&mut house);
        probe.ended(house.now, &refused(status, 60), &mut house.board);
        let held = house.board.held_until(FIRST, house.now);
        assert_eq!(held, Some(house.now.plus(secs(60))), "{status}");
        assert_eq!(house.board.usable(FIRST, house.now), Err(PassedOver::Hold));
        let free = State::HalfOpen { taken: false, good: 0 };
        assert_eq!(house.state(FIRST), free, "{status}: no verdict, and its slot is back");
    }
}

#[test]
fn an_unseen_probe_is_a_witness_like_any_other() {
    let mut house = half_open();
    unseen(&mut house).ended(house.now, &by_status(403), &mut house.board);
    assert_eq!(house.state(FIRST), State::HalfOpen { taken: false, good: 0 });
    unseen(&mut house).ended(house.now, &by_status(403), &mut house.board);
    assert_eq!(house.whys().last(), Some(&Why::Auth));
}

#[test]
fn b7_a_refused_account_is_the_reason_for_as_long_as_it_lasts() {
    let mut house = House::new(1);
    let (mut walk, _) = house.walk();
    let first = failure(&house.give(&mut walk, Input::Ended(A, by_status(401))));
    assert_eq!((first.told, first.status), (Told::AccountRefused, 502));
    let (mut walk, actions) = house.walk();
    assert_eq!(dials(&actions), [(1, 0, K::LastResort)]);
    let later = failure(&house.give(&mut walk, Input::Ended(A, by_status(401))));
    assert_eq!((later.told, later.retry_after), (Told::AccountRefused, None));
}

#[test]
fn b7_with_everything_open_the_client_is_told_when() {
    let mut house = House::new(2);
    let until = house.open();
    house.board.force(SECOND, house.now, Override::ForcedOpen);
    let (mut walk, actions) = house.walk();
    assert_eq!(dials(&actions), [(1, 0, K::LastResort)]);
    let told = failure(&house.give(&mut walk, Input::Ended(A, by_status(500))));
    assert_eq!((told.status, told.retry_after), (503, Some(until.since(house.now))));
}
