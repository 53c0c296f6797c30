//! Another config under a board: who keeps what, and what becomes of walks that run.

use super::scenario::*;
use crate::board::Report;
use crate::breaker::{State, Ticket};
use crate::{
    Action, BreakerSpec, Ending, HedgeSpec, Input, LadderIndex, LadderSpec, OnRefusal, Order,
    Placed, Reference, Remembered, RungIndex, RungSpec, places,
};
use shared::{
    AttemptOutcome as O, BreakerState, OrderSource, OverrideMode, PassedOver, TransitionRule,
};
use std::sync::Arc;
use std::time::Duration;

const FIRST: RungIndex = RungIndex(0);
const SECOND: RungIndex = RungIndex(1);
const THIRD: RungIndex = RungIndex(2);
const CHAT: LadderIndex = LadderIndex(0);

fn kept(at: RungIndex) -> Placed {
    Placed { at, spec: RungSpec::default(), heir_of: None, another_key: false }
}

fn over(rungs: &[RungIndex]) -> Arc<LadderSpec> {
    Arc::new(LadderSpec { rungs: rungs.to_vec(), ..ladder(0) })
}

fn ended(stage: &mut Stage, rung: RungIndex, outcome: O) {
    let report = Report {
        ticket: Ticket::default(),
        outcome,
        cause: None,
        had_token: false,
        slow: false,
        quiet: false,
        dialled: stage.now,
        retry_after: None,
        size: crate::Size::default(),
        suspected: false,
        status: None,
        walk: 0,
        client: 0,
        excused: false,
    };
    stage.board.ended(rung, stage.now, &report);
}

fn state(stage: &Stage, rung: RungIndex) -> State {
    stage.board.breaker(rung).unwrap().state()
}

#[test]
fn who_is_known_keeps_the_place_and_who_is_new_gets_a_new_one() {
    let rows: &[(&[&str], &[&str], &[usize])] = &[
        (&[], &["a", "b"], &[0, 1]),
        (&["a", "b"], &["a", "b"], &[0, 1]),
        (&["a", "b"], &["b", "a"], &[1, 0]),
        (&["a", "b"], &["b"], &[1]),
        (&["a", "b"], &["c", "a", "d"], &[2, 0, 3]),
        (&["a", "b"], &[], &[]),
        // The place of a removed one is given to no other: it may come back.
        (&["a", "gone", "c"], &["d", "c", "gone"], &[3, 2, 1]),
    ];
    for (known, wanted, expected) in rows {
        assert_eq!(places(known, wanted), *expected, "{known:?} {wanted:?}");
    }
}

#[test]
fn an_operators_order_is_fitted_to_the_rungs_that_are_there_and_stays_the_same_order() {
    const FOURTH: RungIndex = RungIndex(3);
    let heir = Placed { heir_of: Some(THIRD), ..kept(FOURTH) };
    // The config's rungs afterwards, what is left of the order [3rd, 2nd, 1st], and whether it was
    // fitted.
    type Row<'a> = (Vec<Placed>, &'a [RungIndex], &'a [RungIndex], OrderSource);
    let rows: [Row<'_>; 4] = [
        (vec![], &[FIRST, SECOND, THIRD], &[THIRD, SECOND, FIRST], OrderSource::Operator),
        (vec![], &[FIRST, THIRD], &[THIRD, FIRST], OrderSource::Adapted),
        (vec![heir], &[FIRST, SECOND, FOURTH], &[FOURTH, SECOND, FIRST], OrderSource::Operator),
        (
            vec![kept(FOURTH)],
            &[FIRST, FOURTH, SECOND, THIRD],
            &[THIRD, SECOND, FIRST, FOURTH],
            OrderSource::Adapted,
        ),
    ];
    for (more, config, expected, source) in rows {
        let mut stage = Stage::on(3);
        let (now, rungs) = (stage.now, vec![THIRD, SECOND, FIRST]);
        stage.board.reorder(CHAT, Some(Order { rungs, until: None, adapted: false }));
        let version = stage.board.order_version(CHAT);
        let placed = || [FIRST, SECOND, THIRD].map(kept).into_iter().chain(more.clone()).collect();
        stage.board.reshape(now, placed(), vec![(CHAT, over(config))]);
        assert_eq!(stage.board.order_of(CHAT, now), Some((expected, source)), "{config:?}");
        assert_eq!(stage.board.order_version(CHAT), version, "who gave it and why still stands");
        // The ladder is removed from the config and put back: the order is still there.
        stage.board.reshape(now, placed(), vec![]);
        stage.board.reshape(now, placed(), vec![(CHAT, over(config))]);
        assert_eq!(stage.board.order_of(CHAT, now), Some((expected, source)), "{config:?}");
    }
}

