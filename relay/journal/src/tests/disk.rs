//! Disks that are full, locked, read-only, gone, or not ours.

use super::*;
use crate::{ReadError, RequestFilter};
use std::sync::atomic::Ordering;

fn count(bed: &Bed) -> i64 {
    bed.number("SELECT count(*) FROM requests WHERE outcome = 'ok'")
}

#[test]
fn a_locked_file_is_waited_out() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    let other = bed.other();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let commits: Vec<_> = (2..402).map(|number| journal.end(end(number))).collect();
    eventually("the lock is seen", || journal.health().error.is_some());
    eventually("the lag is seen", || journal.health().lag_ms > 500);
    let health = journal.health();
    assert!(!health.ok && health.queue == 400 && health.lost == 0, "{health:?}");
    assert!(health.error.unwrap().contains("locked"));
    other.execute_batch("COMMIT").unwrap();
    assert!(commits.into_iter().all(outcome));
    assert_eq!(count(&bed), 401);
    let health = journal.health();
    assert!(health.ok && health.queue == 0 && health.lag_ms == 0, "{health:?}");
}

#[test]
fn a_reader_that_stays_holds_nothing_up() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    let other = bed.other();
    other.execute_batch("BEGIN; SELECT * FROM requests").unwrap();
    let commits: Vec<_> = (2..402).map(|number| journal.end(end(number))).collect();
    assert!(commits.into_iter().all(outcome));
    assert!(journal.health().error.is_none());
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(count(&bed), 401);
}

#[test]
fn a_full_queue_loses_and_counts_and_goes_on() {
    let bed = Bed::new();
    let journal = bed.open_with(|options| options.queue = 10);
    assert!(outcome(journal.end(end(1))));
    let other = bed.other();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut commits = Vec::new();
    // As many as the writer takes, plus as many as the channel holds, and more.
    eventually("something is lost", || {
        commits.push(journal.end(end(2 + commits.len() as u64)));
        journal.health().lost > 20
    });
    let lost = journal.health().lost;
    other.execute_batch("COMMIT").unwrap();
    let all = commits.len() as u64;
    let written = commits.into_iter().map(outcome).filter(|committed| *committed).count() as u64;
    assert_eq!(written + lost, all);
    assert_eq!(count(&bed), 1 + i64::try_from(written).unwrap());
    assert!(outcome(journal.end(end(1_000_000))) && journal.health().ok);
}

#[test]
fn starts_give_way_before_ends_do() {
    let bed = Bed::new();
    let journal = bed.open_with(|options| options.queue = 8);
    assert!(outcome(journal.end(end(1))));
    let other = bed.other();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let first = journal.end(end(2));
    eventually("the writer is stuck", || journal.health().error.is_some());
    for number in 1_000..1_100 {
        journal.start(start(number));
    }
    let commits = [3, 4, 5, 6].map(|number| journal.end(end(number)));
    assert_eq!(journal.health().lost, 0);
    other.execute_batch("COMMIT").unwrap();
    assert!(outcome(first) && commits.map(outcome) == [true; 4]);
}

#[test]
fn a_full_disk_is_waited_out() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    let limit = &journal.inner.as_ref().unwrap().state.page_limit;
    limit.store(1, Ordering::Relaxed);
    let commits: Vec<_> = (2..2_002).map(|number| journal.end(end(number))).collect();
    eventually("the disk is full", || journal.health().error.is_some_and(|e| e.contains("full")));
    assert!(journal.health().queue > 0);
    limit.store(u32::MAX, Ordering::Relaxed);
    assert!(commits.into_iter().all(outcome));
    assert_eq!(count(&bed), 2_001);
    assert_eq!((journal.health().ok, journal.health().lost), (true, 0));
}

#[test]
fn a_folder_that_is_not_there_yet_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let bed = Bed { path: dir.path().join("later").join("belay.db"), _dir: dir };
    let journal = bed.open();
    let commit = journal.end(end(1));
    eventually("it is seen", || journal.health().error.is_some());
    std::fs::create_dir(bed.path.parent().unwrap()).unwrap();
    assert!(outcome(commit));
    assert!(journal.health().ok);
}

