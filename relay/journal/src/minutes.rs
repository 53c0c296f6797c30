//! The numbers of each minute: the table behind curves, sums and usual values.
//!
//! A row is written once. If its batch is written again, the row is overwritten. A relay that
//! restarts within the minute writes a row of its own; rows are added up when they are read.

use rusqlite::{Connection, params};
use shared::UnixMillis;
use shared::histogram::Hist;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A minute of a ladder's requests, or of a rung's attempts for one ladder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MinuteRecord {
    /// Its start.
    pub at: UnixMillis,
    /// When this relay started.
    pub life: UnixMillis,
    /// The ladder.
    pub ladder: Arc<str>,
    /// The rung; `None`: the row counts the ladder's requests.
    pub rung: Option<Arc<str>>,
    /// Requests, or attempts, that ended.
    pub calls: u64,
    /// Good ones.
    pub good: u64,
    /// Late ones.
    pub slow: u64,
    /// Failed ones.
    pub bad: u64,
    /// Those among them that failed in mid-stream.
    pub broken: u64,
    /// Requests whose client left before a token.
    pub gone: u64,
    /// Requests that ended well by a second attempt.
    pub rescued: u64,
    /// Requests that went to a last resort.
    pub last_resort: u64,
    /// Requests that called the rung first.
    pub first: u64,
    /// Requests that the rung answered.
    pub answered: u64,
    /// Counts by outcome.
    pub outcomes: BTreeMap<String, u64>,
    /// Requests that passed the rung over, by reason.
    pub passed: BTreeMap<String, u64>,
    /// Times to first token.
    pub hist: Hist,
    /// Prompt tokens.
    pub input_tokens: u64,
    /// Answer tokens.
    pub output_tokens: u64,
    /// Cost in nano-dollars, as far as it is known.
    pub cost_nano: u64,
    /// Cost of losers of races among it.
    pub lost_nano: u64,
}

const INSERT: &str = "INSERT OR REPLACE INTO minutes
    (at, ladder, rung, life, calls, good, slow, bad, broken, gone, rescued, last_resort, first,
     answered, outcomes, passed, hist, input_tokens, output_tokens, cost_nano, lost_nano)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
     ?20, ?21)";

pub(super) fn insert(conn: &Connection, record: &MinuteRecord) -> rusqlite::Result<()> {
    let int = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    conn.prepare_cached(INSERT)?.execute(params![
        record.at.0,
        record.ladder,
        record.rung.as_deref().unwrap_or_default(),
        record.life.0,
        int(record.calls),
        int(record.good),
        int(record.slow),
        int(record.bad),
        int(record.broken),
        int(record.gone),
        int(record.rescued),
        int(record.last_resort),
        int(record.first),
        int(record.answered),
        json(&record.outcomes),
        json(&record.passed),
        json(&record.hist),
        int(record.input_tokens),
        int(record.output_tokens),
        int(record.cost_nano),
        int(record.lost_nano),
    ])?;
    Ok(())
}

/// Maps of words and lists of numbers can always be serialized.
fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
