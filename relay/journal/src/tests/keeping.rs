//! What is kept over a restart, and journals of the version before.

use super::*;
use crate::schema::VERSION;
use crate::{HealthRecord, HoldRecord, Kept, OverrideEnd, OverrideRecord, ReadError};

/// The first version's tables, as a relay of that version made them.
const V1: &str = include_str!("../schema/v1.sql");

fn well(rung: &str) -> HealthRecord {
    HealthRecord {
        rung: rung.into(),
        at: now(),
        fingerprint: "00112233aabbccdd".into(),
        key_tag: "a1b2".into(),
        state: "closed".to_owned(),
        cause: None,
        until: None,
        weight: 1.0,
        cooldown: Duration::from_secs(5),
        by_streams: false,
        away_since: None,
        trouble_since: None,
        hold: None,
        reference: None,
        finishes: false,
    }
}

fn sick(rung: &str) -> HealthRecord {
    let hold = HoldRecord { until: UnixMillis(now().0 + 9_000), doublings: 3, guessed: true };
    HealthRecord {
        state: "open".to_owned(),
        cause: Some("broken_run".to_owned()),
        until: Some(UnixMillis(now().0 + 12_345)),
        weight: 0.1,
        cooldown: Duration::from_millis(20_001),
        by_streams: true,
        away_since: Some(UnixMillis(now().0 - 3_600_000)),
        trouble_since: Some(UnixMillis(now().0 - 60_000)),
        hold: Some(hold),
        reference: Some((Duration::from_micros(1_500_001), Duration::from_micros(700_002))),
        finishes: true,
        ..well(rung)
    }
}

fn kept(journal: &Journal) -> Kept {
    journal.reader().kept().unwrap()
}

fn set_override(bed: &Bed, rung: &str, at: UnixMillis, until: Option<i64>) {
    bed.other()
        .execute(
            "INSERT INTO overrides (at, rung, version, mode, author, reason, until)
             VALUES (?1, ?2, 1, 'forced_open', 'ben', 'hangs, ticket 4711', ?3)",
            rusqlite::params![at.0, rung, until],
        )
        .unwrap();
}

#[test]
fn a_rung_is_read_as_it_was_written_last() {
    let bed = Bed::new();
    let journal = bed.open();
    let (sol, opus) = (sick("sol"), well("opus"));
    for record in [well("sol"), opus.clone(), sick("sol"), sol.clone()] {
        assert!(journal.keep(record));
    }
    assert!(journal.close(DEADLINE));
    let journal = bed.ready();
    assert_eq!(kept(&journal), Kept { health: vec![opus, sol], ..Kept::default() });
}

#[test]
fn what_is_kept_is_written_at_once() {
    let bed = Bed::new();
    let journal = bed.ready();
    let sol = sick("sol");
    assert!(journal.keep(sol.clone()));
    eventually("it is written", || bed.number("SELECT count(*) FROM health") == 1);
    assert_eq!(kept(&journal).health, [sol]);
}

#[test]
fn overrides_in_force_are_read_and_those_that_ended_are_not() {
    let bed = Bed::new();
    let journal = bed.ready();
    let (begun, until) = (now(), now().0 + 60_000);
    set_override(&bed, "sol", begun, Some(until));
    set_override(&bed, "opus", begun, None);
    let sol = OverrideRecord {
        rung: "sol".to_owned(),
        at: begun,
        mode: "forced_open".to_owned(),
        author: Some("ben".to_owned()),
        reason: Some("hangs, ticket 4711".to_owned()),
        until: Some(UnixMillis(until)),
        version: 1,
        cut: false,
        action: None,
    };
    let opus = OverrideRecord { rung: "opus".to_owned(), until: None, ..sol.clone() };
    assert_eq!(kept(&journal).overrides, [sol, opus.clone()]);
    let end = |version| OverrideEnd {
        rung: "sol".into(),
        at: UnixMillis(until),
        version,
        why: "expired",
    };
    // An override that was set after the reported end goes on.
    journal.end_override(end(1));
    assert!(outcome(journal.end(super::end(1))));
    assert_eq!(kept(&journal).overrides.len(), 2);
    journal.end_override(end(2));
    assert!(outcome(journal.end(super::end(2))));
    assert_eq!(kept(&journal).overrides, [opus]);
    let ended = format!("SELECT ended = {until} AND ended_why = 'expired' FROM overrides");
    assert_eq!(bed.number(&format!("{ended} WHERE rung = 'sol'")), 1);
}

