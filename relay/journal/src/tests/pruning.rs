//! What is deleted, and that deletion does not hold up the rest.

use super::*;

#[test]
fn the_old_go_and_the_young_stay() {
    let bed = Bed::new();
    let journal = bed.open();
    let mut commits = Vec::new();
    for number in 1..=1_000 {
        let mut old = end(number);
        old.start.at = UnixMillis(now().0 - if number <= 700 { 3_600_000 } else { 0 });
        commits.push(journal.end(old));
    }
    assert!(commits.into_iter().all(outcome) && journal.close(DEADLINE));
    bed.other()
        .execute_batch(
            "INSERT INTO transitions (at, rung, generation, after, rule)
             VALUES (1, 'sol', 1, 'open', 'bad_run'), (9e15, 'sol', 2, 'closed', 'probes')",
        )
        .unwrap();
    let journal = bed.open_with(|options| options.retain = Duration::from_secs(600));
    eventually("the old are gone", || bed.number("SELECT count(*) FROM requests") == 300);
    eventually("the old transition too", || bed.number("SELECT count(*) FROM transitions") == 1);
    assert_eq!(bed.number("SELECT count(*) FROM attempts"), 300);
    assert_eq!(bed.number("SELECT min(id) FROM requests"), 701);
    // The second old one is deleted, which shows that it was looked at again after the young one
    // came.
    let mut old = end(2_001);
    old.start.at = UnixMillis(now().0 - 3_600_000);
    let commits = [journal.end(end(2_000)), journal.end(old)];
    assert!(commits.into_iter().all(outcome));
    let long_ago = now().0 - 1_800_000;
    let old_ones = format!("SELECT count(*) FROM requests WHERE at < {long_ago}");
    eventually("the late old one is gone", || bed.number(&old_ones) == 0);
    assert_eq!(bed.number("SELECT count(*) FROM requests"), 301);
}

#[test]
fn above_its_size_the_oldest_go_and_the_file_shrinks() {
    const SIZE: u64 = 2 << 20;
    let bed = Bed::new();
    let journal = bed.open();
    for round in 0..20 {
        let commits: Vec<_> =
            (0..1_000).map(|number| journal.end(end(1 + round * 1_000 + number))).collect();
        assert!(commits.into_iter().all(outcome));
    }
    assert!(journal.close(DEADLINE));
    let full = std::fs::metadata(&bed.path).unwrap().len();
    assert!(full > SIZE + (1 << 20), "{full}");
    let journal = bed.open_with(|options| options.max_size = SIZE);
    let used = "SELECT (SELECT page_count FROM pragma_page_count) \
                - (SELECT freelist_count FROM pragma_freelist_count)";
    let limit = i64::try_from(SIZE / 4096).unwrap();
    eventually("it is within its size", || bed.number(used) <= limit);
    eventually("the file too, but for spare pages", || {
        bed.number("SELECT page_count FROM pragma_page_count") <= limit + 256
    });
    // Meanwhile and afterwards records are written as usual.
    assert!(outcome(journal.end(end(30_000))));
    let left = bed.number("SELECT count(*) FROM requests");
    assert!(left > 5_000, "{left}: not more than needed");
    assert_eq!(bed.number("SELECT max(id) FROM requests"), 30_000);
    assert!(bed.number("SELECT min(id) FROM requests") > 1);
    assert!(journal.close(DEADLINE));
    assert!(std::fs::metadata(&bed.path).unwrap().len() < full);
}

#[test]
fn what_still_runs_is_not_old() {
    let bed = Bed::new();
    let journal = bed.open_with(|options| options.retain = Duration::from_secs(1));
    eventually("the file is set up", || journal.reader().request(id(1)).is_ok());
    let mut old = start(1);
    old.at = UnixMillis(1_000);
    journal.start(old);
    eventually("it is written", || bed.number("SELECT count(*) FROM requests") == 1);
    let mut done = end(2);
    done.start.at = UnixMillis(2_000);
    assert!(outcome(journal.end(done)));
    eventually("the one that ended is gone", || {
        bed.number("SELECT count(*) FROM requests WHERE id = 2") == 0
    });
    assert_eq!(bed.number("SELECT max(id) FROM requests"), 1);
}

#[test]
fn a_lock_is_not_waited_for() {
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))) && journal.close(DEADLINE));
    let mut conn = bed.other();
    let other = bed.other();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let later = now().plus(Duration::from_hours(1));
    let mut pruner = crate::prune::Pruner::new(Duration::from_secs(1), u64::MAX);
    // The first step sees a clock that has leapt; the wait after the leap is over a second later.
    pruner.step(&mut conn, later, &bed.path).unwrap();
    let later = later.plus(Duration::from_secs(2));
    // With the usual wait this would take 250 ms each.
    let begun = now();
    for _ in 0..40 {
        pruner.step(&mut conn, later, &bed.path).unwrap();
    }
    assert!(crate::writer::elapsed(begun, now()) < Duration::from_secs(5));
    other.execute_batch("COMMIT").unwrap();
    pruner.step(&mut conn, later, &bed.path).unwrap();
    assert_eq!(bed.number("SELECT count(*) FROM requests"), 0);
}

#[test]
fn c7_a_clock_that_leaps_beyond_retain_erases_nothing_for_a_day_of_running() {
    const DAY: Duration = Duration::from_hours(24);
    let bed = Bed::new();
    let journal = bed.open();
    assert!(outcome(journal.end(end(1))) && journal.close(DEADLINE));
    let mut conn = bed.other();
    let left = || bed.number("SELECT count(*) FROM requests");
    let running = || crate::prune::Pruner::new(30 * DAY, u64::MAX);
    // While the relay runs, and over a restart.
    for first_look in [Some(now()), None] {
        let mut pruner = running();
        if let Some(at) = first_look {
            pruner.step(&mut conn, at, &bed.path).unwrap();
        }
        let mut clock = now().plus(40 * DAY);
        for _ in 0..1000 {
            pruner.step(&mut conn, clock, &bed.path).unwrap();
            clock = clock.plus(Duration::from_secs(1));
        }
        assert_eq!(left(), 1, "it is not old: {first_look:?}");
        // Back again: nothing was lost, and nothing is waited for any longer than that.
        pruner.step(&mut conn, now(), &bed.path).unwrap();
        assert_eq!(left(), 1);
    }
    // An operator who leaves the clock so has decided: after a day of running the request is
    // deleted.
    let (mut pruner, mut clock) = (running(), now().plus(40 * DAY));
    for _ in 0..DAY.as_secs() {
        pruner.step(&mut conn, clock, &bed.path).unwrap();
        clock = clock.plus(Duration::from_secs(2));
    }
    assert_eq!(left(), 0);
}
