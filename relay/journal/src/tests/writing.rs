//! What is written, when, and how often.

use super::*;
use crate::{Health, RequestFilter};
use shared::Cause;
use std::sync::atomic::Ordering;

fn changes(journal: &Journal) -> u64 {
    journal.inner.as_ref().unwrap().state.changes.load(Ordering::Relaxed)
}

#[test]
fn a_short_request_is_written_once() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    let before = changes(&journal);
    for number in 2..22 {
        journal.start(start(number));
        journal.attempt_start(attempt_start(number, 1, "sol", AttemptKind::First));
        eventually("the writer has them", || journal.health().queue == 0);
        assert!(outcome(journal.end(end(number))));
    }
    // Two rows each. If the machine slept for longer than a start is held back, there are two more.
    let written = changes(&journal) - before;
    assert!((40..60).contains(&written), "{written}");
    assert!(journal.close(DEADLINE));
}

#[test]
fn a_long_request_is_seen_running_then_final() {
    let bed = Bed::new();
    let journal = bed.ready();
    journal.start(start(1));
    journal.attempt_start(attempt_start(1, 1, "sol", AttemptKind::First));
    journal.attempt_start(attempt_start(1, 2, "opus", AttemptKind::Hedge));
    let reader = journal.reader();
    let look = || reader.request(id(1)).unwrap();
    eventually("both attempts are there", || look().is_some_and(|seen| seen.attempts.len() == 2));
    let seen = look().unwrap();
    assert_eq!((seen.request.outcome, seen.request.cost_usd), (None, None));
    assert_eq!((seen.request.attempts_made, seen.request.hedged), (2, true));
    assert_eq!((seen.attempts[0].outcome, seen.attempts[0].no_cost.as_deref()), (None, None));
    let mut last = end(1);
    last.start.at = seen.request.at;
    last.attempts.push(attempt(1, 2, "opus", AttemptKind::Hedge));
    last.attempts[1].cost = Err(CostUnknown::NoPrice);
    assert!(outcome(journal.end(last)));
    let seen = look().unwrap();
    assert_eq!(seen.request.outcome, Some(RequestOutcome::Ok));
    assert_eq!(seen.request.cost_usd, None, "one attempt's cost is unknown");
    assert_eq!(seen.attempts[1].no_cost.as_deref(), Some("no price"));
    assert_eq!(seen.attempts[0].cost_usd, Some(0.0015));
    assert_eq!(bed.number("SELECT count(*) FROM attempts"), 2);
    assert_eq!(bed.number("SELECT count(*) FROM requests"), 1);
}

#[test]
fn every_field_comes_back() {
    let bed = Bed::new();
    let journal = bed.open();
    let mut last = end(7);
    last.outcome = RequestOutcome::Cancelled;
    last.cause = Some(Cause::ClientGone);
    last.passed_over.push(passed("a \"quoted\" one", PassedOver::MaxOutput));
    last.attempts[0].outcome = AttemptOutcome::Cancelled;
    last.attempts[0].cause = Some(Cause::ClientGone);
    last.attempts[0].detail = Some("ü".repeat(1_000));
    last.attempts[0].estimated = true;
    last.attempts[0].start.probe = true;
    last.start.model = Some("m".repeat(1_000).into());
    last.bytes = u64::MAX;
    assert!(outcome(journal.end(last.clone())));
    let seen = journal.reader().request(id(7)).unwrap().unwrap();
    let (row, tried) = (&seen.request, &seen.attempts[0]);
    assert_eq!((row.id, row.at, row.stream), (id(7), last.start.at, true));
    assert_eq!(row.client.as_deref(), Some("web"));
    assert_eq!(row.ladder.as_deref(), Some("chat"));
    assert_eq!(row.model.as_ref().unwrap().len(), 128);
    assert_eq!((row.outcome, row.cause), (Some(last.outcome), last.cause));
    assert_eq!((row.status, row.answered_by.as_deref()), (Some(200), Some("sol")));
    assert_eq!((row.ttft_ms, row.latency_ms), (Some(25), Some(310)));
    assert_eq!((row.input_tokens, row.output_tokens), (Some(100), Some(50)));
    assert_eq!((row.events, row.bytes), (7, i64::MAX.cast_unsigned()));
    assert_eq!(row.cost_usd, Some(0.0015));
    assert_eq!((tried.n, tried.rung.as_str(), tried.kind), (1, "sol", AttemptKind::First));
    assert_eq!((tried.probe, tried.estimated), (true, true));
    assert_eq!((tried.outcome, tried.cause), (Some(AttemptOutcome::Cancelled), last.cause));
    assert_eq!(tried.detail.as_ref().unwrap().chars().count(), 256);
    assert_eq!(tried.verdict, Some(TokenVerdict::Good));
    assert_eq!(tried.stream_verdict, Some(StreamVerdict::Good));
    assert_eq!(
        (tried.headers_ms, tried.ttft_ms, tried.latency_ms),
        (Some(10), Some(20), Some(300))
    );
    assert_eq!((tried.events, tried.bytes, tried.status), (7, 700, Some(200)));
    assert_eq!((tried.input_tokens, tried.output_tokens), (Some(100), Some(50)));
    assert_eq!((tried.cached_tokens, tried.reasoning_tokens), (Some(40), Some(30)));
    assert_eq!((tried.cost_usd, tried.no_cost.as_deref()), (Some(0.0015), None));
    assert_eq!(tried.at, last.attempts[0].start.at);
    let passed: Vec<_> = seen.passed_over.iter().map(|p| (p.rung.as_str(), p.reason)).collect();
    assert_eq!(passed, [("opus", PassedOver::Open), ("a \"quoted\" one", PassedOver::MaxOutput)]);
}