#[test]
fn a_journal_of_the_first_version_is_brought_up_to_date_with_what_is_in_it() {
    let bed = Bed::new();
    let old = Connection::open(&bed.path).unwrap();
    old.execute_batch(V1).unwrap();
    old.execute_batch(
        "PRAGMA application_id = 0x424C4159; PRAGMA user_version = 1;
         INSERT INTO requests (id, at, stream, outcome) VALUES (1, 9e15, 1, 'ok');
         INSERT INTO attempts (request, n, at, rung, kind, probe, outcome)
           VALUES (1, 1, 9e15, 'sol', 'first', 0, 'ok');
         INSERT INTO transitions (at, rung, generation, after, rule)
           VALUES (9e15, 'sol', 1, 'open', 'bad_run');
         INSERT INTO actions (key, at, kind, targets, status) VALUES ('k', 9, 'override', '[]', 200);
         INSERT INTO orders (at, ladder, version, source, rungs) VALUES (9, 'chat', 1, 'operator', '[]');",
    )
    .unwrap();
    drop(old);
    set_override(&bed, "sol", now(), None);
    let reader = Journal::off().reader();
    assert!(matches!(reader.kept(), Err(ReadError::NoFile(_))));
    let reader = crate::Reader::at(bed.path.clone());
    assert!(matches!(reader.kept(), Err(ReadError::Older { found: 1, known: VERSION })));
    let journal = bed.ready();
    assert_eq!(bed.number("SELECT user_version FROM pragma_user_version"), VERSION);
    let seen = journal.reader().request(id(1)).unwrap().unwrap();
    assert_eq!((seen.request.outcome, seen.attempts.len()), (Some(RequestOutcome::Ok), 1));
    for table in ["transitions", "actions", "orders", "overrides"] {
        assert_eq!(bed.number(&format!("SELECT count(*) FROM {table}")), 1, "{table}");
    }
    assert_eq!((kept(&journal).health.len(), kept(&journal).overrides.len()), (0, 1));
    assert!(journal.keep(sick("sol")) && outcome(journal.end(end(2))));
    assert_eq!(kept(&journal).health.len(), 1);
}

#[test]
fn rungs_nobody_has_heard_of_for_long_are_let_go_and_young_ones_stay() {
    const DAY: i64 = 24 * 3_600_000;
    let bed = Bed::new();
    let journal = bed.ready();
    let aged =
        |rung, days: i64| HealthRecord { at: UnixMillis(now().0 - days * DAY), ..well(rung) };
    for (rung, days) in [("gone", 3), ("quiet", 1), ("young", 0)] {
        assert!(journal.keep(aged(rung, days)));
        set_override(&bed, rung, UnixMillis(now().0 - 9 * DAY), None);
        let at = UnixMillis(now().0 - days * DAY);
        journal.end_override(OverrideEnd { rung: rung.into(), at, version: 2, why: "expired" });
    }
    // In force for ever, however old.
    set_override(&bed, "endless", UnixMillis(1), None);
    assert!(journal.close(DEADLINE));
    // Requests go after an hour here; a quiet rung is written once a day and must stay.
    let journal = bed.open_with(|options| options.retain = Duration::from_secs(3600));
    eventually("the old one is gone", || bed.number("SELECT count(*) FROM health") == 2);
    assert_eq!(bed.number("SELECT count(*) FROM health WHERE rung = 'gone'"), 0);
    assert_eq!(bed.number("SELECT count(*) FROM overrides"), 3);
    assert_eq!(kept(&journal).overrides.len(), 1);
}

#[test]
fn a_full_queue_says_that_it_did_not_take_it() {
    let bed = Bed::new();
    let journal = bed.open_with(|options| options.queue = 4);
    assert!(outcome(journal.end(end(1))));
    let other = bed.other();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    eventually("the queue is full", || !journal.keep(well("sol")));
    other.execute_batch("COMMIT").unwrap();
    eventually("there is room again", || journal.keep(sick("sol")));
    assert!(journal.close(DEADLINE));
    assert_eq!(bed.number("SELECT count(*) FROM health WHERE state = 'open'"), 1);
}