#[test]
fn an_idle_journal_comes_up_without_a_record() {
    let dir = tempfile::tempdir().unwrap();
    let bed = Bed { path: dir.path().join("later").join("belay.db"), _dir: dir };
    let journal = bed.open();
    eventually("it is seen", || journal.health().error.is_some());
    std::fs::create_dir(bed.path.parent().unwrap()).unwrap();
    eventually("it is over", || journal.health().ok);
    assert!(bed.path.exists());
}

#[test]
fn a_deleted_file_is_made_anew() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    std::fs::remove_file(&bed.path).unwrap();
    assert!(outcome(journal.end(end(2))));
    assert_eq!(count(&bed), 1);
    assert!(journal.health().ok);
}

/// The file is refused and not changed, and the journal is well again once the file is gone.
fn assert_refused(bed: &Bed, words: &str) {
    let before = bytes(&bed.path);
    let journal = bed.open();
    eventually("it is refused", || journal.health().error.is_some_and(|e| e.contains(words)));
    journal.start(start(1));
    assert!(!outcome(journal.end(end(1))));
    assert_eq!((journal.health().ok, journal.health().lost), (false, 1));
    assert!(!outcome(journal.end(end(2))));
    assert_eq!(bytes(&bed.path), before);
    for name in ["-wal", "-shm", "-journal"] {
        let mut beside = bed.path.clone().into_os_string();
        beside.push(name);
        assert!(!Path::new(&beside).exists(), "{name} was made");
    }
    std::fs::rename(&bed.path, bed.path.with_extension("aside")).unwrap();
    eventually("it is over", || journal.health().ok);
    assert!(outcome(journal.end(end(3))));
    assert_eq!(journal.health().lost, 2);
    assert_eq!(bytes(&bed.path.with_extension("aside")), before);
}

#[test]
fn garbage_is_left_alone() {
    for garbage in
        [&b"x"[..], b"not a database at all, but long enough to hold a header", &[0; 8192]]
    {
        let bed = Bed::new();
        std::fs::write(&bed.path, garbage).unwrap();
        assert_refused(&bed, "no Belay journal");
    }
}

#[test]
fn another_programs_database_is_left_alone() {
    for setup in ["PRAGMA journal_mode = WAL; CREATE TABLE t (x)", "CREATE TABLE t (x)"] {
        let bed = Bed::new();
        bed.other().execute_batch(setup).unwrap();
        assert_refused(&bed, "no Belay journal");
    }
}

#[test]
fn a_newer_journal_is_left_alone() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))) && journal.close(DEADLINE));
    bed.other().execute_batch("PRAGMA user_version = 99").unwrap();
    assert_refused(&bed, "schema 99");
}

/// Only the log has the version, as after a crash of the newer relay.
#[test]
fn a_newer_journal_is_known_by_its_log_too() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))) && journal.close(DEADLINE));
    let newer = bed.other();
    newer.execute_batch("PRAGMA wal_autocheckpoint = 0; PRAGMA user_version = 99").unwrap();
    // A copy, so that the journal's connection is the last one to be closed.
    let copy = Bed::new();
    let log = |path: &Path| {
        let mut log = path.to_owned().into_os_string();
        log.push("-wal");
        log
    };
    std::fs::copy(&bed.path, &copy.path).unwrap();
    std::fs::copy(log(&bed.path), log(&copy.path)).unwrap();
    let before = (bytes(&copy.path), bytes(Path::new(&log(&copy.path))));
    let journal = copy.open();
    eventually("it is refused", || journal.health().error.is_some_and(|e| e.contains("99")));
    assert!(!outcome(journal.end(end(2))));
    assert!(journal.close(DEADLINE));
    assert_eq!((bytes(&copy.path), bytes(Path::new(&log(&copy.path)))), before);
}

