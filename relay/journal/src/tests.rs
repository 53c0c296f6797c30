//! The journal against real SQLite files.
//!
//! The tests wait for conditions, with a deadline that only a failure reaches: the machine may be
//! loaded.

mod changes;
mod crash;
mod disk;
mod harm;
mod keeping;
mod minutes;
mod pruning;
mod reading;
mod writing;

use super::{Commit, Journal, JournalOptions};
use record::{AttemptEnd, AttemptStart, CostUnknown, PassedRung, RequestEnd, RequestStart};
use rusqlite::Connection;
use shared::{
    AttemptKind, AttemptOutcome, NanoUsd, PassedOver, RequestId, RequestOutcome, StreamVerdict,
    TokenVerdict, UnixMillis, Usage,
};
use std::future::Future as _;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Longer than anything that works takes.
const DEADLINE: Duration = Duration::from_secs(30);

#[expect(clippy::disallowed_methods, reason = "these tests are the shell that hands the clock in")]
fn now() -> UnixMillis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    UnixMillis(i64::try_from(since.as_millis()).unwrap())
}

/// Waits until the condition holds.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = now();
    while !holds() {
        assert!(super::writer::elapsed(start, now()) < DEADLINE, "never: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The value that a commit resolves to.
#[track_caller]
fn outcome(commit: Commit) -> bool {
    let mut commit = pin!(commit);
    let mut answer = None;
    eventually("a commit resolves", || {
        if let Poll::Ready(ready) = commit.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            answer = Some(ready);
        }
        answer.is_some()
    });
    answer.unwrap()
}

/// A folder, and the path of a journal in it.
struct Bed {
    _dir: tempfile::TempDir,
    path: PathBuf,
}

impl Bed {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a journal?#%.db");
        Self { _dir: dir, path }
    }

    fn open(&self) -> Journal {
        self.open_with(|_| ())
    }

    fn open_with(&self, change: impl FnOnce(&mut JournalOptions)) -> Journal {
        let mut options = JournalOptions::new(self.path.clone(), now);
        change(&mut options);
        Journal::open(options)
    }

    /// Opens a journal for which no request is too old.
    fn keeping_all(&self) -> Journal {
        self.open_with(|options| options.retain = Duration::MAX)
    }

    /// Opens a journal and waits until its file is there.
    fn ready(&self) -> Journal {
        let journal = self.open();
        eventually("the file is set up", || {
            journal.reader().requests(&super::RequestFilter::default()).is_ok()
        });
        journal
    }

    /// Another connection to the file.
    fn other(&self) -> Connection {
        let conn = Connection::open(&self.path).unwrap();
        conn.busy_timeout(DEADLINE).unwrap();
        conn
    }

    fn number(&self, sql: &str) -> i64 {
        self.other().query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

fn id(number: u64) -> RequestId {
    RequestId::from_number(number)
}

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn passed(rung: &str, reason: PassedOver) -> PassedRung {
    PassedRung { rung: rung.into(), place: 0, reason, field: None }
}

fn start(number: u64) -> RequestStart {
    RequestStart {
        id: id(number),
        at: now(),
        client: Some("web".into()),
        ladder: Some("chat".into()),
        model: Some("gpt-4o".into()),
        stream: true,
    }
}

fn attempt_start(number: u64, n: u32, rung: &str, kind: AttemptKind) -> AttemptStart {
    AttemptStart {
        request: id(number),
        n,
        rung: rung.into(),
        place: 0,
        kind,
        probe: false,
        at: now(),
    }
}

fn attempt(number: u64, n: u32, rung: &str, kind: AttemptKind) -> AttemptEnd {
    AttemptEnd {
        start: attempt_start(number, n, rung, kind),
        outcome: AttemptOutcome::Ok,
        cause: None,
        detail: None,
        status: Some(200),
        verdict: Some(TokenVerdict::Good),
        stream_verdict: Some(StreamVerdict::Good),
        headers: Some(ms(10)),
        ttft: Some(ms(20)),
        latency: Some(ms(300)),
        events: 7,
        bytes: 700,
        usage: Usage {
            input: Some(100),
            output: Some(50),
            cached: Some(40),
            cache_write: Some(5),
            reasoning: Some(30),
        },
        estimated: false,
        cost: Ok(NanoUsd(1_500_000)),
        left_out: vec!["seed", "parallel_tools"],
    }
}

/// A request that `sol` answered at the first try.
fn end(number: u64) -> RequestEnd {
    RequestEnd {
        start: start(number),
        outcome: RequestOutcome::Ok,
        cause: None,
        status: Some(200),
        answered: Some(1),
        hedged: false,
        ttft: Some(ms(25)),
        latency: Some(ms(310)),
        events: 7,
        bytes: 720,
        attempts: vec![attempt(number, 1, "sol", AttemptKind::First)],
        passed_over: vec![passed("opus", PassedOver::Open)],
    }
}
