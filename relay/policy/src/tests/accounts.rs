//! A refused account: which refusals speak of it, and from when.

use super::house::*;
use super::scenario::*;
use crate::board::Report;
use crate::breaker::State;
use crate::{
    Action, Ending, FailureReason, HedgeDelay, HedgeSpec, Input, LadderSpec, Probe, RungIndex,
    RungSpec,
};
use shared::{
    AttemptKind as K, AttemptOutcome as O, OverrideMode, PassedOver, Signature, TransitionRule,
};
use std::time::Duration;

fn known(status: u16, certain: bool) -> Ending {
    let signature = Some(Signature::Auth);
    Ending::Status { status, signature, certain, retry_after: None, names_added_field: false }
}

/// What the first rung answers to one request after the other.
#[derive(Debug, Clone)]
enum Hears {
    Says(Ending),
    Token,
}
use Hears::{Says, Token};

#[test]
fn b1_a_suspicion_opens_on_the_second_one_with_no_good_between() {
    let odd = || Says(by_status(403));
    for (hears, opens) in [
        (vec![Says(by_status(401))], true),
        (vec![Says(known(403, true))], true),
        (vec![Says(known(400, true))], true),
        (vec![Says(by_status(402))], false),
        (vec![Says(by_status(402)), Says(by_status(402))], true),
        (vec![Says(by_status(404)), Says(by_status(410))], true),
        (vec![Says(known(400, false))], false),
        (vec![Says(known(400, false)), Says(known(400, false))], true),
        (vec![Says(by_status(405)), Says(by_status(405)), Says(by_status(405))], false),
        (vec![odd()], false),
        (vec![odd(), odd()], true),
        (vec![odd(), Token, odd()], false),
        (vec![odd(), Token, odd(), odd()], true),
        // An ending that says nothing about the account does not clear the suspicion.
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
        let whys: &[TransitionRule] = if opens { &[TransitionRule::Auth] } else { &[] };
        assert_eq!(house.whys(), whys, "{hears:?}");
    }
}

#[test]
fn the_same_request_is_no_second_witness() {
    let mut house = House::new(2);
    let hears = |house: &mut House, walk| {
        let ticket = house.board.dial(FIRST, house.now, crate::Size::default());
        let odd = Report { outcome: O::Auth, suspected: true, walk, ..report(ticket, house.now) };
        house.board.ended(FIRST, house.now, &odd);
    };
    for _ in 0..3 {
        hears(&mut house, 7);
    }
    assert_eq!(house.state(FIRST), State::Closed);
    hears(&mut house, 8);
    assert_eq!(house.whys(), [TransitionRule::Auth]);
}

/// A rung refuses the account in answer to this walk of this client.
fn refuses(house: &mut House, rung: RungIndex, suspected: bool, (walk, client): (u64, u64)) {
    let ticket = house.board.dial(rung, house.now, crate::Size::default());
    let refused = Report { outcome: O::Auth, suspected, walk, client, ..report(ticket, house.now) };
    house.board.ended(rung, house.now, &refused);
}

#[test]
fn b1_the_same_client_is_no_second_witness() {
    let mut house = House::new(2);
    for walk in 1..=9 {
        refuses(&mut house, FIRST, true, (walk, 7));
    }
    assert_eq!(house.whys(), []);
    refuses(&mut house, FIRST, true, (10, 8));
    assert_eq!(house.whys(), [TransitionRule::Auth]);
}

#[test]
fn b1_one_request_takes_one_rung_down_at_most_and_never_the_last() {
    for suspected in [true, false] {
        let mut house = House::new(3);
        for rung in [FIRST, SECOND, THIRD] {
            refuses(&mut house, rung, suspected, (1, 1));
        }
        let is_open = |rung| matches!(house.state(rung), State::Open { .. });
        assert_eq!([FIRST, SECOND, THIRD].map(is_open), [!suspected, false, false]);
        // Another client's request takes one more rung down.
        for rung in [FIRST, SECOND, THIRD] {
            refuses(&mut house, rung, suspected, (2, 2));
        }
        let is_open = |rung| matches!(house.state(rung), State::Open { .. });
        assert_eq!([FIRST, SECOND, THIRD].map(is_open), [true, !suspected, false]);
        for walk in 3..6 {
            for rung in [FIRST, SECOND, THIRD] {
                refuses(&mut house, rung, suspected, (walk, walk));
            }
        }
        // A certain refusal that is confirmed also takes the last rung down; a suspicion never
        // does.
        let is_open = |rung| matches!(house.state(rung), State::Open { .. });
        assert_eq!([FIRST, SECOND, THIRD].map(is_open), [true, true, !suspected]);
    }
}

#[test]
fn b1_a_certain_refusal_by_one_request_spares_the_only_rung() {
    let mut house = House::new(1);
    house.request(&by_status(401));
    assert_eq!(house.state(FIRST), State::Closed);
    house.request(&by_status(401));
    assert_eq!(house.whys(), [TransitionRule::Auth]);
}

#[test]
fn b1_what_one_rung_lacks_is_asked_of_the_next_and_touches_nobodys_health() {
    let missing = Ending::Status {
        status: 404,
        signature: Some(Signature::BadRequest),
        certain: false,
        retry_after: None,
        names_added_field: false,
    };
    for ending in [missing, by_status(405)] {
        let mut house = House::new(2);
        for _ in 0..9 {
            assert_eq!(house.request(&ending).len(), 2, "the next rung is called: {ending:?}");
        }
        assert_eq!((house.state(FIRST), house.whys()), (State::Closed, vec![]), "{ending:?}");
    }
}

/// The half-open first rung's probe, which goes on in the background after the hedge has won.
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
    assert_eq!(house.whys().last(), Some(&TransitionRule::Auth));
}

#[test]
fn b7_a_refused_account_is_the_reason_for_as_long_as_it_lasts() {
    let mut house = House::new(1);
    // One request does not take a ladder's last rung down; a second one does.
    for kind in [K::First, K::First, K::LastResort, K::LastResort] {
        let (mut walk, actions) = house.walk();
        assert_eq!(dials(&actions), [(1, 0, kind)]);
        let told = failure(&house.give(&mut walk, Input::Ended(A, by_status(401))));
        assert_eq!((told.reason, told.status), (FailureReason::AccountRefused, 502));
        assert_eq!(told.retry_after, None);
    }
}

#[test]
fn b7_with_everything_open_the_client_is_told_when() {
    let mut house = House::new(2);
    let until = house.open();
    house.board.force(SECOND, house.now, OverrideMode::ForcedOpen);
    let (mut walk, actions) = house.walk();
    assert_eq!(dials(&actions), [(1, 0, K::LastResort)]);
    let told = failure(&house.give(&mut walk, Input::Ended(A, by_status(500))));
    assert_eq!((told.status, told.retry_after), (503, Some(until.since(house.now))));
}
