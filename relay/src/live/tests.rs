//! What is counted, when it is forgotten, and that nothing is counted twice.

use super::*;
use record::{AttemptStart, PassedRung, sample};
use shared::StreamVerdict;
use shared::{
    AttemptKind, AttemptOutcome, Cause, NanoUsd, PassedOver, RequestOutcome, UnixMillis, Usage,
};
use std::time::Duration;

const OF: Pair = Pair { ladder: 0, rung: 1 };

fn live() -> Live {
    Live::new(2, &[vec![1, 0]])
}

/// An attempt on rung 1 that ended so.
fn ended(outcome: AttemptOutcome) -> AttemptEnd {
    let end = sample::attempt(outcome);
    AttemptEnd { start: AttemptStart { place: 1, ..end.start }, ..end }
}

fn good() -> AttemptEnd {
    AttemptEnd {
        verdict: Some(TokenVerdict::Good),
        stream_verdict: Some(StreamVerdict::Good),
        usage: Usage { input: Some(100), output: Some(20), ..Usage::default() },
        cost: Ok(NanoUsd(3_000_000)),
        ..ended(AttemptOutcome::Ok)
    }
}

/// The `n`-th attempt of its request, on the rung at `place`.
fn tried(n: u32, place: usize, kind: AttemptKind) -> AttemptEnd {
    let end = sample::attempt(AttemptOutcome::Ok);
    AttemptEnd { start: AttemptStart { n, place, kind, ..end.start }, ..end }
}

