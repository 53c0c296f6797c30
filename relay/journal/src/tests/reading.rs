//! Filters and pages, and that list and detail agree.

use super::*;
use crate::reader::query::{Part, list};
use crate::{ReadError, Reader, RequestFilter, Sort};
use proptest::prelude::*;
use shared::admin::RequestRow;
use std::collections::BTreeMap;

fn numbers(reader: &Reader, filter: &RequestFilter) -> Vec<i64> {
    reader.requests(filter).unwrap().items.iter().map(|row| row.id.number()).collect()
}

/// Every row, page by page.
fn pages(reader: &Reader, filter: &RequestFilter) -> Vec<RequestRow> {
    let mut filter = filter.clone();
    let mut rows = Vec::new();
    loop {
        let page = reader.requests(&filter).unwrap();
        assert!(page.items.len() <= filter.limit as usize);
        rows.extend(page.items);
        filter.cursor = page.next;
        if filter.cursor.is_none() {
            return rows;
        }
    }
}

#[test]
fn each_filter_filters() {
    let bed = Bed::new();
    let journal = bed.keeping_all();
    let mut ends: Vec<RequestEnd> = (1..=4).map(end).collect();
    for (end, at) in ends.iter_mut().zip(1_000_i64..) {
        end.start.at = UnixMillis(at);
    }
    ends[1].start.ladder = Some("code".into());
    ends[1].start.client = None;
    ends[1].ttft = None;
    ends[2].outcome = RequestOutcome::Failed;
    ends[2].answered = None;
    ends[2].attempts[0].start.rung = "local".into();
    ends[3].ttft = Some(ms(900));
    ends[3].answered = Some(2);
    ends[3].attempts.push(attempt(4, 2, "opus", AttemptKind::Hedge));
    for end in ends {
        assert!(outcome(journal.end(end)));
    }
    let reader = journal.reader();
    let all = RequestFilter::default;
    let text = |text: &str| Some(text.to_owned());
    let cases = [
        (all(), vec![4, 3, 2, 1]),
        (RequestFilter { ladder: text("code"), ..all() }, vec![2]),
        (RequestFilter { client: text("web"), ..all() }, vec![4, 3, 1]),
        (RequestFilter { tried: text("sol"), ..all() }, vec![4, 2, 1]),
        (RequestFilter { tried: text("local"), ..all() }, vec![3]),
        (RequestFilter { answered_by: text("sol"), ..all() }, vec![2, 1]),
        (RequestFilter { outcome: Some(RequestOutcome::Failed), ..all() }, vec![3]),
        (RequestFilter { kind: Some(AttemptKind::Hedge), ..all() }, vec![4]),
        (RequestFilter { since: Some(UnixMillis(1_001)), ..all() }, vec![4, 3, 2]),
        (RequestFilter { until: Some(UnixMillis(1_001)), ..all() }, vec![1]),
        (RequestFilter { id: Some(id(3)), ..all() }, vec![3]),
        (RequestFilter { min_ttft_ms: Some(900), ..all() }, vec![4]),
        (RequestFilter { min_ttft_ms: Some(0), ..all() }, vec![4, 3, 1]),
        (RequestFilter { limit: 2, ..all() }, vec![4, 3]),
        (RequestFilter { limit: 0, ..all() }, vec![4]),
        (RequestFilter { tried: text("sol"), answered_by: text("opus"), ..all() }, vec![4]),
        (RequestFilter { ladder: text("' OR TRUE --"), ..all() }, vec![]),
    ];
    for (filter, expected) in cases {
        assert_eq!(numbers(&reader, &filter), expected, "{filter:?}");
    }
    assert!(reader.request(id(5)).unwrap().is_none());
}

#[test]
fn pages_neither_skip_nor_repeat() {
    let bed = Bed::new();
    let journal = bed.keeping_all();
    let mut commits = Vec::new();
    for number in 1..=100 {
        let mut end = end(number);
        // Several requests share a millisecond, and some ids are not in the order of time.
        end.start.at = UnixMillis(1_000 + i64::try_from((number * 7 % 100) / 9).unwrap());
        commits.push(journal.end(end));
    }
    assert!(commits.into_iter().all(outcome));
    let reader = journal.reader();
    for limit in [1, 3, 7, 50, 99, 100, 500] {
        let rows = pages(&reader, &RequestFilter { limit, ..RequestFilter::default() });
        let keys: Vec<_> = rows.iter().map(|row| (row.at, row.id)).collect();
        assert_eq!(keys.len(), 100);
        assert!(keys.is_sorted_by(|newer, older| newer > older), "by {limit}");
    }
    // New rows, and the loss of old ones, between two pages.
    let mut filter = RequestFilter { limit: 40, ..RequestFilter::default() };
    let first = reader.requests(&filter).unwrap();
    assert!(outcome(journal.end(end(101))));
    let last = first.items.last().unwrap().id.number();
    bed.other().execute("DELETE FROM requests WHERE id = ?1", [last]).unwrap();
    filter.cursor = first.next;
    let rest = pages(&reader, &filter);
    assert_eq!((rest.len(), rest.iter().any(|row| row.id == id(101))), (60, false));
}