#[test]
fn an_unchanged_rung_keeps_breaker_hold_override_and_reference() {
    let mut stage = Stage::on(2);
    ended(&mut stage, FIRST, O::Auth);
    stage.hold(1, 60_000);
    let until = stage.now.plus(Duration::from_secs(60));
    stage.board.force_until(SECOND, stage.now, OverrideMode::Demoted, Some(until));
    let p95 = Duration::from_secs(1);
    let reference = Some(Reference { p95, usual: p95 / 2 });
    let what = Remembered { reference, ..stage.board.remember(SECOND).unwrap() };
    stage.board.restore(SECOND, stage.now, &what);
    let (open, before) = (state(&stage, FIRST), stage.board.remember(SECOND));
    assert!(matches!(open, State::Open { .. }));
    let now = stage.now;
    // The two rungs change their order, and a new one stands between them.
    let rungs = vec![kept(SECOND), kept(THIRD), kept(FIRST)];
    stage.board.reshape(now, rungs, vec![(CHAT, over(&[SECOND, THIRD, FIRST]))]);
    assert_eq!(state(&stage, FIRST), open);
    assert_eq!(stage.board.remember(SECOND), before);
    assert_eq!(stage.board.usable(SECOND, now), Err(PassedOver::Hold));
    assert_eq!(stage.board.forced(SECOND, now), Some((OverrideMode::Demoted, Some(until))));
    assert_eq!(stage.board.reference(SECOND), Some(p95));
    // The new rung has no history.
    assert_eq!(state(&stage, THIRD), State::Closed);
    assert_eq!(stage.board.reference(THIRD), None);
    assert_eq!(stage.board.usable(THIRD, now), Ok(()));
    // The override still ends at its time.
    stage.after(60_000);
    stage.board.settle(stage.now);
    assert_eq!(stage.board.forced(SECOND, stage.now), Some((OverrideMode::Auto, None)));
}

#[test]
fn new_settings_hold_from_here_on() {
    let mut stage = Stage::on(2);
    let breaker = BreakerSpec { open_consecutive: 2, ..BreakerSpec::default() };
    let strict = Placed { spec: RungSpec { breaker, ..RungSpec::default() }, ..kept(FIRST) };
    stage.board.reshape(
        stage.now,
        vec![strict, kept(SECOND)],
        vec![(CHAT, over(&[FIRST, SECOND]))],
    );
    ended(&mut stage, FIRST, O::ServerError);
    assert_eq!(state(&stage, FIRST), State::Closed);
    ended(&mut stage, FIRST, O::ServerError);
    assert!(matches!(state(&stage, FIRST), State::Open { .. }));
}

#[test]
fn an_override_goes_over_to_who_has_the_name_now() {
    let mut stage = Stage::on(2);
    let until = stage.now.plus(Duration::from_secs(60));
    stage.board.force_until(FIRST, stage.now, OverrideMode::ForcedOpen, Some(until));
    let heir = Placed { heir_of: Some(FIRST), ..kept(THIRD) };
    let now = stage.now;
    stage.board.reshape(now, vec![heir, kept(SECOND)], vec![(CHAT, over(&[THIRD, SECOND]))]);
    assert_eq!(stage.board.forced(THIRD, now), Some((OverrideMode::ForcedOpen, Some(until))));
    // The override is ended there, and the old rung comes back: the last change counts.
    stage.board.force(THIRD, now, OverrideMode::Auto);
    let back = Placed { heir_of: Some(THIRD), ..kept(FIRST) };
    stage.board.reshape(now, vec![back, kept(SECOND)], vec![(CHAT, over(&[FIRST, SECOND]))]);
    assert_eq!(stage.board.forced(FIRST, now), Some((OverrideMode::Auto, None)));
}

#[test]
fn another_key_ends_a_hard_down_and_nothing_else() {
    let rows: &[(O, usize, bool)] =
        &[(O::Auth, 1, true), (O::ServerError, 5, false), (O::ServerError, 1, false)];
    for &(outcome, times, ends) in rows {
        let mut stage = Stage::on(2);
        (0..times).for_each(|_| ended(&mut stage, FIRST, outcome));
        let before = state(&stage, FIRST);
        stage.board.take_transitions();
        let renewed = Placed { another_key: true, ..kept(FIRST) };
        let now = stage.now;
        stage.board.reshape(now, vec![renewed, kept(SECOND)], vec![(CHAT, over(&[FIRST, SECOND]))]);
        let whys: Vec<_> = stage.board.take_transitions().iter().map(|t| (t.why, t.to)).collect();
        if ends {
            assert_eq!(state(&stage, FIRST), State::HalfOpen { taken: false, good: 0 });
            assert_eq!(whys, [(TransitionRule::KeyChanged, BreakerState::HalfOpen)]);
        } else {
            assert_eq!((state(&stage, FIRST), whys), (before, vec![]), "{outcome:?} {times}");
        }
    }
}