fn request(outcome: RequestOutcome) -> RequestEnd {
    RequestEnd { latency: Some(ms(500)), ..sample::request(outcome) }
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn slow_streams_that_break_count_once() {
    let live = live();
    for n in 0..5 {
        let now = 100_000 + n * 1_000;
        let ticket = live.dialled(OF, now, true);
        live.token(OF, now + 900, ticket, 900, TokenVerdict::Slow);
        let broke = AttemptEnd {
            verdict: Some(TokenVerdict::Slow),
            stream_verdict: Some(StreamVerdict::Bad),
            ..ended(AttemptOutcome::Stall)
        };
        live.attempt(OF.ladder, now + 950, ticket, &broke);
    }
    let seen = live.rung_numbers(1, 105_000);
    let now = &seen.now;
    assert_eq!((now.calls, now.good, now.slow, now.bad), (5, 0, 5, 0));
    let sum = |counts: &[u32]| counts.iter().sum::<u32>();
    assert_eq!((sum(&seen.spark.slow), sum(&seen.spark.bad)), (5, 0));
}

#[test]
fn an_attempt_counts_once_whatever_is_said_of_it_later() {
    let live = live();
    let now = 100_000;
    let first = live.dialled(OF, now, true);
    let second = live.dialled(OF, now + 100, false);
    let seen = live.rung_numbers(1, now + 300).now;
    assert_eq!((seen.waiting, seen.oldest_wait_ms, seen.streaming), (2, Some(300), 0));
    live.token(OF, now + 400, first, 400, TokenVerdict::Good);
    live.attempt(OF.ladder, now + 900, first, &good());
    let seen = live.rung_numbers(1, now + 1000).now;
    assert_eq!((seen.waiting, seen.oldest_wait_ms, seen.streaming), (1, Some(900), 0));
    assert_eq!((seen.calls, seen.good), (1, 1));
    // A stream that breaks was good before, and is bad now: one call all the same.
    live.token(OF, now + 1100, second, 1000, TokenVerdict::Good);
    let broke = AttemptEnd {
        verdict: Some(TokenVerdict::Good),
        stream_verdict: Some(StreamVerdict::Bad),
        ..ended(AttemptOutcome::Stall)
    };
    live.attempt(OF.ladder, now + 1200, second, &broke);
    let seen = live.rung_numbers(1, now + 1300);
    assert_eq!((seen.now.calls, seen.now.good, seen.now.bad), (2, 1, 1));
    assert_eq!(
        seen.now.outcomes.into_iter().collect::<Vec<_>>(),
        [("ok".to_owned(), 1), ("stall".to_owned(), 1)]
    );
    assert_eq!(seen.last_ok_at, Some(UnixMillis(5)));
    assert_eq!(seen.last_fault.map(|fault| fault.outcome), Some(AttemptOutcome::Stall));
    assert_eq!(seen.now.hist.tokens(), 2);
    assert_eq!((seen.now.waiting, seen.now.streaming), (0, 0));
}

#[test]
fn the_window_forgets_and_the_curve_remembers() {
    let live = live();
    let now = 60_000;
    let ticket = live.dialled(OF, now, true);
    live.token(OF, now + 200, ticket, 200, TokenVerdict::Slow);
    let slow = AttemptEnd { verdict: Some(TokenVerdict::Slow), ..good() };
    live.attempt(OF.ladder, now + 300, ticket, &slow);
    let seen = live.rung_numbers(1, now + 26_000).now;
    assert_eq!((seen.calls, seen.slow), (1, 1));
    assert!(seen.rps > 0.0 && seen.cost_nps > 0, "{seen:?}");
    let later = live.rung_numbers(1, now + 31_000);
    assert_eq!((later.now.calls, later.now.hist.0.len()), (0, 0));
    assert_eq!((later.now.ttft_p95_ms, later.now.rps), (None, 0.0));
    // The step of its time, two steps before the one that runs.
    let spark = &later.spark;
    assert_eq!((spark.calls.len(), spark.step_ms), (60, 15_000));
    assert_eq!(&spark.slow[57..], &[1, 0, 0]);
    assert!(spark.p95_ms[57].is_some_and(|ms| (190..=210).contains(&ms)), "{spark:?}");
    assert_eq!(spark.p95_ms[58], None, "no calls are a gap");
    let much_later = live.rung_numbers(1, now + 3_600_000).spark;
    assert_eq!(much_later.calls.iter().sum::<u32>(), 0);
}

#[test]
fn a_p95_beyond_what_was_seen_says_so() {
    let live = live();
    for number in 0..20 {
        let ticket = live.dialled(OF, 1000, false);
        if number < 10 {
            live.token(OF, 1100, ticket, 100, TokenVerdict::Good);
            live.attempt(OF.ladder, 1200, ticket, &good());
        } else {
            let cut = AttemptEnd {
                cause: Some(Cause::LostRace),
                verdict: Some(TokenVerdict::Slow),
                ..ended(AttemptOutcome::Cancelled)
            };
            live.attempt(OF.ladder, 16_000, ticket, &cut);
        }
    }
    let seen = live.rung_numbers(1, 16_000).now;
    assert!(seen.ttft_at_least, "{seen:?}");
    assert!(seen.ttft_p95_ms.is_some_and(|ms| ms > 14_000), "{seen:?}");
    assert_eq!((seen.good, seen.slow, seen.calls), (10, 10, 20));
}

#[test]
fn users_are_told_apart_by_what_they_had() {
    let live = live();
    live.standing(0, 1000, Some(300), (7, 0));
    let begin = || live.began(0, 1000);
    use RequestOutcome as O;
    let ok = RequestEnd {
        ttft: Some(ms(100)),
        answered: Some(1),
        attempts: vec![tried(1, 1, AttemptKind::First)],
        ..request(O::Ok)
    };
    live.ended(0, 1500, begin(), &ok);
    let rescued = RequestEnd {
        answered: Some(2),
        ttft: Some(ms(900)),
        hedged: true,
        attempts: vec![tried(1, 1, AttemptKind::First), tried(2, 0, AttemptKind::Hedge)],
        passed_over: vec![PassedRung {
            rung: "b".into(),
            place: 1,
            reason: PassedOver::Open,
            field: None,
        }],
        ..ok.clone()
    };
    live.ended(0, 1500, begin(), &rescued);
    live.ended(0, 1500, begin(), &request(O::Failed));
    let broken = RequestEnd { ttft: Some(ms(100)), ..request(O::Failed) };
    live.ended(0, 1500, begin(), &broken);
    let left = RequestEnd { cause: Some(Cause::ClientGone), ..request(O::Cancelled) };
    live.ended(0, 1500, begin(), &left);
    live.ended(0, 1500, begin(), &request(O::Rejected));
    live.standing(0, 2000, Some(300), (9, 1));
    let waiting = begin();

    let seen = live.ladder_numbers(0, 2000);
    let users = &seen.users;
    assert_eq!((users.ok, users.failed, users.broken, users.gone), (2, 1, 1, 1));
    assert_eq!((users.late, users.rescued, users.late_ms), (1, 1, Some(300)));
    assert_eq!((users.waiting, users.oldest_wait_ms), (1, Some(1000)));
    assert_eq!(seen.refused, (2, 1), "since it was looked at first");
    assert_eq!(seen.hedge_share, Some(1.0 / 6.0));
    assert_eq!(seen.hedge_win_share, Some(1.0));
    let shares: Vec<_> = seen.steps.iter().map(|(rung, step)| (*rung, step.share)).collect();
    assert_eq!(shares, [(1, Some(0.5)), (0, Some(0.5))]);
    assert_eq!(seen.steps[0].1.passed.get(&PassedOver::Open), Some(&1));
    live.committed(0, waiting);
    assert_eq!((live.waiting(), live.ladder_numbers(0, 2000).users.streaming), (0, 1));
    assert_eq!(live.ladder_numbers(0, 65_000).users.ok, 0, "a minute later it is forgotten");
}

#[test]
fn a_minute_is_taken_once_and_adds_up() {
    let live = live();
    assert!(live.take_minute().is_empty());
    let seat = live.began(0, 1000);
    let ticket = live.dialled(OF, 1000, true);
    live.token(OF, 1200, ticket, 200, TokenVerdict::Good);
    live.attempt(OF.ladder, 1300, ticket, &good());
    let end = RequestEnd {
        answered: Some(1),
        attempts: vec![tried(1, 1, AttemptKind::First)],
        ..request(RequestOutcome::Ok)
    };
    live.ended(0, 1400, seat, &end);
    let minute = live.take_minute();
    let [(0, (requests, steps))] = minute.as_slice() else { panic!("{minute:?}") };
    assert_eq!((requests.ok, requests.outcomes.as_slice()), (1, [("ok", 1)].as_slice()));
    assert_eq!((requests.input_tokens, requests.cost), (100, 3_000_000));
    let [(1, step)] = steps.as_slice() else { panic!("{steps:?}") };
    assert_eq!((step.good, step.first, step.answered), (1, 1, 1));
    assert_eq!((step.hist.tokens(), step.output_tokens), (1, 20));
    assert!(live.take_minute().is_empty());
}

#[test]
fn what_was_forgotten_does_not_wait() {
    let live = live();
    let (seat, ticket) = (live.began(0, 1000), live.dialled(OF, 1000, true));
    live.forget_request(0, seat);
    live.forget_attempt(1, ticket);
    assert_eq!(live.waiting(), 0);
    assert_eq!(live.rung_numbers(1, 2000).now.waiting, 0);
    // Numbers that name nobody are nobody's.
    live.attempt(9, 2000, 0, &tried(1, 9, AttemptKind::First));
    assert_eq!(live.rung_numbers(9, 2000), RungNumbers::default());
}

#[test]
fn what_is_known_survives_another_shape() {
    let live = live();
    let ticket = live.dialled(OF, 1000, true);
    live.reshape(3, &[(0, vec![2, 1]), (2, vec![0])]);
    live.attempt(OF.ladder, 1300, ticket, &good());
    assert_eq!(live.rung_numbers(1, 2000).now.outcomes.get("ok"), Some(&1));
    let rungs: Vec<_> = live.ladder_numbers(0, 2000).steps.iter().map(|(rung, _)| *rung).collect();
    assert_eq!(rungs, [1, 0, 2]);
    let other = Pair { ladder: 2, rung: 2 };
    let ticket = live.dialled(other, 2000, false);
    assert_eq!(live.rung_numbers(2, 2100).now.waiting, 1);
    live.attempt(2, 2200, ticket, &tried(1, 2, AttemptKind::First));
}
