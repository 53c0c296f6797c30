//! What survives a restart: before, while the relay is down, after.

use super::scenario::*;
use crate::breaker::State;
use crate::{
    Board, HedgeSpec, Input, LadderIndex, LadderSpec, Need, Reference, Remembered,
    RememberedBreaker, RememberedHold, RememberedState, RungIndex, Size, Time, Walk,
};
use shared::{OverrideMode, PassedOver, TransitionRule};
use std::sync::Arc;
use std::time::Duration;

const FIRST: RungIndex = RungIndex(0);
/// When the old relay wrote its state; the new one starts later.
const BEFORE: Time = Time::from_millis(50_000_000);

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn board() -> Board {
    let ladder = LadderSpec { retries: Some(0), ..ladder(2) };
    Board::new(rungs(2), vec![Arc::new(ladder)], fastrand::Rng::with_seed(5))
}

fn well() -> Remembered {
    let breaker = RememberedBreaker::default();
    Remembered { reference: None, hold: None, breaker, finishes: false }
}

fn in_state(state: RememberedState, opened_by: TransitionRule) -> Remembered {
    let (away_since, opened_by) = (Some(BEFORE), Some(opened_by));
    let breaker = RememberedBreaker { state, away_since, opened_by, ..well().breaker };
    Remembered { breaker, ..well() }
}

fn open(span: Duration) -> Remembered {
    in_state(RememberedState::Open { until: BEFORE.plus(span) }, TransitionRule::BadRun)
}

/// A board whose first rung was restored from `kept`, `down` after the old relay died.
fn restored(kept: &Remembered, down: Duration) -> (Board, Time) {
    let (mut board, now) = (board(), BEFORE.plus(down));
    board.restore(FIRST, now, kept);
    (board, now)
}

fn state(board: &Board) -> State {
    board.breaker(FIRST).unwrap().state()
}

fn whys(board: &mut Board) -> Vec<TransitionRule> {
    board.take_transitions().into_iter().map(|transition| transition.why).collect()
}

const FREE: State = State::HalfOpen { taken: false, good: 0 };

#[test]
fn a_breaker_comes_back_as_the_time_says() {
    let until = BEFORE.plus(secs(20));
    let hard = BEFORE.plus(secs(300));
    let auth = in_state(RememberedState::Open { until: hard }, TransitionRule::Auth);
    let rows = [
        ("closed", well(), secs(3600), State::Closed, Ok(())),
        ("open, still", open(secs(20)), secs(19), State::Open { until }, Err(PassedOver::Open)),
        ("open, over", open(secs(20)), secs(20), FREE, Ok(())),
        ("open, long over", open(secs(20)), secs(9999), FREE, Ok(())),
        ("hard down", auth.clone(), secs(299), State::Open { until: hard }, Err(PassedOver::Open)),
        ("hard down, over", auth.clone(), secs(301), FREE, Ok(())),
        ("hard down, another key", auth.under_another_key(), secs(1), FREE, Ok(())),
        (
            "open, another key",
            open(secs(20)).under_another_key(),
            secs(1),
            State::Open { until },
            Err(PassedOver::Open),
        ),
        (
            "half-open",
            in_state(RememberedState::HalfOpen, TransitionRule::BadRun),
            secs(1),
            FREE,
            Ok(()),
        ),
    ];
    for (what, kept, down, after, usable) in rows {
        let (mut board, now) = restored(&kept, down);
        assert_eq!((state(&board), board.usable(FIRST, now)), (after, usable), "{what}");
        let cooled = after == FREE && matches!(kept.breaker.state, RememberedState::Open { .. });
        let noted: &[TransitionRule] = if cooled { &[TransitionRule::CooledDown] } else { &[] };
        assert_eq!(whys(&mut board), noted, "{what}");
        let wanted = match after {
            State::Closed => RememberedState::Closed,
            State::Open { until } => RememberedState::Open { until },
            State::HalfOpen { .. } => RememberedState::HalfOpen,
        };
        let again = board.remember(FIRST).unwrap().breaker;
        assert_eq!((again.state, again.opened_by), (wanted, kept.breaker.opened_by), "{what}");
    }
}

