//! What the journal keeps over a restart of the relay: the health of every rung, and the overrides,
//! orders and notes in force.
//!
//! Unlike other rows, a health row is overwritten, and it is read once, at the start. The callers
//! know what it means; here it is only numbers and words.

use super::actions;
use rusqlite::{Connection, Row, params};
use shared::UnixMillis;
use shared::admin::actions::Action;
use std::sync::Arc;
use std::time::Duration;

/// What is to be known of a rung after a restart.
#[derive(Debug, Clone, PartialEq)]
pub struct HealthRecord {
    /// The rung's name.
    pub rung: Arc<str>,
    /// When this was so.
    pub at: UnixMillis,
    /// Distinguishes the rung from another one that had the same name: a hash, never an address.
    pub fingerprint: Arc<str>,
    /// Distinguishes two accounts of the rung, and nothing else: four hex digits of a hash.
    pub key_tag: Arc<str>,
    /// The breaker's state: `closed`, `open`, `half_open`.
    pub state: String,
    /// The rule that opened it.
    pub cause: Option<String>,
    /// Until when it is open.
    pub until: Option<UnixMillis>,
    /// Its weight, 0..1.
    pub weight: f64,
    /// The last cool-down; stored in milliseconds.
    pub cooldown: Duration,
    /// Whether broken streams opened it.
    pub by_streams: bool,
    /// When it left full weight.
    pub away_since: Option<UnixMillis>,
    /// When its present trouble began.
    pub trouble_since: Option<UnixMillis>,
    /// Its last hold.
    pub hold: Option<HoldRecord>,
    /// Its reference p95 and its usual median; stored in microseconds.
    pub reference: Option<(Duration, Duration)>,
    /// Whether it has ever sent a finish reason.
    pub finishes: bool,
}

/// A hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HoldRecord {
    /// Its end.
    pub until: UnixMillis,
    /// How often the base time has been doubled.
    pub doublings: u32,
    /// Whether a time was guessed since the last token.
    pub guessed: bool,
}

/// An override that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideRecord {
    /// The rung's name.
    pub rung: String,
    /// Since when.
    pub at: UnixMillis,
    /// `forced_open`, `forced_closed`, `demoted`.
    pub mode: String,
    /// Who set it; `None`: the relay itself.
    pub author: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Its end; `None`: endless.
    pub until: Option<UnixMillis>,
    /// The version that it made.
    pub version: u64,
    /// Whether committed streams were cut with it.
    pub cut: bool,
    /// The action that set it.
    pub action: Option<String>,
}

/// An operator's order that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRecord {
    /// The ladder's name.
    pub ladder: String,
    /// Since when.
    pub at: UnixMillis,
    /// The version that it made.
    pub version: u64,
    /// The rungs' names in this order.
    pub rungs: Vec<String>,
    /// Who set it; `None`: the relay itself.
    pub author: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Its end; `None`: endless.
    pub until: Option<UnixMillis>,
    /// The action that set it.
    pub action: Option<String>,
}

/// The last versions of all rungs and ladders that ever had an override or an order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Versions {
    /// Of rungs.
    pub rungs: Vec<(String, u64)>,
    /// Of ladders.
    pub ladders: Vec<(String, u64)>,
}

/// An override ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideEnd {
    /// The rung's name.
    pub rung: Arc<str>,
    /// When.
    pub at: UnixMillis,
    /// The version that the rung has since then; overrides with an older version have ended.
    pub version: u64,
    /// Why: `expired`.
    pub why: &'static str,
}

/// Everything that is kept.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kept {
    /// The rungs' health, including rungs that no config names any more.
    pub health: Vec<HealthRecord>,
    /// Overrides in force when the last relay ended, the oldest first.
    pub overrides: Vec<OverrideRecord>,
    /// Orders in force, the oldest first.
    pub orders: Vec<OrderRecord>,
    /// Versions reached.
    pub versions: Versions,
    /// Notes that nobody has ended, the oldest first.
    pub notes: Vec<Action>,
}

const HEALTH: &str = "INSERT OR REPLACE INTO health
    (rung, at, fingerprint, key_tag, state, cause, until, weight, cooldown_ms, by_streams,
     away_since, hold_until, hold_doublings, hold_guessed, ref_p95_us, usual_us, finishes,
     trouble_since)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

/// An override that an operator has set in the meantime is not ended.
const OVERRIDE_END: &str = "UPDATE overrides SET ended = ?2, ended_why = ?3
    WHERE rung = ?1 AND ended IS NULL AND version < ?4";

