//! A breaker's transition: every known figure of it is stored, and no figure that is not known.

use super::*;
use crate::TransitionRecord;
use rusqlite::types::Value;
use shared::{BreakerState, TransitionRule};

fn opened() -> TransitionRecord {
    TransitionRecord {
        at: now(),
        rung: "sol".into(),
        before: BreakerState::Closed,
        after: BreakerState::Open,
        rule: TransitionRule::BadShare,
        text: "6 of 11 bad in 30 s".to_owned(),
        calls: 11,
        bad: 6,
        slow: 4,
        outcome: Some(AttemptOutcome::ServerError),
        status: Some(500),
        request: Some(id(7)),
        weight: 1.0,
        generation: 3,
        cooldown_ms: Some(5_200),
        mark_ms: Some(1_250),
        ref_p95_ms: Some(1_000),
        until: Some(UnixMillis(1_700_000_005_200)),
    }
}

#[test]
fn every_figure_is_written_and_what_is_unknown_is_null() {
    let bed = Bed::new();
    let journal = bed.ready();
    journal.transition(opened());
    journal.transition(TransitionRecord {
        outcome: None,
        status: None,
        request: None,
        cooldown_ms: None,
        mark_ms: None,
        ref_p95_ms: None,
        until: None,
        ..opened()
    });
    eventually("both", || bed.number("SELECT count(*) FROM transitions") == 2);
    let file = Connection::open(&bed.path).unwrap();
    let columns = "generation, text, slow, bad, n, outcome, status, request, cooldown_ms, mark_ms,
        ref_p95_ms, until";
    let sql = format!("SELECT {columns} FROM transitions ORDER BY id");
    let mut query = file.prepare(&sql).unwrap();
    let rows = query.query_map([], |row| (0..12).map(|at| row.get::<_, Value>(at)).collect());
    let rows: Vec<Vec<Value>> = rows.unwrap().map(Result::unwrap).collect();
    let text = |text: &str| Value::Text(text.to_owned());
    let whole = [
        Value::Integer(3),
        text("6 of 11 bad in 30 s"),
        Value::Integer(4),
        Value::Integer(6),
        Value::Integer(11),
        text("server_error"),
        Value::Integer(500),
        Value::Integer(id(7).number()),
        Value::Integer(5_200),
        Value::Integer(1_250),
        Value::Integer(1_000),
        Value::Integer(1_700_000_005_200),
    ];
    assert_eq!(rows[0], whole);
    assert_eq!(rows[1][..5], whole[..5]);
    assert!(rows[1][5..].iter().all(|value| *value == Value::Null), "{:?}", rows[1]);
    assert!(journal.close(DEADLINE));
}
