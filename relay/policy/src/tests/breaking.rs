//! Opening, cooling down, probing, closing, and what must not do any of it.

use super::house::*;
use super::scenario::*;
use crate::breaker::State;
use crate::{Action, BreakerSpec, Ending, Input, LadderSpec, Need, RungSpec, Time};
use shared::{
    AttemptKind as K, AttemptOutcome as O, Cause, OverrideMode, PassedOver, TokenVerdict,
    TransitionRule,
};
use std::time::Duration;

#[test]
fn five_bad_in_a_row_open_and_a_good_one_between_does_not() {
    let mut house = House::new(2);
    for _ in 0..4 {
        house.request(&by_status(500));
    }
    house.good(Duration::from_millis(400));
    for _ in 0..4 {
        house.request(&by_status(500));
    }
    assert_eq!(house.state(FIRST), State::Closed);
    house.request(&cut());
    assert_eq!(house.whys(), [TransitionRule::BadRun]);
    assert_eq!(dials(&house.walk().1), [(1, 1, K::First)], "its traffic goes to the next");
}

#[test]
fn half_of_ten_calls_in_the_window_open() {
    let mut house = House::new(2);
    for round in 0..10 {
        assert_eq!(house.state(FIRST), State::Closed, "round {round}");
        if round % 2 == 0 {
            house.request(&by_status(500))
        } else {
            house.good(secs(0))
        };
    }
    assert_eq!(house.state(FIRST), State::Closed, "the last one was good");
    house.request(&by_status(500));
    assert_eq!(house.whys(), [TransitionRule::BadShare]);
    // The same share over a longer time than the window does not open it.
    let mut house = House::new(2);
    for round in 0..30 {
        if round % 2 == 0 {
            house.request(&by_status(500))
        } else {
            house.good(secs(0))
        };
        house.after(secs(5));
    }
    assert_eq!(house.whys(), []);
}

#[test]
fn what_is_nobodys_fault_or_the_clients_opens_nothing() {
    let mut house = House::new(2);
    for status in [400, 413, 422] {
        for _ in 0..20 {
            house.request(&by_status(status));
        }
    }
    for _ in 0..20 {
        let (mut walk, _) = house.walk();
        house.give(&mut walk, Input::Stop(Cause::ClientGone));
    }
    assert_eq!((house.state(FIRST), house.whys()), (State::Closed, Vec::new()));
}

#[test]
fn the_slow_mark_speaks_while_the_call_runs() {
    let mut house = House::new(2);
    house.learn(Duration::from_millis(800));
    let reference = house.board.reference(FIRST).unwrap();
    assert!((0.75..0.85).contains(&reference.as_secs_f64()), "{reference:?}");
    let mut walks = Vec::new();
    for _ in 0..5 {
        let (mut walk, _) = house.walk();
        let mark = walk.next_deadline(&house.board).unwrap();
        assert!((0.93..1.07).contains(&mark.since(house.now).as_secs_f64()));
        house.now = mark;
        let actions = house.give(&mut walk, Input::Wake);
        // The fifth opens the breaker. So it is itself past its mark on an opened rung, and fails
        // over.
        let moved: &[_] = if walks.len() == 4 { &[(2, 1, K::Failover)] } else { &[] };
        assert_eq!(dials(&actions), moved, "nothing else is cut");
        walks.push(walk);
    }
    assert_eq!(
        house.whys(),
        [TransitionRule::BadRun],
        "five silent calls, four of which still run"
    );
    let ended = house.give(&mut walks[0], Input::Token { attempt: A, refusal: false });
    assert!(is_committed(&ended), "a late token is an answer all the same");
    let done = house.give(&mut walks[0], Input::Ended(A, Ending::Proper(WHOLE)));
    let slow = |action: &Action| {
        matches!(action, Action::AttemptEnded { verdict: Some(TokenVerdict::Slow), .. })
    };
    assert!(done.iter().any(slow), "{done:?}");
}

// 24 is more than the hedge budget's burst of 20: nearly every hedged attempt of a sound rung that
// is only slow loses its race.
#[test]
fn until_there_is_a_reference_nothing_is_slow_but_a_long_silent_run_opens() {
    let mut house = House::of(
        LadderSpec { ttft: Some(secs(3)), retries: Some(0), ..ladder(2) },
        vec![
            RungSpec {
                breaker: BreakerSpec {
                    open_consecutive: 1000,
                    open_rate: 2.0,
                    ..Default::default()
                },
                ..RungSpec::default()
            };
            2
        ],
    );
    for round in 0..24 {
        assert_eq!(house.state(FIRST), State::Closed, "round {round}");
        let (mut walk, _) = house.walk();
        house.after(secs(3));
        house.give(&mut walk, Input::Wake);
        house.give(&mut walk, Input::Token { attempt: B, refusal: false });
    }
    assert_eq!(house.whys(), [TransitionRule::NeverAToken]);
}