#[test]
fn slow_start_comes_back_at_its_weight_and_within_its_bounds() {
    for (kept, after) in [(0.4, 0.4), (1.0, 1.0), (0.0, 0.05), (7.0, 1.0), (f64::NAN, 1.0)] {
        let away_since = (kept < 1.0).then_some(BEFORE);
        let breaker = RememberedBreaker { weight: kept, away_since, ..well().breaker };
        let (mut board, _) = restored(&Remembered { breaker, ..well() }, secs(60));
        assert_eq!(board.breaker(FIRST).unwrap().weight(), after, "{kept}");
        assert_eq!(board.is_full(FIRST), after >= 1.0, "{kept}");
        let again = board.remember(FIRST).unwrap().breaker;
        assert_eq!(again.away_since, away_since, "{kept}: away since then, not since the restart");
        assert_eq!(whys(&mut board), []);
    }
}

/// Calls the first rung, which answers with a 500.
fn fail(board: &mut Board, now: Time) {
    let spec = Arc::new(LadderSpec { retries: Some(0), ..ladder(1) });
    let mut walk = Walk::new(now, LadderIndex(0), spec, streaming(), fastrand::Rng::with_seed(1));
    let mut actions = Vec::new();
    walk.handle(now, Input::Start, board, &mut actions);
    walk.handle(now, Input::Ended(A, by_status(500)), board, &mut actions);
}

#[test]
fn a_cool_down_goes_on_doubling_where_it_was() {
    // 10 s is the longest by default.
    for (kept, least, most) in [(5, 7, 13), (10, 7, 13), (9999, 7, 13), (0, 7, 13)] {
        let cooldown = secs(kept);
        let mut kept = in_state(RememberedState::HalfOpen, TransitionRule::ProbeBad);
        kept.breaker.cooldown = cooldown;
        let (mut board, now) = restored(&kept, secs(1));
        fail(&mut board, now);
        let State::Open { until } = state(&board) else { panic!("the probe was bad") };
        let span = until.since(now);
        assert!(span >= secs(least) && span <= secs(most), "{cooldown:?}: {span:?}");
    }
}

#[test]
fn a_probe_after_broken_streams_still_counts_at_its_proper_end() {
    let mut kept = in_state(RememberedState::HalfOpen, TransitionRule::BrokenRun);
    kept.breaker.by_streams = true;
    let (mut board, now) = restored(&kept, secs(1));
    let spec = Arc::new(ladder(1));
    let mut walk = Walk::new(now, LadderIndex(0), spec, streaming(), fastrand::Rng::with_seed(1));
    let mut actions = Vec::new();
    walk.handle(now, Input::Start, &mut board, &mut actions);
    let token = Input::Token { attempt: A, refusal: false };
    walk.handle(now, token, &mut board, &mut actions);
    assert_eq!(state(&board), State::HalfOpen { taken: true, good: 0 }, "not by its token");
}

#[test]
fn a_hold_comes_back_until_its_end() {
    let until = BEFORE.plus(secs(60));
    let hold = Some(RememberedHold { until, doublings: 2, guessed: true });
    let kept = Remembered { hold, ..well() };
    for (down, held) in [(10, true), (59, true), (60, false), (600, false), (99_999, false)] {
        let (board, now) = restored(&kept, secs(down));
        let wanted = if held { Err(PassedOver::Hold) } else { Ok(()) };
        assert_eq!(board.usable(FIRST, now), wanted, "{down} s");
        assert_eq!(board.held_until(FIRST, now), held.then_some(until), "{down} s");
        // The doubling is forgotten only long after the hold's end.
        let left = board.remember(FIRST).unwrap().hold;
        assert_eq!(left, hold.filter(|_| down < 960), "{down} s");
    }
}