/// Every sort, page by page: greatest first, what has no value last, and nothing twice.
#[test]
fn sorts_give_every_row_once_and_those_without_a_value_last() {
    let bed = Bed::new();
    let journal = bed.keeping_all();
    let mut commits = Vec::new();
    for number in 1..=60 {
        let mut end = end(number);
        end.ttft = (number % 3 != 0).then_some(ms(number * 7 % 11));
        end.latency = (number % 4 != 0).then_some(ms(number * 5 % 13));
        end.attempts[0].cost = if number % 5 == 0 {
            Err(CostUnknown::NoPrice)
        } else {
            Ok(NanoUsd(i64::try_from(number * 3 % 17).unwrap()))
        };
        if number % 2 == 0 {
            end.attempts.push(attempt(number, 2, "opus", AttemptKind::Failover));
        }
        commits.push(journal.end(end));
    }
    assert!(commits.into_iter().all(outcome));
    let reader = journal.reader();
    let by = |sort: Sort, row: &RequestRow| match sort {
        Sort::At => Some(row.at.0 as f64),
        Sort::Cost => row.cost_usd,
        Sort::Ttft => row.ttft_ms.map(|ms| ms as f64),
        Sort::Total => row.latency_ms.map(|ms| ms as f64),
        Sort::Attempts => Some(f64::from(row.attempts_made)),
    };
    for sort in [Sort::At, Sort::Cost, Sort::Ttft, Sort::Total, Sort::Attempts] {
        for since in [None, Some(UnixMillis(0))] {
            for limit in [1, 7, 40, 60, 500] {
                let filter = RequestFilter { sort, since, limit, ..RequestFilter::default() };
                let rows = pages(&reader, &filter);
                let keys: Vec<_> = rows.iter().map(|row| (by(sort, row), row.id)).collect();
                assert_eq!(keys.len(), 60, "{filter:?}");
                assert!(keys.is_sorted_by(|a, b| a > b), "{filter:?}: {keys:?}");
            }
        }
    }
    let other = RequestFilter { limit: 1, sort: Sort::Ttft, ..RequestFilter::default() };
    let cursor = reader.requests(&other).unwrap().next;
    let mixed = RequestFilter { cursor, ..RequestFilter::default() };
    assert!(matches!(reader.requests(&mixed).unwrap_err(), ReadError::Cursor(_)));
}

#[test]
fn trouble_is_what_was_no_plain_first_attempt_answered_in_time() {
    let bed = Bed::new();
    let journal = bed.keeping_all();
    let mut ends: Vec<RequestEnd> = (1..=5).map(end).collect();
    ends[1].outcome = RequestOutcome::Failed;
    ends[2].attempts.push(attempt(3, 2, "opus", AttemptKind::Hedge));
    ends[3].attempts[0].verdict = Some(TokenVerdict::Slow);
    ends[4].attempts[0].stream_verdict = Some(StreamVerdict::Bad);
    for end in ends {
        assert!(outcome(journal.end(end)));
    }
    // A request that still runs on its first attempt may yet end without trouble.
    journal.start(start(6));
    let reader = journal.reader();
    eventually("it is seen to run", || reader.request(id(6)).unwrap().is_some());
    let filter = RequestFilter { trouble: true, ..RequestFilter::default() };
    assert_eq!(numbers(&reader, &filter), vec![5, 4, 3, 2]);
}