#[test]
fn cool_downs_double_with_failed_probes_and_start_anew_after_closing() {
    let mut house = House::new(2);
    let mut until = house.open();
    // 10 s at the most: with a longer cool-down it depends on chance how late a rung returns.
    for (least, most) in [(3.5, 6.5), (7.0, 13.0), (7.0, 13.0), (7.0, 13.0)] {
        let span = until.since(house.now).as_secs_f64();
        assert!((least..=most).contains(&span), "{span}");
        house.now = until;
        assert_eq!(house.request(&by_status(500)), [(1, 0, K::First), (2, 1, K::Failover)]);
        let State::Open { until: next } = house.state(FIRST) else { panic!("a bad probe reopens") };
        until = next;
    }
    house.now = until;
    house.good(secs(0));
    house.good(secs(0));
    assert_eq!(house.state(FIRST), State::Closed, "two good probes close");
    assert!(house.board.breaker(FIRST).unwrap().weight() < 0.2, "slow start");
    house.whys();
    for _ in 0..200 {
        house.good(secs(0));
    }
    assert_eq!(house.board.breaker(FIRST).unwrap().weight(), 1.0);
    let until = house.open();
    assert!(until.since(house.now) <= Duration::from_millis(6_500));
}

#[test]
fn one_probe_at_a_time_and_its_slot_always_comes_back() {
    let endings = [
        Input::Ended(A, by_status(400)),
        Input::Ended(A, by_status(429)),
        Input::Stop(Cause::ClientGone),
        Input::Stop(Cause::RelayFault),
    ];
    for ending in endings {
        let mut house = House::new(2);
        house.now = house.open();
        let (mut probe, actions) = house.walk();
        assert!(matches!(actions.first(), Some(Action::Dial { probe: true, .. })), "{actions:?}");
        let (other, actions) = house.walk();
        assert_eq!(dials(&actions), [(1, 1, K::First)], "the slot is taken");
        assert_eq!(other.passed_over(), [(FIRST, PassedOver::NoSlot)]);
        house.give(&mut probe, ending.clone());
        let half_open = State::HalfOpen { taken: false, good: 0 };
        assert_eq!(house.state(FIRST), half_open, "{ending:?}");
    }
}

#[test]
fn a_probe_that_has_spoken_does_not_give_back_the_next_ones_slot() {
    let mut house = House::new(2);
    house.now = house.open();
    let (mut first, _) = house.walk();
    house.give(&mut first, Input::Token { attempt: A, refusal: false });
    assert_eq!(house.state(FIRST), State::HalfOpen { taken: false, good: 1 });
    let (_second, actions) = house.walk();
    assert!(matches!(actions.first(), Some(Action::Dial { probe: true, .. })), "{actions:?}");
    // The first one's stream comes to its end while the second one is silent.
    house.give(&mut first, Input::Ended(A, Ending::Proper(WHOLE)));
    assert_eq!(house.state(FIRST), State::HalfOpen { taken: true, good: 1 });
    assert_eq!(dials(&house.walk().1), [(1, 1, K::First)], "one at a time");
}

#[test]
fn a_late_report_from_before_a_transition_is_ignored() {
    let mut house = House::new(2);
    let (mut early, _) = house.walk();
    house.now = house.open();
    let (mut probe, _) = house.walk();
    house.give(&mut early, Input::Ended(A, by_status(500)));
    assert_eq!(house.state(FIRST), State::HalfOpen { taken: true, good: 0 });
    house.give(&mut probe, Input::Token { attempt: A, refusal: false });
    assert_eq!(house.state(FIRST), State::HalfOpen { taken: false, good: 1 });
}

