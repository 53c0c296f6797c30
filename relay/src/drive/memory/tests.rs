//! When a row is written, whom it is about, and that it is read as it was meant.

use super::*;
use crate::config::{Env, parse};
use journal::JournalOptions;
use policy::RungSpec;
use shared::TransitionRule;
use std::path::Path;

const FIRST: RungIndex = RungIndex(0);

struct Keys;

impl Env for Keys {
    fn var(&self, name: &str) -> Option<String> {
        Some(format!("UPSTREAM-KEY-PLACEHOLDER-{name}"))
    }

    fn file(&self, _path: &Path) -> std::io::Result<String> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

const CONFIG: &str = "[providers.p]\ndialect = \"openai-chat\"\n\
    base_url = \"https://api.example.com/v1\"\napi_key = { env = \"KEY_ONE\" }\n\
    headers = { x-org = \"one\" }\n\
    [rungs.a]\nprovider = \"p\"\nmodel = \"m\"\nregion = \"eu\"\n[ladders.chat]\nrungs = [\"a\"]\n";

fn identities(config: &str) -> Vec<(RungIndex, Identity)> {
    let config = parse(config, &Keys).unwrap().config;
    let identity = |(index, rung): (usize, &RungConfig)| {
        let provider = &config.providers[rung.provider];
        let print = fingerprint(provider, rung);
        (RungIndex(index), Identity::new(rung.name.as_str().into(), print, &account(provider)))
    };
    config.rungs.iter().enumerate().map(identity).collect()
}

fn identity(config: &str) -> Identity {
    identities(config).remove(0).1
}

fn memory_of(config: &str) -> Memory {
    let memory = Memory::default();
    memory.reshape(identities(config));
    memory
}

#[test]
fn a_rung_is_known_by_what_answers_and_an_account_by_its_key() {
    let before = identity(CONFIG);
    assert_eq!((before.fingerprint.len(), before.key_tag.len()), (16, 4));
    for (from, to, same_rung, same_account) in [
        ("\"m\"", "\"n\"", false, true),
        ("api.example.com", "api2.example.com", false, true),
        ("com/v1", "com/v2", false, true),
        ("\"eu\"", "\"us\"", false, true),
        ("\"p\"", "\"q\"", false, true),
        ("KEY_ONE", "KEY_TWO", true, false),
        ("\"one\"", "\"two\"", true, false),
        ("\"eu\"", "\"eu\"\nprice = { input = 1.0, output = 2.0 }", true, true),
        ("\"eu\"", "\"eu\"\nbreaker = { cooldown = \"1s\" }\nttft = \"9s\"", true, true),
    ] {
        let table = if to == "\"q\"" { "[providers.q]" } else { "[providers.p]" };
        let after = identity(&CONFIG.replace(from, to).replace("[providers.p]", table));
        assert_eq!(after.fingerprint == before.fingerprint, same_rung, "{from} {to}");
        assert_eq!(after.key_tag == before.key_tag, same_account, "{from} {to}");
    }
    // What stands in one field is not taken for what stands in the next.
    assert_ne!(hash("rung", &["ab", "c"]), hash("rung", &["a", "bc"]));
}

fn memory() -> (Memory, Board) {
    let memory = memory_of(CONFIG);
    let board = Board::new(vec![RungSpec::default()], Vec::new(), fastrand::Rng::with_seed(1));
    memory.is_as_written(&board);
    (memory, board)
}

fn teach(board: &mut Board, now: Time, millis: u64) {
    let p95 = Duration::from_millis(millis);
    let reference = Some(Reference { p95, usual: p95 / 2 });
    let kept = Remembered { reference, ..board.remember(FIRST).unwrap() };
    board.restore(FIRST, now, &kept);
}

fn written_at(memory: &Memory) -> Option<Time> {
    memory.slots()[0].written.as_ref().and_then(|written| written.at)
}

#[test]
fn what_moves_is_written_at_first_sight_then_once_a_minute_and_at_the_end() {
    let (memory, mut board) = memory();
    let (start, off) = (memory.started, Journal::off());
    let at = |seconds| start.plus(Duration::from_secs(seconds));
    memory.write_due(at(1), &board, &off);
    memory.finish(at(1), &board, &off);
    assert_eq!(written_at(&memory), None, "there is nothing to know");
    teach(&mut board, at(2), 1_000);
    memory.write_due(at(2), &board, &off);
    assert_eq!(written_at(&memory), Some(at(2)), "new");
    for second in 3..200 {
        teach(&mut board, at(second), 1_000 + second);
        memory.write_due(at(second), &board, &off);
        let wanted = at(second - (second - 2) % 60);
        assert_eq!(written_at(&memory), Some(wanted), "{second}");
    }
    // A breaker or a hold does not wait, and nothing waits at the end.
    memory.changed(at(200), &board, &[RungIndex(1)], &off);
    assert_eq!(written_at(&memory), Some(at(182)), "another rung's");
    memory.changed(at(200), &board, &[FIRST], &off);
    assert_eq!(written_at(&memory), Some(at(200)));
    memory.finish(at(201), &board, &off);
    assert_eq!(written_at(&memory), Some(at(200)), "it has not moved");
    teach(&mut board, at(202), 1_500);
    memory.finish(at(202), &board, &off);
    assert_eq!(written_at(&memory), Some(at(202)));
    // A quiet one says once a day that it is still there.
    memory.write_due(at(202 + 86_399), &board, &off);
    assert_eq!(written_at(&memory), Some(at(202)));
    memory.write_due(at(202 + 86_400), &board, &off);
    assert_eq!(written_at(&memory), Some(at(202 + 86_400)));
}

#[test]
fn what_the_journal_did_not_take_is_still_due() {
    let (memory, mut board) = memory();
    let folder = tempfile::tempdir().unwrap();
    let options = JournalOptions::new(folder.path().join("belay.db"), wall::unix);
    let closed = Journal::open(options);
    assert!(closed.close(Duration::from_secs(30)));
    teach(&mut board, memory.started, 1_000);
    memory.write_due(memory.started, &board, &closed);
    assert_eq!(written_at(&memory), None);
    memory.write_due(memory.started, &board, &Journal::off());
    assert_eq!(written_at(&memory), Some(memory.started));
}

fn sick(now: Time) -> Remembered {
    let ago = |seconds: u64| Time(now.0 - seconds * 1_000_000);
    Remembered {
        reference: Some(Reference { p95: Duration::from_secs(2), usual: Duration::from_secs(1) }),
        hold: Some(RememberedHold {
            until: now.plus(Duration::from_secs(40)),
            doublings: 2,
            guessed: true,
        }),
        breaker: RememberedBreaker {
            state: RememberedState::Open { until: now.plus(Duration::from_secs(20)) },
            weight: 0.2,
            cooldown: Duration::from_secs(10),
            by_streams: true,
            away_since: Some(ago(3_600)),
            trouble_since: Some(ago(600)),
            opened_by: Some(TransitionRule::BrokenRun),
        },
        finishes: true,
    }
}

/// How far apart two moments are.
fn apart(one: Time, other: Time) -> Duration {
    one.since(other).max(other.since(one))
}

#[track_caller]
fn assert_alike(read: &Remembered, meant: &Remembered, by: Duration) {
    let until = |what: &Remembered| match what.breaker.state {
        RememberedState::Open { until } => until,
        other => panic!("{other:?}"),
    };
    let pairs = [
        (until(read), until(meant)),
        (read.hold.unwrap().until, meant.hold.unwrap().until),
        (read.breaker.away_since.unwrap(), meant.breaker.away_since.unwrap()),
    ];
    for (read, meant) in pairs {
        // The calendar is kept in milliseconds, and asked a moment later.
        let off = apart(read, meant).abs_diff(by);
        assert!(off < Duration::from_secs(5), "{read:?} {meant:?}: {off:?} off");
    }
    let timeless = |what: &Remembered| {
        let hold = what.hold.map(|hold| RememberedHold { until: Time(0), ..hold });
        let breaker = RememberedBreaker {
            state: RememberedState::Open { until: Time(0) },
            away_since: None,
            trouble_since: None,
            ..what.breaker
        };
        Remembered { hold, breaker, ..what.clone() }
    };
    assert_eq!(timeless(read), timeless(meant));
}

#[test]
fn a_row_is_read_in_the_next_lifes_time() {
    let now = wall::now();
    let meant = sick(now);
    let row = record(&identity(CONFIG), now, &meant);
    assert_alike(&remembered(&row, now, row.at).unwrap(), &meant, Duration::ZERO);
    // Half an hour later by the calendar, all of it is half an hour longer ago.
    let later = row.at.plus(Duration::from_secs(1_800));
    let down = Duration::from_secs(1_800);
    assert_alike(&remembered(&row, now, later).unwrap(), &meant, down);
    // The clock was put back by a year: what was left then is left, and no more.
    let earlier = UnixMillis(row.at.0 - 365 * 86_400_000);
    assert_alike(&remembered(&row, now, earlier).unwrap(), &meant, Duration::ZERO);
}

#[test]
fn a_row_that_makes_no_sense_says_nothing() {
    let now = wall::now();
    let row = record(&identity(CONFIG), now, &sick(now));
    for (state, until, sense) in [
        ("open", row.until, true),
        ("open", None, false),
        ("closed", None, true),
        ("half_open", None, true),
        ("ajar", row.until, false),
    ] {
        let row = HealthRecord { state: state.to_owned(), until, ..row.clone() };
        assert_eq!(remembered(&row, now, row.at).is_some(), sense, "{state}");
    }
    let odd = HealthRecord { cause: Some("whim".to_owned()), ..row };
    assert_eq!(remembered(&odd, now, odd.at).unwrap().breaker.opened_by, None);
}