#[test]
fn the_rescued_and_those_of_which_an_attempt_ended_so_are_found() {
    let bed = Bed::new();
    let journal = bed.keeping_all();
    let mut ends: Vec<RequestEnd> = (1..=4).map(end).collect();
    // Rescued by the second attempt, after a time-out on the first.
    ends[1].attempts[0].outcome = AttemptOutcome::TtftTimeout;
    ends[1].attempts.push(attempt(2, 2, "opus", AttemptKind::Failover));
    // The second attempt did not help.
    ends[2].outcome = RequestOutcome::Failed;
    ends[2].attempts[0].outcome = AttemptOutcome::Connect;
    ends[2].attempts.push(attempt(3, 2, "opus", AttemptKind::Failover));
    ends[2].attempts[1].outcome = AttemptOutcome::TtftTimeout;
    // A lost race is no rescue.
    ends[3].attempts.push(attempt(4, 2, "opus", AttemptKind::Hedge));
    ends[3].attempts[1].outcome = AttemptOutcome::Cancelled;
    for end in ends {
        assert!(outcome(journal.end(end)));
    }
    let reader = journal.reader();
    let all = RequestFilter::default;
    let rescued = RequestFilter { rescued: true, ..all() };
    assert_eq!(numbers(&reader, &rescued), vec![2]);
    let ended = |outcome, tried: Option<&str>| RequestFilter {
        ended: Some(outcome),
        tried: tried.map(str::to_owned),
        ..all()
    };
    let timed_out = AttemptOutcome::TtftTimeout;
    assert_eq!(numbers(&reader, &ended(timed_out, None)), vec![3, 2]);
    assert_eq!(numbers(&reader, &ended(timed_out, Some("sol"))), vec![2]);
    assert_eq!(numbers(&reader, &ended(timed_out, Some("opus"))), vec![3]);
    assert_eq!(numbers(&reader, &ended(AttemptOutcome::Connect, Some("opus"))), Vec::<i64>::new());
}

#[test]
fn a_wrong_cursor_says_so() {
    let bed = Bed::new();
    let journal = bed.ready();
    for cursor in [
        "",
        "1",
        "at:1:",
        "at:x:req_0000000000000",
        "ttft:1:req_0000000000000",
        "at:1:req_000",
        "\u{0}",
    ] {
        let filter = RequestFilter { cursor: Some(cursor.to_owned()), ..RequestFilter::default() };
        let error = journal.reader().requests(&filter).unwrap_err();
        assert!(matches!(error, ReadError::Cursor(_)), "{cursor}: {error}");
    }
}

/// The order by time comes from the index; without it a page would sort all rows.
#[test]
fn no_list_reads_more_than_its_page_and_recovery_no_table() {
    let bed = Bed::new();
    let _journal = bed.ready();
    let conn = bed.other();
    let plan = |sql: &str| {
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let count = statement.parameter_count();
        let values = rusqlite::params_from_iter(vec![1_i64; count]);
        let rows = statement.query_map(values, |row| row.get::<_, String>(3)).unwrap();
        rows.collect::<Result<Vec<_>, _>>().unwrap().join("\n")
    };
    let all = RequestFilter::default;
    let text = |text: &str| Some(text.to_owned());
    let since = Some(UnixMillis(1));
    let by = |sort: Sort| RequestFilter { sort, ..all() };
    for (filter, index) in [
        (all(), "requests_at"),
        (RequestFilter { since, until: Some(UnixMillis(2)), ..all() }, "requests_at"),
        (RequestFilter { ladder: text("chat"), ..all() }, "requests_ladder"),
        (RequestFilter { answered_by: text("sol"), ..all() }, "requests_answered_by"),
        (RequestFilter { outcome: Some(RequestOutcome::Failed), ..all() }, "requests_outcome"),
        (RequestFilter { trouble: true, ..all() }, "requests_at"),
        (RequestFilter { tried: text("sol"), ..all() }, "requests_at"),
        (by(Sort::Cost), "requests_cost"),
        (by(Sort::Ttft), "requests_ttft"),
        (by(Sort::Total), "requests_total"),
        (by(Sort::Attempts), "requests_attempts"),
        (RequestFilter { ladder: text("chat"), ..by(Sort::Cost) }, "requests_cost"),
    ] {
        for part in [Part::Valued(None), Part::Valued(Some((1, id(1))))] {
            let plan = plan(&list(&filter, part, 50, false).sql);
            assert!(plan.split_whitespace().any(|word| word == index), "{filter:?}: {plan}");
            assert!(!plan.contains("TEMP B-TREE"), "{filter:?}: {plan}");
        }
    }
    let rare = RequestFilter { tried: text("sol"), ..all() };
    let plan_of_rare = plan(&list(&rare, Part::Valued(None), 50, true).sql);
    assert!(plan_of_rare.contains("attempts_rung"), "{plan_of_rare}");
    let window = RequestFilter { since, ..by(Sort::Cost) };
    let plan_of_window = plan(&list(&window, Part::Valued(None), 50, false).sql);
    assert!(plan_of_window.contains("USING INDEX requests_at"), "{plan_of_window}");
    for sql in [crate::recover::REQUESTS, crate::recover::ATTEMPTS] {
        let plan = plan(sql);
        let is_short =
            plan.contains("_unfinished") || plan.contains("requests_outcome (outcome=?)");
        assert!(is_short, "{plan}");
    }
}

