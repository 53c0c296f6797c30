//! The table of minutes: written, added up, deleted, and what is usual by it.

use super::*;
use crate::{GroupBy, MinuteRecord, SeriesQuery, SummaryQuery};
use shared::histogram::{Bucket, Hist};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// A time in the middle of an hour.
const NOW: i64 = 1_764_500_400_000 - 1_764_500_400_000 % HOUR + 30 * MINUTE;

fn minute(at: i64, rung: Option<&str>, calls: u64, life: i64) -> MinuteRecord {
    MinuteRecord {
        at: UnixMillis(at),
        life: UnixMillis(life),
        ladder: "chat".into(),
        rung: rung.map(Into::into),
        calls,
        good: calls,
        answered: calls,
        outcomes: [("ok".to_owned(), calls)].into(),
        hist: Hist(vec![Bucket(100, u32::try_from(calls).unwrap(), 0)]),
        cost_nano: 3_600 * calls,
        ..MinuteRecord::default()
    }
}

fn write(journal: &Journal, records: impl IntoIterator<Item = MinuteRecord>) {
    records.into_iter().for_each(|record| journal.minute(record));
    assert!(outcome(journal.end(end(1))));
}

/// An hour of minutes from `since`, of the rung and of its ladder.
fn hour(since: i64, calls: u64) -> impl Iterator<Item = MinuteRecord> {
    (0..60).flat_map(move |number| {
        let at = since + number * MINUTE;
        [minute(at, Some("sol"), calls, 1), minute(at, None, calls, 1)]
    })
}

#[test]
fn a_minute_written_twice_counts_once_and_two_lives_of_it_add_up() {
    let bed = Bed::new();
    let journal = bed.ready();
    let at = NOW - 10 * MINUTE;
    write(&journal, [minute(at, Some("sol"), 5, 1), minute(at, Some("sol"), 5, 1)]);
    write(&journal, [minute(at, Some("sol"), 2, 9), minute(at + MINUTE, Some("opus"), 3, 9)]);
    let mut query = SeriesQuery {
        by_ladder: false,
        rung: None,
        ladder: None,
        since: UnixMillis(at),
        until: UnixMillis(NOW),
        step: Duration::from_secs(60),
    };
    let series = journal.reader().series(&query).unwrap();
    let calls: Vec<_> =
        series.curves.iter().map(|curve| (curve.name.as_str(), curve.points[0].calls)).collect();
    assert_eq!(calls, [("opus", 3), ("sol", 7)]);
    assert_eq!(series.curves[1].points[0].hist.tokens(), 7);
    query.step = Duration::from_secs(300);
    let series = journal.reader().series(&query).unwrap();
    assert_eq!(series.since.0 % (5 * MINUTE), 0);
    assert!(series.curves[1].points[0].at.0 <= at);
    query.rung = Some("opus".to_owned());
    assert_eq!(journal.reader().series(&query).unwrap().curves.len(), 1);
    let asked = SummaryQuery {
        group: GroupBy::Rung,
        ladder: Some("code".to_owned()),
        since: UnixMillis(at),
        until: UnixMillis(NOW),
    };
    assert_eq!(journal.reader().summary(&asked).unwrap().items, []);
}

#[test]
fn below_an_hour_nothing_is_usual() {
    let bed = Bed::new();
    let journal = bed.ready();
    write(&journal, hour(NOW - HOUR + MINUTE, 6).take(118));
    let usual = journal.reader().usual(UnixMillis(NOW)).unwrap();
    assert_eq!((usual.rungs.len(), usual.ladders.len()), (0, 0), "59 minutes");
    assert_eq!(usual.peaks.get("sol"), Some(&0.1));
}

#[test]
fn an_hour_of_the_last_day_is_usual_until_there_are_earlier_days() {
    let bed = Bed::new();
    let journal = bed.ready();
    write(&journal, hour(NOW - 5 * HOUR - 30 * MINUTE, 6));
    let usual = journal.reader().usual(UnixMillis(NOW)).unwrap();
    let sol = &usual.rungs["sol"];
    assert_eq!((sol.rps, sol.bad, sol.cost_nps), (Some(0.1), Some(0.0), Some(360)));
    assert!(sol.ttft_p95_ms.is_some());
    assert_eq!(
        (usual.ladders["chat"].ok, usual.ladders["chat"].rps.to_string()),
        (6, "0.1".into())
    );
    assert_eq!(usual.shares[&("chat".to_owned(), "sol".to_owned())].to_string(), "1");
    // The same hour of three earlier days: their median, whatever today was.
    let this_hour = NOW - 30 * MINUTE;
    for (day, calls) in [(1, 60), (2, 12), (3, 18)] {
        write(&journal, hour(this_hour - day * DAY, calls));
    }
    let usual = journal.reader().usual(UnixMillis(NOW)).unwrap();
    assert_eq!(usual.rungs["sol"].rps, Some(0.3));
    assert_eq!(usual.ladders["chat"].ok, 18);
}

#[test]
fn minutes_are_let_go_of_after_thirty_days() {
    let bed = Bed::new();
    let journal = bed.ready();
    let today = now().0;
    write(&journal, hour(today - 31 * DAY, 1).chain(hour(today - 29 * DAY, 1)));
    eventually("the old ones are gone", || bed.number("SELECT count(*) FROM minutes") == 120);
    assert!(bed.number("SELECT min(at) FROM minutes") > today - 30 * DAY);
}