#[test]
fn what_is_restored_is_remembered_again() {
    let kept = Remembered {
        reference: Some(Reference { p95: secs(3), usual: secs(1) }),
        hold: Some(RememberedHold { until: BEFORE.plus(secs(9)), doublings: 3, guessed: true }),
        breaker: RememberedBreaker {
            state: RememberedState::Open { until: BEFORE.plus(secs(20)) },
            weight: 0.1,
            cooldown: secs(10),
            by_streams: true,
            away_since: Some(Time::from_millis(1)),
            trouble_since: Some(Time::from_millis(700)),
            opened_by: Some(TransitionRule::ProbeBad),
        },
        finishes: true,
    };
    let (board, _) = restored(&kept, secs(1));
    assert_eq!(board.remember(FIRST), Some(kept));
    assert_eq!(board.remember(RungIndex(2)), None);
}

#[test]
fn a_restored_reference_rules_at_once_and_one_token_does_not_undo_it() {
    let reference = Some(Reference { p95: secs(1), usual: Duration::from_millis(600) });
    let (mut board, now) = restored(&Remembered { reference, ..well() }, secs(60));
    let mark = Duration::from_millis(1250);
    assert_eq!(board.mark(FIRST, Size::default()), Some(mark));
    let spec = HedgeSpec::default();
    assert_eq!(
        board.hedge_delay(FIRST, RungIndex(1), &spec, Size::default()),
        mark,
        "not the initial 2 s"
    );
    assert_eq!(
        board.hedge_delay(RungIndex(1), FIRST, &spec, Size::default()),
        secs(2),
        "nothing known of it"
    );
    let spec = Arc::new(ladder(1));
    for second in 1..20 {
        let now = now.plus(secs(3 * second));
        let mut walk = Walk::new(
            now,
            LadderIndex(0),
            Arc::clone(&spec),
            Need { stream: true, ..Need::default() },
            fastrand::Rng::with_seed(1),
        );
        let mut actions = Vec::new();
        walk.handle(now, Input::Start, &mut board, &mut actions);
        let token = Input::Token { attempt: A, refusal: false };
        walk.handle(now.plus(Duration::from_millis(5)), token, &mut board, &mut actions);
        assert_eq!(board.remember(FIRST).unwrap().reference, reference, "after {second}");
    }
    // The slow mark is restored as well: five attempts that are silent after it open the breaker.
    let later = now.plus(secs(120));
    for number in 0..5 {
        let begun = later.plus(secs(number));
        let mut walk = Walk::new(
            begun,
            LadderIndex(0),
            Arc::clone(&spec),
            streaming(),
            fastrand::Rng::with_seed(1),
        );
        let mut actions = Vec::new();
        walk.handle(begun, Input::Start, &mut board, &mut actions);
        walk.handle(begun.plus(mark), Input::Wake, &mut board, &mut actions);
    }
    assert_eq!(whys(&mut board), [TransitionRule::BadRun]);
}

#[test]
fn what_changes_is_told_once() {
    let (mut board, mut now) = restored(&well(), secs(1));
    assert_eq!(board.take_changed(), []);
    for _ in 0..5 {
        fail(&mut board, now);
    }
    assert_eq!(board.take_changed(), [FIRST], "it opened");
    assert_eq!(board.take_changed(), []);
    // A burst of refusals moves the hold's end by very little: it is reported once.
    let mut stage = Stage::on(2);
    for _ in 0..20 {
        stage.after(10).hold(1, 60_000);
    }
    assert_eq!(stage.board.take_changed(), [RungIndex(1)]);
    // If the end moves on in small steps, it is reported again after one second.
    for _ in 0..100 {
        stage.after(10).hold(1, 60_000);
    }
    assert_eq!(stage.board.take_changed(), [RungIndex(1)]);
    now = now.plus(secs(1));
    board.force(FIRST, now, OverrideMode::ForcedOpen);
    board.force(FIRST, now, OverrideMode::Auto);
    assert_eq!(board.take_changed(), [FIRST], "thawed");
}