#[test]
fn the_last_rung_is_never_opened_but_for_a_refused_account() {
    let mut house = House::new(1);
    for _ in 0..30 {
        house.request(&by_status(500));
    }
    assert_eq!(house.state(FIRST), State::Closed);
    assert!(house.whys().iter().all(|why| *why == TransitionRule::Spared));
    let weight = house.board.breaker(FIRST).unwrap().weight();
    assert!((0.05..0.5).contains(&weight), "{weight}");
    // One request's refusal is not enough to take a ladder's last rung down.
    house.request(&by_status(401));
    assert_eq!(house.state(FIRST), State::Closed);
    house.request(&by_status(401));
    let State::Open { until } = house.state(FIRST) else { panic!("two requests are enough") };
    assert_eq!(until.since(house.now), secs(300));
}

#[test]
fn broken_streams_open_and_then_a_probe_counts_at_its_end() {
    let mut house = House::new(2);
    let broken = |house: &mut House| {
        let (mut walk, _) = house.walk();
        house.give(&mut walk, Input::Token { attempt: A, refusal: false });
        house.give(&mut walk, Input::Ended(A, cut()));
    };
    for _ in 0..5 {
        broken(&mut house);
    }
    assert_eq!(house.whys(), [TransitionRule::BrokenRun]);
    let State::Open { until } = house.state(FIRST) else { panic!("open") };
    house.now = until;
    let (mut probe, _) = house.walk();
    house.give(&mut probe, Input::Token { attempt: A, refusal: false });
    assert_eq!(house.state(FIRST), State::HalfOpen { taken: true, good: 0 }, "not yet");
    house.give(&mut probe, Input::Ended(A, Ending::Proper(WHOLE)));
    assert_eq!(house.state(FIRST), State::HalfOpen { taken: false, good: 1 });
    broken(&mut house);
    assert!(matches!(house.state(FIRST), State::Open { .. }), "the first bad one reopens");
}

#[test]
fn with_everything_open_one_last_resort_is_made() {
    let mut house = House::new(2);
    house.board.force(SECOND, house.now, OverrideMode::ForcedOpen);
    for _ in 0..2 {
        house.request(&by_status(401));
    }
    let (mut walk, actions) = house.walk();
    assert_eq!(dials(&actions), [(1, 0, K::LastResort)]);
    let told = failure(&house.give(&mut walk, Input::Ended(A, by_status(500))));
    assert_eq!(told.status, 502, "no retry; a refused account is no want of capacity");
    // A good attempt moves the open breaker to half-open.
    let (mut walk, _) = house.walk();
    house.give(&mut walk, Input::Token { attempt: A, refusal: false });
    assert_eq!(house.state(FIRST), State::HalfOpen { taken: false, good: 0 });
}

#[test]
fn overrides_rule_and_freeze() {
    let mut house = House::new(2);
    house.board.force(FIRST, house.now, OverrideMode::ForcedOpen);
    assert_eq!(house.good(secs(0)), [(1, 1, K::First)]);
    house.board.force(FIRST, house.now, OverrideMode::Auto);
    assert_eq!(house.state(FIRST), State::HalfOpen { taken: false, good: 0 });
    house.board.force(FIRST, house.now, OverrideMode::ForcedClosed);
    for _ in 0..20 {
        assert_eq!(house.request(&by_status(500)).first(), Some(&(1, 0, K::First)));
    }
    house.board.force(FIRST, house.now, OverrideMode::Auto);
    assert_eq!(house.state(FIRST), State::Closed);
    house.board.force(FIRST, house.now, OverrideMode::Demoted);
    assert_eq!(house.good(secs(0)), [(1, 1, K::First)], "behind the other");
}

#[test]
fn a_rung_that_became_slower_for_good_gets_a_new_reference() {
    let mut house = House::new(2);
    house.learn(Duration::from_millis(1000));
    // The rung is steadily twice as slow: it opens, and is judged by its probes.
    let mut rebased = false;
    let changed = house.now;
    while house.now.since(changed) < secs(600) {
        let (mut walk, actions) = house.walk();
        let on_first = dials(&actions).first().is_some_and(|dial| dial.1 == 0);
        let span = if on_first { 2_000 } else { 500 };
        let due = house.now.plus(Duration::from_millis(span));
        while let Some(at) = walk.next_deadline(&house.board).filter(|at| *at < due) {
            house.now = at.max(house.now);
            house.give(&mut walk, Input::Wake);
        }
        house.now = due;
        house.give(&mut walk, Input::Token { attempt: A, refusal: false });
        house.give(&mut walk, Input::Ended(A, Ending::Proper(WHOLE)));
        rebased |= house.whys().contains(&TransitionRule::Rebased);
        if rebased && house.board.is_full(FIRST) {
            return;
        }
    }
    let weight = house.board.breaker(FIRST).unwrap().weight();
    panic!("never back: rebased {rebased}, {:?}, weight {weight}", house.state(FIRST));
}