#[test]
fn tokens_are_those_of_the_answer_and_cost_is_of_all() {
    let bed = Bed::new();
    let journal = bed.open();
    let mut last = end(1);
    last.answered = Some(2);
    last.attempts.push(attempt(1, 2, "sol", AttemptKind::Retry));
    last.attempts.push(attempt(1, 3, "opus", AttemptKind::Hedge));
    last.attempts[0].outcome = AttemptOutcome::Overloaded;
    last.attempts[0].usage = Usage::default();
    last.attempts[0].cost = Ok(NanoUsd(0));
    last.attempts[2].cause = Some(Cause::LostRace);
    last.attempts[2].usage.output = Some(1);
    assert!(outcome(journal.end(last)));
    let row = journal.reader().request(id(1)).unwrap().unwrap().request;
    assert_eq!((row.output_tokens, row.cost_usd), (Some(50), Some(0.003)));
}

#[test]
fn it_is_durable_before_the_commit_resolves() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    let other = bed.other();
    for number in 2..200 {
        assert!(outcome(journal.end(end(number))));
        let last: i64 = other.query_row("SELECT max(id) FROM requests", [], |r| r.get(0)).unwrap();
        assert_eq!(last, id(number).number());
    }
}

#[test]
fn a_straggling_start_leaves_a_final_row_alone() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    journal.start(start(1));
    journal.attempt_start(attempt_start(1, 1, "sol", AttemptKind::First));
    journal.attempt_start(attempt_start(1, 9, "sol", AttemptKind::Retry));
    journal.attempt_start(attempt_start(404, 1, "sol", AttemptKind::First));
    assert!(journal.close(DEADLINE));
    assert_eq!(bed.number("SELECT count(*) FROM attempts"), 1);
    assert_eq!(bed.number("SELECT count(*) FROM requests WHERE outcome IS NULL"), 0);
}

#[test]
fn the_wait_goes_off_when_late_and_on_with_a_commit() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    assert!(journal.wait_is_on());
    journal.report_late();
    let health = journal.health();
    assert!(health.late && !health.ok && !journal.wait_is_on());
    assert!(outcome(journal.end(end(2))));
    assert!(journal.wait_is_on() && journal.health().ok);
}

#[test]
fn closing_writes_what_is_held_and_later_records_are_lost() {
    let bed = Bed::new();
    let journal = bed.open();
    journal.start(start(1));
    let commits: Vec<_> = (2..2_000).map(|number| journal.end(end(number))).collect();
    assert!(journal.close(DEADLINE));
    assert!(journal.close(DEADLINE), "a second time says the same");
    assert!(commits.into_iter().all(outcome));
    assert_eq!(bed.number("SELECT count(*) FROM requests"), 1_999);
    assert!(!outcome(journal.end(end(2_000))));
    assert_eq!(journal.health().lost, 1);
}

#[test]
fn a_dropped_journal_still_writes_what_it_was_given() {
    let bed = Bed::new();
    let journal = bed.open();
    let commits: Vec<_> = (1..1_000).map(|number| journal.end(end(number))).collect();
    drop(journal);
    assert!(commits.into_iter().all(outcome));
}

#[test]
fn off_keeps_nothing_and_is_well() {
    let journal = Journal::off();
    journal.start(start(1));
    journal.report_late();
    assert!(!outcome(journal.end(end(1))));
    assert_eq!(journal.health(), Health::default());
    assert!(!journal.wait_is_on() && journal.close(DEADLINE));
    assert!(journal.reader().requests(&RequestFilter::default()).is_err());
}

#[test]
fn the_log_stays_small_under_load() {
    let bed = Bed::new();
    let journal = bed.open();
    for round in 0..20 {
        let commits: Vec<_> =
            (0..1_000).map(|number| journal.end(end(1 + round * 1_000 + number))).collect();
        assert!(commits.into_iter().all(outcome));
    }
    let mut log = bed.path.clone().into_os_string();
    log.push("-wal");
    let size = std::fs::metadata(log).unwrap().len();
    assert!(size < 16 << 20, "{size}");
    assert_eq!(journal.health().lost, 0);
}