#[test]
fn a_record_that_sqlite_refuses_stops_no_other() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    bed.other()
        .execute_batch(
            "CREATE TRIGGER poison BEFORE INSERT ON attempts WHEN NEW.rung = 'poison'
             BEGIN SELECT RAISE(ABORT, 'poison'); END",
        )
        .unwrap();
    let other = bed.other();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut bad = end(2);
    bad.attempts[0].start.rung = "poison".into();
    let commits = [journal.end(bad), journal.end(end(3)), journal.end(end(4))];
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(commits.map(outcome), [false, true, true]);
    assert_eq!((count(&bed), journal.health().lost), (3, 1));
    assert_eq!(bed.number("SELECT count(*) FROM requests WHERE id = 2"), 0, "all of it or nothing");
}

#[test]
fn closing_gives_up_in_time() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))));
    let other = bed.other();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let commit = journal.end(end(2));
    assert!(!journal.close(Duration::from_millis(50)));
    assert!(!outcome(commit));
    eventually("it is counted", || journal.health().lost == 1);
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(count(&bed), 1);
}

/// Root may write read-only files, so for root a child process with the user `nobody` does it.
#[test]
#[cfg(unix)]
fn a_read_only_file_is_served_past() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    const CHILD: &str = "BELAY_JOURNAL_TEST_NOBODY";
    const NOBODY: u32 = 65_534;
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))) && journal.close(DEADLINE));
    let folder = bed.path.parent().unwrap();
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(&bed.path, 0o444);
    set(folder, 0o555);
    let is_root = std::fs::OpenOptions::new().append(true).open(&bed.path).is_ok();
    if is_root && std::env::var_os(CHILD).is_none() {
        let child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--nocapture", "--exact"])
            .arg(
                concat!(module_path!(), "::a_read_only_file_is_served_past")
                    .split_once("::")
                    .unwrap()
                    .1,
            )
            .env(CHILD, "1")
            .env("TMPDIR", "/tmp")
            .current_dir("/")
            .uid(NOBODY)
            .gid(NOBODY)
            .status();
        match child {
            Ok(status) => assert!(status.success(), "as nobody: {status}"),
            Err(error) => println!("SKIPPED: nobody may not run this file: {error}"),
        }
        return;
    }
    let reader = crate::Reader::at(bed.path.clone());
    assert_eq!(reader.requests(&RequestFilter::default()).unwrap().items.len(), 1);
    let journal = bed.open();
    let commit = journal.end(end(2));
    eventually("it is seen", || journal.health().error.is_some());
    set(folder, 0o755);
    eventually("the file alone is enough", || {
        journal.health().error.is_some_and(|error| error.contains("read-only"))
    });
    assert_eq!(journal.health().queue, 1);
    set(&bed.path, 0o644);
    assert!(outcome(commit) && journal.health().ok);
    assert_eq!(count(&bed), 2);
}

#[test]
fn a_folder_under_the_name_is_an_error_not_a_crash() {
    let bed = Bed::new();
    std::fs::create_dir(&bed.path).unwrap();
    let journal = bed.open();
    let commit = journal.end(end(1));
    eventually("it is seen", || journal.health().error.is_some());
    std::fs::remove_dir(&bed.path).unwrap();
    assert!(outcome(commit));
}

#[test]
fn readers_say_what_is_wrong() {
    let bed = Bed::new();
    let reader = crate::Reader::at(bed.path.clone());
    let read = || reader.requests(&RequestFilter::default()).unwrap_err();
    assert!(matches!(read(), ReadError::NoFile(_)));
    assert!(!bed.path.exists(), "looking makes no file");
    std::fs::write(&bed.path, "").unwrap();
    assert!(matches!(read(), ReadError::NoFile(_)));
    for garbage in [&b"x"[..], &[b'x'; 4096]] {
        std::fs::write(&bed.path, garbage).unwrap();
        assert!(matches!(read(), ReadError::NotAJournal(_)));
    }
    std::fs::remove_file(&bed.path).unwrap();
    bed.other().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(matches!(read(), ReadError::NotAJournal(_)));
    std::fs::remove_file(&bed.path).unwrap();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))) && journal.close(DEADLINE));
    assert_eq!(reader.requests(&RequestFilter::default()).unwrap().items.len(), 1);
    bed.other().execute_batch("PRAGMA user_version = 99").unwrap();
    assert!(matches!(read(), ReadError::Newer { found: 99, .. }));
    assert!(read().to_string().contains("schema 99"));
}