const READ_HEALTH: &str = "SELECT rung, at, fingerprint, key_tag, state, cause, until, weight,
    cooldown_ms, by_streams, away_since, hold_until, hold_doublings, hold_guessed, ref_p95_us,
    usual_us, finishes, trouble_since FROM health ORDER BY rung";

const READ_OVERRIDES: &str = "SELECT o.rung, o.at, o.mode, o.author, o.reason, o.until, o.version,
    o.cut, a.key AS action FROM overrides o LEFT JOIN actions a ON a.id = o.action
    WHERE o.ended IS NULL ORDER BY o.id";

pub(super) fn insert_health(conn: &Connection, record: &HealthRecord) -> rusqlite::Result<()> {
    let hold = record.hold;
    let millis = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    let micros = |span: Duration| i64::try_from(span.as_micros()).unwrap_or(i64::MAX);
    conn.prepare_cached(HEALTH)?.execute(params![
        record.rung,
        record.at.0,
        record.fingerprint,
        record.key_tag,
        record.state,
        record.cause,
        record.until.map(|at| at.0),
        record.weight,
        millis(record.cooldown),
        record.by_streams,
        record.away_since.map(|at| at.0),
        hold.map(|hold| hold.until.0),
        hold.map(|hold| hold.doublings),
        hold.map(|hold| hold.guessed),
        record.reference.map(|(p95, _)| micros(p95)),
        record.reference.map(|(_, usual)| micros(usual)),
        record.finishes,
        record.trouble_since.map(|at| at.0),
    ])?;
    Ok(())
}

pub(super) fn end_override(conn: &Connection, end: &OverrideEnd) -> rusqlite::Result<()> {
    conn.prepare_cached(OVERRIDE_END)?.execute(params![
        end.rung,
        end.at.0,
        end.why,
        i64::try_from(end.version).unwrap_or(i64::MAX),
    ])?;
    Ok(())
}

/// Reads everything; all of it as of one moment if `conn` is in a transaction.
pub(super) fn read(conn: &Connection) -> rusqlite::Result<Kept> {
    let health = conn.prepare(READ_HEALTH)?.query_map([], health)?.collect::<Result<_, _>>()?;
    let overrides =
        conn.prepare(READ_OVERRIDES)?.query_map([], in_force)?.collect::<Result<_, _>>()?;
    let (orders, versions) = (actions::orders(conn)?, actions::versions(conn)?);
    Ok(Kept { health, overrides, orders, versions, notes: actions::notes(conn)? })
}

fn health(row: &Row<'_>) -> rusqlite::Result<HealthRecord> {
    let span = |column: &str| {
        let number = row.get::<_, Option<i64>>(column)?;
        Ok::<_, rusqlite::Error>(number.and_then(|number| u64::try_from(number).ok()))
    };
    let micros = |column| Ok::<_, rusqlite::Error>(span(column)?.map(Duration::from_micros));
    let hold = match time(row, "hold_until")? {
        None => None,
        Some(until) => Some(HoldRecord {
            until,
            doublings: span("hold_doublings")?.and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
            guessed: row.get::<_, Option<bool>>("hold_guessed")?.unwrap_or(false),
        }),
    };
    Ok(HealthRecord {
        rung: row.get("rung")?,
        at: UnixMillis(row.get("at")?),
        fingerprint: row.get("fingerprint")?,
        key_tag: row.get("key_tag")?,
        state: row.get("state")?,
        cause: row.get("cause")?,
        until: time(row, "until")?,
        weight: row.get("weight")?,
        cooldown: Duration::from_millis(span("cooldown_ms")?.unwrap_or(0)),
        by_streams: row.get("by_streams")?,
        away_since: time(row, "away_since")?,
        trouble_since: time(row, "trouble_since")?,
        hold,
        reference: micros("ref_p95_us")?.zip(micros("usual_us")?),
        finishes: row.get("finishes")?,
    })
}

fn in_force(row: &Row<'_>) -> rusqlite::Result<OverrideRecord> {
    Ok(OverrideRecord {
        rung: row.get("rung")?,
        at: UnixMillis(row.get("at")?),
        mode: row.get("mode")?,
        author: row.get("author")?,
        reason: row.get("reason")?,
        until: time(row, "until")?,
        version: u64::try_from(row.get::<_, i64>("version")?).unwrap_or(0),
        cut: row.get("cut")?,
        action: row.get("action")?,
    })
}

fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Option<UnixMillis>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(UnixMillis))
}