#[test]
fn an_answer_to_the_old_key_does_not_refuse_the_new_one() {
    let mut stage = Stage::on(2);
    stage.after(10);
    let renewed = Placed { another_key: true, ..kept(FIRST) };
    stage.board.reshape(
        stage.now,
        vec![renewed, kept(SECOND)],
        vec![(CHAT, over(&[FIRST, SECOND]))],
    );
    stage.after(10);
    // The first attempt was dialled with the old key.
    stage.status(A, 401);
    assert_eq!(state(&stage, FIRST), State::Closed);
    ended(&mut stage, FIRST, O::Auth);
    assert!(matches!(state(&stage, FIRST), State::Open { .. }), "the new one is refused as well");
}

#[test]
fn a_walk_ends_on_the_rungs_it_began_with() {
    let mut stage = Stage::on(2);
    // Both rungs were removed, and their ladder has another one.
    let spec = over(&[THIRD]);
    stage.board.reshape(stage.now, vec![kept(THIRD)], vec![(CHAT, spec)]);
    let actions = stage.status(A, 500);
    assert_eq!(dials(&actions).iter().map(|dial| dial.1).collect::<Vec<_>>(), [1]);
    assert!(is_committed(&stage.token(B)));
    stage.give(Input::Finished(B, WHOLE));
    assert!(is_complete(&stage.end(B, Ending::Proper(WHOLE))));
    // A new request walks on the new ladder.
    let mut next =
        Stage { board: stage.board, ..Stage::set(LadderSpec::default(), vec![], streaming()) };
    next.walk =
        crate::Walk::new(stage.now, CHAT, over(&[THIRD]), streaming(), fastrand::Rng::with_seed(1));
    assert!(matches!(next.give(Input::Start)[0], Action::Dial { rung: THIRD, .. }));
}

#[test]
fn a_running_attempt_keeps_its_clocks_and_what_its_rung_said_of_refusals() {
    let own = |span| RungSpec {
        ttft: Some(Duration::from_secs(span)),
        inter_token: Some(Duration::from_secs(span)),
        on_refusal: if span == 40 { OnRefusal::End } else { OnRefusal::Next },
        ..RungSpec::default()
    };
    let mut stage = Stage::set(ladder(1), vec![own(40)], streaming());
    let begun = stage.now;
    stage.give(Input::Start);
    let reload = |stage: &mut Stage| {
        let quick = Placed { spec: own(1), ..kept(FIRST) };
        stage.board.reshape(stage.now, vec![quick, kept(SECOND)], vec![(CHAT, over(&[FIRST]))]);
    };
    reload(&mut stage);
    // The early head is due first, and then the attempt's own clock.
    let due = stage.walk.next_deadline(&stage.board).unwrap();
    assert!(due.since(begun) >= Duration::from_secs(20), "{due:?}");
    let actions = stage.give(Input::Token { attempt: A, refusal: true });
    assert!(is_committed(&actions), "{actions:?}");
    let quiet = stage.walk.next_deadline(&stage.board).unwrap();
    assert_eq!(quiet.since(stage.now), Duration::from_secs(20), "half of its second clock");
}

#[test]
fn a_ladder_keeps_its_budgets_and_one_that_has_gone_spares_nobody() {
    let mut stage = Stage::on(1);
    while stage.board.budget(CHAT).unwrap().take_hedge() {}
    let spent = stage.board.levels(CHAT).unwrap();
    let now = stage.now;
    let hedge = HedgeSpec { burst: 5.0, ..ladder(0).hedge };
    let chat = Arc::new(LadderSpec { hedge, ..(*over(&[FIRST])).clone() });
    let code = LadderIndex(1);
    stage.board.reshape(now, vec![kept(FIRST)], vec![(code, over(&[FIRST, SECOND])), (CHAT, chat)]);
    assert_eq!(stage.board.levels(CHAT), Some(spent));
    assert_eq!(stage.board.levels(code).map(|levels| levels.0), Some(20.0));
    // Its only ladder needs it: it does not open.
    (0..5).for_each(|_| ended(&mut stage, FIRST, O::ServerError));
    assert_eq!(state(&stage, FIRST), State::Closed);
    // Now only the other ladder is left, which has another rung.
    let rungs = vec![kept(FIRST), kept(SECOND)];
    stage.board.reshape(now, rungs, vec![(code, over(&[FIRST, SECOND]))]);
    let breaker = stage.board.breaker(FIRST).cloned();
    (0..5).for_each(|_| {
        let ticket = breaker.clone().unwrap().dial(now);
        let report = Report {
            ticket,
            outcome: O::ServerError,
            cause: None,
            had_token: false,
            slow: false,
            quiet: false,
            dialled: now,
            retry_after: None,
            size: crate::Size::default(),
            suspected: false,
            status: None,
            walk: 0,
            client: 0,
            excused: false,
        };
        stage.board.ended(FIRST, now, &report);
    });
    assert!(matches!(state(&stage, FIRST), State::Open { .. }), "{:?}", state(&stage, FIRST));
}
