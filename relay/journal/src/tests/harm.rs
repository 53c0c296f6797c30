//! What others, and readers, do to a journal's files while it runs.

use super::*;
use crate::file::beside;
use crate::{CaptureFilter, CaptureRecord};
use shared::Dialect;

fn says(journal: &Journal, words: &str) {
    eventually(words, || journal.health().error.is_some_and(|error| error.contains(words)));
    assert!(!journal.health().ok);
}

fn capture(number: u64, length: usize) -> CaptureRecord {
    CaptureRecord {
        request: id(number),
        at: now(),
        ladder: "chat".into(),
        rung: "opus".into(),
        dialect: Dialect::OpenaiChat,
        prompt: None,
        asked: format!("\"{}\"", "x".repeat(length)),
        answered: "{}".to_owned(),
    }
}

#[cfg(unix)]
#[test]
fn c7_nobody_else_may_read_a_new_journal() {
    use std::os::unix::fs::PermissionsExt as _;
    let bed = Bed::new();
    let journal = bed.ready();
    assert!(outcome(journal.end(end(1))));
    for ending in ["", "-wal", "-shm", "-lock"] {
        let mode = std::fs::metadata(beside(&bed.path, ending)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{ending}");
    }
}

#[test]
fn c7_a_journal_that_is_emptied_is_noticed_and_begun_anew() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    std::fs::File::options().write(true).open(&bed.path).unwrap().set_len(0).unwrap();
    eventually("a journal without the request", || {
        journal.reader().request(id(1)).is_ok_and(|found| found.is_none())
    });
    assert!(outcome(journal.end(end(2))));
    assert!(journal.reader().request(id(2)).unwrap().is_some());
}

#[test]
fn c7_a_journal_that_is_cut_off_or_overwritten_is_noticed_without_a_record() {
    let cut = |path: &Path| {
        let length = std::fs::metadata(path).unwrap().len();
        std::fs::File::options().write(true).open(path).unwrap().set_len(length / 2).unwrap();
    };
    let overwritten = |path: &Path| std::fs::write(path, vec![b'x'; 65_536]).unwrap();
    for (harm, words) in [(&cut as &dyn Fn(&Path), "malformed"), (&overwritten, "no Belay journal")]
    {
        let bed = Bed::new();
        let journal = bed.open();
        assert!((1..400).map(|n| journal.end(end(n))).collect::<Vec<_>>().into_iter().all(outcome));
        bed.other().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        harm(&bed.path);
        says(&journal, words);
        // Once the file is moved away the problem is over, as with a file that never was a journal.
        for ending in ["", "-wal", "-shm"] {
            let _not_there = std::fs::rename(
                beside(&bed.path, ending),
                beside(&bed.path, &format!("-aside{ending}")),
            );
        }
        eventually("it is over", || journal.health().ok);
        assert!(outcome(journal.end(end(1000))));
    }
}

#[test]
fn c7_a_log_that_is_deleted_takes_nothing_with_it() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    std::fs::remove_file(beside(&bed.path, "-wal")).unwrap();
    assert!(outcome(journal.end(end(2))));
    assert_eq!(bed.number("SELECT count(*) FROM requests"), 2);
}

#[test]
fn a_checkpoint_that_was_cut_off_is_finished_from_the_log() {
    let (bed, torn) = (Bed::new(), Bed::new());
    let journal = bed.open();
    assert!((1..300).map(|n| journal.end(end(n))).collect::<Vec<_>>().into_iter().all(outcome));
    let other = bed.other();
    for ending in ["", "-wal"] {
        std::fs::copy(beside(&bed.path, ending), beside(&torn.path, ending)).unwrap();
    }
    other.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    // Its first page refers to pages that did not arrive.
    let mut pages = bytes(&torn.path);
    pages[..4096].copy_from_slice(&bytes(&bed.path)[..4096]);
    assert!(pages.len() < bytes(&bed.path).len());
    std::fs::write(&torn.path, pages).unwrap();
    let journal = torn.open();
    assert!(outcome(journal.end(end(1000))), "{:?}", journal.health());
    assert_eq!(torn.number("SELECT count(*) FROM requests"), 300);
}

#[test]
fn c7_two_relays_on_one_journal_are_noticed_and_the_second_waits() {
    let bed = Bed::new();
    let first = bed.ready();
    first.start(start(1));
    eventually("it runs", || bed.number("SELECT count(*) FROM requests") == 1);
    let second = bed.open();
    says(&second, "another relay (process ");
    let waiting = second.end(end(2));
    assert_eq!(bed.number("SELECT count(*) FROM requests WHERE outcome = 'interrupted'"), 0);
    assert!(outcome(first.end(end(1))) && first.close(DEADLINE));
    assert!(outcome(waiting), "and takes over");
    assert!(second.health().ok);
    assert_eq!(bed.number("SELECT count(*) FROM requests WHERE outcome = 'ok'"), 2);
}

#[test]
fn c7_an_export_that_nobody_reads_keeps_no_snapshot() {
    let bed = Bed::new();
    let journal = bed.open();
    for number in 1..=3 {
        assert!(outcome(journal.end(end(number))));
        journal.capture(capture(number, 3 << 20));
    }
    eventually("they are there", || bed.number("SELECT count(*) FROM captures") == 3);
    let mut seen = Vec::new();
    let read = journal.reader().captures(&CaptureFilter::default(), &mut |captured| {
        seen.push(captured.id);
        // A reader that holds a snapshot holds the log; then this would return 1, busy.
        let busy = bed.number("PRAGMA wal_checkpoint(TRUNCATE)");
        assert_eq!(busy, 0, "at {seen:?}");
        true
    });
    read.unwrap();
    assert_eq!(seen, [id(1), id(2), id(3)]);
}

#[test]
fn c7_a_log_that_a_reader_holds_does_not_outgrow_the_journals_size() {
    const SIZE: u64 = 8 << 20;
    let bed = Bed::new();
    let journal = bed.open_with(|options| options.max_size = SIZE);
    assert!(outcome(journal.end(end(1))));
    let other = bed.other();
    other.execute_batch("BEGIN; SELECT * FROM requests").unwrap();
    let mut number = 2;
    eventually("it is said", || {
        for _ in 0..20 {
            journal.capture(capture(number, 256 * 1024));
            drop(journal.end(end(number)));
            number += 1;
        }
        journal.health().error.is_some_and(|error| error.contains("End that reader"))
    });
    let log = || std::fs::metadata(beside(&bed.path, "-wal")).unwrap().len();
    let full = log();
    assert!(!outcome(journal.end(end(number))), "it is lost, and says so");
    assert!(journal.health().lost > 0);
    assert!(full < SIZE + (16 << 20), "{full}: one batch more at the most");
    assert_eq!(log(), full);
    other.execute_batch("COMMIT").unwrap();
    eventually("it is over", || journal.health().ok);
    assert!(outcome(journal.end(end(number + 1))));
    assert!(log() < SIZE);
}
