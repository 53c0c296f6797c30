//! What the relay itself is to blame for says nothing about a rung.

use super::house::FIRST;
use super::scenario::*;
use crate::breaker::State;
use crate::{Action, Ending, HedgeSpec, Input, LadderSpec, NoHead, RungSpec};
use shared::{AttemptKind as K, AttemptOutcome as O, Cause, TokenVerdict as V};
use std::time::Duration;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A started walk on two rungs whose first clock is 2 s, hedged after 500 ms.
fn hedged() -> Stage {
    let hedge = HedgeSpec { enabled: true, initial: ms(500), ..HedgeSpec::default() };
    let spec = RungSpec { ttft: Some(ms(2_000)), ..RungSpec::default() };
    let ladder = LadderSpec { hedge, ..ladder(2) };
    let mut stage = Stage::set(ladder, vec![spec; 2], streaming());
    stage.give(Input::Start);
    stage
}

fn stood_still(stage: &mut Stage, millis: u64) -> Vec<Action> {
    let until = stage.after(millis).now;
    stage.give(Input::StoodStill { span: ms(millis), until })
}

/// The cause and the verdict of the one attempt that ended.
fn said(actions: &[Action]) -> (O, Option<Cause>, Option<V>) {
    let ended = actions.iter().find_map(|action| match action {
        Action::AttemptEnded { outcome, cause, verdict, .. } => Some((*outcome, *cause, *verdict)),
        _ => None,
    });
    ended.expect("an attempt that ended")
}

#[test]
fn no_clock_and_no_hedge_runs_while_the_relay_stands_still() {
    let mut stage = hedged();
    stage.after(100);
    assert_eq!(stood_still(&mut stage, 4_000), []);
    assert_eq!(stage.give(Input::Wake), [], "neither hedged nor cut");
    let woken = stage.now;
    assert_eq!(dials(&stage.wake()), [(2, 1, K::Hedge)]);
    assert_eq!(stage.now.since(woken), ms(400), "the rest of the hedge's delay");
    let cut = stage.wake();
    assert_eq!(stage.now.since(woken), ms(1_900), "the rest of the first clock");
    assert_eq!(outcomes(&cut), [(1, O::TtftTimeout)]);
}

#[test]
fn a_token_that_lay_in_the_socket_is_as_quick_as_it_was() {
    let mut house = super::house::House::new(2);
    house.knows(FIRST, (1_000, 800), 1.0);
    for (span, slow) in [(0, true), (9_000, false)] {
        let mut stage = Stage::set(ladder(2), rungs(2), streaming());
        stage.board = house.board.clone();
        stage.now = house.now;
        stage.give(Input::Start);
        stage.after(9_100);
        if span > 0 {
            let until = stage.now;
            stage.give(Input::StoodStill { span: ms(span), until });
        }
        stage.token(A);
        assert_eq!(stage.walk.is_slow(A), slow, "{span} ms of it stood still");
    }
}

#[test]
fn a_pause_moves_only_what_was_waited_for() {
    // The last token came after the pause: the second clock is not moved.
    let mut stage = Stage::on(2);
    stage.token(A);
    let until = stage.after(5_000).now;
    stage.after(1_000).token(A);
    let heard = stage.now;
    stage.give(Input::StoodStill { span: ms(5_000), until });
    stage.stall();
    assert_eq!(stage.now.since(heard), Duration::from_secs(15));
    // An attempt that was dialled during the pause is moved to its end, and no further.
    let mut stage = hedged();
    let dialled = stage.now;
    stage.after(300).give(Input::StoodStill { span: ms(9_000), until: dialled.plus(ms(300)) });
    stage.wake();
    assert_eq!(stage.now.since(dialled), ms(800));
}

#[test]
fn what_the_relay_could_not_dial_is_no_verdict_and_opens_nothing() {
    for (no_head, still, cause, verdict) in [
        (NoHead::OwnFault, false, Some(Cause::RelayFault), None),
        (NoHead::ConnectTimeout, true, Some(Cause::RelayFault), None),
        (NoHead::ConnectTimeout, false, None, Some(V::Bad)),
        (NoHead::NotConnected, true, None, Some(V::Bad)),
        (NoHead::Closed, true, None, Some(V::Bad)),
    ] {
        let mut stage = Stage::on(2);
        let mut last = Vec::new();
        for _ in 0..30 {
            let (ladder, rungs) = (ladder(2), rungs(2));
            let next = Stage::set(ladder, rungs, streaming());
            stage.walk = next.walk;
            stage.give(Input::Start);
            if still {
                stood_still(&mut stage, 100);
            }
            last = stage.end(A, Ending::NoHead(no_head));
            if last.iter().any(|action| matches!(action, Action::Dial { .. })) {
                stage.token(B);
            }
            if stage.board.breaker(FIRST).unwrap().state() != State::Closed {
                break;
            }
        }
        assert_eq!(said(&last), (O::Connect, cause, verdict), "{no_head:?} {still}");
        let is_open = stage.board.breaker(FIRST).unwrap().state() != State::Closed;
        assert_eq!(is_open, verdict.is_some(), "{no_head:?} {still}");
    }
}

#[test]
fn h2_a_stale_connection_is_no_verdict_and_its_rung_is_called_again_on_a_new_one() {
    let mut stage = Stage::on(2);
    let actions = stage.end(A, Ending::NoHead(NoHead::Stale));
    assert_eq!(said(&actions), (O::Connect, None, None));
    assert_eq!(dials(&actions), [(2, 0, K::Retry)]);
    let fresh = actions
        .iter()
        .any(|action| matches!(action, Action::Dial { once: true, plain: false, .. }));
    assert!(fresh, "{actions:?}");
    let actions = stage.end(B, Ending::NoHead(NoHead::Closed));
    assert_eq!(said(&actions), (O::Connect, None, Some(V::Bad)));
    assert_eq!(dials(&actions), [(3, 1, K::Failover)]);
}

#[test]
fn b6_a_body_that_was_not_fully_taken_is_no_verdict() {
    let mut stage = Stage::on(2);
    let actions = stage.end(A, Ending::NoHead(NoHead::NotTaken));
    assert_eq!(said(&actions), (O::Connect, None, None));
    assert_eq!(dials(&actions), [(2, 1, K::Failover)]);
}
