//! Rows that were left behind before a restart.

use super::*;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

/// Which file the child of [`after_kill_9_what_was_committed_is_there`] writes.
const CHILD: &str = "BELAY_JOURNAL_TEST_CHILD";

fn assert_interrupted(bed: &Bed, number: u64) {
    let journal = bed.open();
    let reader = journal.reader();
    eventually("nothing runs any more", || {
        reader.request(id(number)).is_ok_and(|seen| seen.unwrap().request.outcome.is_some())
    });
    let seen = reader.request(id(number)).unwrap().unwrap();
    assert_eq!(seen.request.outcome, Some(RequestOutcome::Interrupted));
    assert_eq!((seen.request.cost_usd, seen.request.attempts_made), (None, 1));
    assert_eq!(seen.attempts[0].outcome, Some(AttemptOutcome::Interrupted));
    assert_eq!(
        (seen.attempts[0].cost_usd, seen.attempts[0].no_cost.as_deref()),
        (None, Some("interrupted"))
    );
    assert_eq!(bed.number("SELECT count(*) FROM attempts WHERE outcome IS NULL"), 0);
}

fn run_one(journal: &Journal, number: u64) {
    journal.start(start(number));
    journal.attempt_start(attempt_start(number, 1, "sol", AttemptKind::First));
}

#[test]
fn what_never_ended_is_interrupted_at_the_next_start() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    run_one(&journal, 2);
    drop(journal);
    eventually("the running one is written", || bed.number("SELECT count(*) FROM attempts") == 2);
    assert_interrupted(&bed, 2);
    assert_eq!(bed.number("SELECT count(*) FROM requests WHERE outcome = 'ok'"), 1);
}

#[test]
fn a_reopened_file_keeps_this_lifes_requests_running() {
    let bed = Bed::new();
    let journal = bed.ready();
    run_one(&journal, 1);
    eventually("the running one is written", || bed.number("SELECT count(*) FROM attempts") == 1);
    // The same file under another inode: the writer must open it anew.
    let copy = bed.path.with_extension("copy");
    bed.other().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    for name in ["-wal", "-shm"] {
        let mut beside = bed.path.clone().into_os_string();
        beside.push(name);
        let _may_not_be_there = std::fs::remove_file(beside);
    }
    std::fs::rename(&copy, &bed.path).unwrap();
    assert!(outcome(journal.end(end(2))));
    assert_eq!(bed.number("SELECT count(*) FROM requests WHERE outcome = 'interrupted'"), 0);
    assert!(outcome(journal.end(end(1))));
    assert_eq!(bed.number("SELECT count(*) FROM requests WHERE outcome = 'ok'"), 2);
}

/// The process that is killed: it writes until then.
fn write_until_killed(path: std::ffi::OsString) {
    let journal = Journal::open(JournalOptions::new(path.into(), now));
    run_one(&journal, 1);
    for number in 2.. {
        assert!(outcome(journal.end(end(number))));
        println!("\ncommitted {number}");
    }
}

#[test]
fn after_kill_9_what_was_committed_is_there() {
    // The test runs itself once more, as the process that it kills.
    if let Some(path) = std::env::var_os(CHILD) {
        return write_until_killed(path);
    }
    let bed = Bed::new();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--nocapture", "--exact"])
        .arg(
            concat!(module_path!(), "::after_kill_9_what_was_committed_is_there")
                .split_once("::")
                .unwrap()
                .1,
        )
        .env(CHILD, &bed.path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut seen = 0;
    let begun = now();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        if let Some(number) = line.unwrap().strip_prefix("committed ") {
            seen = number.parse::<i64>().unwrap();
        }
        // Long enough for the running one to be written.
        if seen > 50 && crate::writer::elapsed(begun, now()) > Duration::from_secs(1) {
            child.kill().unwrap();
            break;
        }
    }
    child.wait().unwrap();
    assert!(seen > 50, "the child never wrote");
    assert_interrupted(&bed, 1);
    let there = bed.number("SELECT count(*) FROM requests WHERE outcome = 'ok'");
    assert!(there >= seen - 1, "{seen} were committed, {there} are there");
    let check: String =
        bed.other().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}