#[test]
fn an_errors_outcome_decides_what_a_held_rung_says() {
    // A 503 that names its time is a hold, not bad.
    let mut house = House::of(LadderSpec { retries: Some(0), ..ladder(2) }, rungs(2));
    for _ in 0..10 {
        house.request(&refused(503, 1));
        house.after(secs(2));
    }
    assert_eq!((house.state(FIRST), house.whys()), (State::Closed, Vec::new()));
    let _ = (O::Overloaded, Need::default());
}

#[test]
fn a_race_lost_at_once_is_no_sign_of_silence_and_one_lost_late_is() {
    for (span, whys) in [(secs(1), vec![]), (secs(3), vec![TransitionRule::NeverAToken])] {
        let breaker = BreakerSpec { open_consecutive: 1000, open_rate: 2.0, ..Default::default() };
        let racing = LadderSpec { race: 2, retries: Some(0), ..ladder(2) };
        let mut house = House::of(racing, vec![RungSpec { breaker, ..RungSpec::default() }; 2]);
        for _ in 0..24 {
            let (mut walk, actions) = house.walk();
            assert_eq!(dials(&actions).len(), 2, "both run");
            house.after(span);
            house.give(&mut walk, Input::Token { attempt: B, refusal: false });
            house.give(&mut walk, Input::Ended(B, Ending::Proper(WHOLE)));
        }
        assert_eq!(house.whys(), whys, "lost after {span:?}");
    }
}

#[test]
fn a_rung_that_cooled_down_in_mid_walk_is_called() {
    let mut house = House::new(2);
    let until = house.open();
    let (mut walk, actions) = house.walk();
    assert_eq!(dials(&actions), [(1, 1, K::First)]);
    house.now = until.plus(secs(1));
    let next = dials(&house.give(&mut walk, Input::Ended(A, by_status(500))));
    assert_eq!(next.first().map(|dial| dial.1), Some(0), "{next:?}");
}

#[test]
fn since_when_is_when_this_trouble_began() {
    use crate::breaker::Breaker;
    enum Do {
        Open(TransitionRule),
        Spare,
        Thaw { half_open: bool },
        Restart,
    }
    use Do::{Open, Restart, Spare, Thaw};
    use TransitionRule as R;
    let rows = [
        (Open(R::BadRun), Some(1), "it begins"),
        (Open(R::ProbeBad), Some(1), "a failed probe is no new cause"),
        (Open(R::BadRun), Some(1), "the same cause again is the same trouble"),
        (Restart, Some(1), "a restart ends nothing"),
        (Open(R::BadRun), Some(1), "nor does it make the cause a new one"),
        (Open(R::Auth), Some(6), "another cause is a new trouble"),
        (Open(R::ProbeBad), Some(6), "a failed probe"),
        (Restart, Some(6), "whose cause a failed probe does not name"),
        (Open(R::BrokenRun), Some(6), "so the next one may be the same"),
        (Open(R::BadShare), Some(10), "but not the one after it"),
        (Thaw { half_open: true }, Some(10), "half-open is not well"),
        (Thaw { half_open: false }, None, "at full weight it is over"),
        (Restart, None, "and stays so"),
        (Spare, Some(14), "half the weight is a trouble, too"),
        (Open(R::Hanging), Some(14), "and what opens it then is its cause"),
        (Thaw { half_open: false }, None, "over"),
        (Open(R::Hanging), Some(17), "the next one is another, whatever its cause"),
    ];
    let spec = BreakerSpec::default();
    let mut breaker = Breaker::new(spec.clone());
    let mut rng = fastrand::Rng::with_seed(1);
    for (second, (step, since, why)) in (1..).zip(rows) {
        let now = Time::from_millis(second * 1_000);
        match step {
            Open(rule) => breaker.open(now, rule, None, &mut rng),
            Spare => breaker.spare(now),
            Thaw { half_open } => breaker.thaw(now, half_open),
            Restart => {
                let kept = breaker.remember();
                breaker = Breaker::new(spec.clone());
                breaker.restore(now, &kept);
            }
        }
        let since = since.map(|second: u64| Time::from_millis(second * 1_000));
        assert_eq!(breaker.remember().trouble_since, since, "{second}: {why}");
    }
}