fn any_end(number: u64) -> impl Strategy<Value = RequestEnd> {
    let tries = proptest::collection::vec(
        (
            proptest::sample::select(AttemptOutcome::ALL),
            proptest::sample::select(AttemptKind::ALL),
            "[a-c]",
            proptest::option::of(0..100_000_i64),
        ),
        0..4,
    );
    let passed =
        proptest::collection::vec(("\\PC{0,8}", proptest::sample::select(PassedOver::ALL)), 0..3);
    let rest =
        (proptest::sample::select(RequestOutcome::ALL), 0..5_i64, proptest::option::of(1..5_u32));
    (tries, passed, rest).prop_map(move |(tries, passed, (outcome, at, answered))| {
        let mut last = end(number);
        last.start.at = UnixMillis(at);
        last.outcome = outcome;
        last.answered = answered;
        last.hedged = tries.iter().any(|(_, kind, ..)| *kind == AttemptKind::Hedge);
        last.passed_over =
            passed.into_iter().map(|(rung, why)| super::passed(&rung, why)).collect();
        last.attempts = (1..)
            .zip(tries)
            .map(|(n, (outcome, kind, rung, cost))| AttemptEnd {
                outcome,
                cost: cost.map(NanoUsd).ok_or(CostUnknown::NoPrice),
                ..attempt(number, n, &rung, kind)
            })
            .collect();
        last
    })
}

fn any_ends() -> impl Strategy<Value = Vec<RequestEnd>> {
    (1_u64..30).prop_flat_map(|count| (1..=count).map(any_end).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn list_and_detail_agree_with_what_was_written(ends in any_ends(), limit in 1_u32..10) {
        let bed = Bed::new();
        let journal = bed.keeping_all();
        let commits: Vec<_> = ends.iter().map(|end| journal.end(end.clone())).collect();
        prop_assert!(commits.into_iter().all(outcome));
        let reader = journal.reader();
        let written: BTreeMap<_, _> = ends.iter().map(|end| (end.start.id, end)).collect();
        let rows = pages(&reader, &RequestFilter { limit, ..RequestFilter::default() });
        prop_assert_eq!(rows.len(), written.len());
        for row in &rows {
            let (end, seen) = (written[&row.id], reader.request(row.id).unwrap().unwrap());
            prop_assert_eq!(&seen.request, row);
            prop_assert_eq!(row.outcome, Some(end.outcome));
            prop_assert_eq!((row.attempts_made as usize, row.hedged), (end.attempts.len(), end.hedged));
            prop_assert_eq!(seen.attempts.len(), end.attempts.len());
            let sum = end.attempts.iter().map(|attempt| attempt.cost.ok()).sum::<Option<Sum>>();
            prop_assert_eq!(row.cost_usd, sum.map(|Sum(nanos)| NanoUsd(nanos).usd()));
            for (attempt, tried) in end.attempts.iter().zip(&seen.attempts) {
                prop_assert_eq!((tried.n, &*tried.rung), (attempt.start.n, &*attempt.start.rung));
                prop_assert_eq!((tried.kind, tried.outcome), (attempt.start.kind, Some(attempt.outcome)));
            }
            let passed: Vec<_> = seen.passed_over.iter().map(|p| (&*p.rung, p.reason)).collect();
            prop_assert_eq!(passed, end.passed_over.iter().map(|one| (&*one.rung, one.reason)).collect::<Vec<_>>());
        }
        for rung in ["a", "b", "c"] {
            let filter = RequestFilter { tried: Some(rung.to_owned()), limit, ..RequestFilter::default() };
            let tried = ends.iter().filter(|end| end.attempts.iter().any(|a| &*a.start.rung == rung));
            prop_assert_eq!(pages(&reader, &filter).len(), tried.count());
        }
    }
}

/// Nano-dollars, summed.
struct Sum(i64);

impl std::iter::Sum<NanoUsd> for Sum {
    fn sum<I: Iterator<Item = NanoUsd>>(costs: I) -> Self {
        Self(costs.map(|cost| cost.0).sum())
    }
}
