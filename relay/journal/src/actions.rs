//! Operators' actions, and which of their effects are in force: the tables `actions`, `overrides`
//! and `orders`.
//!
//! An action is written as one record, so that it is in the file completely or not at all: its own
//! row with the answer that its author got, the end of the overrides and orders that it replaced,
//! and the ones that it set.

use super::kept::{OrderRecord, Versions};
use rusqlite::types::{Type, Value};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params, params_from_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use shared::UnixMillis;
use shared::admin::actions::{About, Action, ActionKind, ActionPage};
use shared::admin::changes::{Change, OrderNow, OverrideNow};
use shared::{OrderSource, OverrideMode};
use std::sync::Arc;

/// An action, and the answer that its author got.
#[derive(Debug, Clone, PartialEq)]
pub struct ActionRecord {
    /// What was done.
    pub action: Action,
    /// The first answer, as JSON. A client that sends the same id again gets it again.
    pub answer: Arc<str>,
}

/// An operator's order ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderEnd {
    /// The ladder's name.
    pub ladder: Arc<str>,
    /// When.
    pub at: UnixMillis,
    /// The version that the ladder has since then; orders with an older version have ended.
    pub version: u64,
    /// Why: `expired`.
    pub why: &'static str,
}

/// Selects actions. A field that is `None` does not filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActionFilter {
    /// Whether any effect of it is still in force.
    pub in_force: Option<bool>,
    /// What kind of action.
    pub kind: Option<ActionKind>,
    /// Who did it.
    pub by: Option<String>,
    /// A rung that it is about.
    pub rung: Option<String>,
    /// A ladder that it is about.
    pub ladder: Option<String>,
    /// Done at or after this time.
    pub since: Option<UnixMillis>,
    /// Done before this time.
    pub until: Option<UnixMillis>,
    /// The number of items at most, 1 to 500. Default 50.
    pub limit: Option<u32>,
    /// Where the previous page ended.
    pub cursor: Option<i64>,
}

const MOST: u32 = 500;
const USUAL: u32 = 50;

const ACTION: &str = "INSERT INTO actions
    (key, at, kind, author, targets, reason, before, after, accepted, status, answer, until, undoes)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 200, ?10, ?11,
     (SELECT id FROM actions WHERE key = ?12))
    ON CONFLICT (key) DO NOTHING";

const UNDONE: &str =
    "UPDATE actions SET ended = ?2, ended_by = ?3 WHERE key = ?1 AND ended IS NULL";

const REPLACE_OVERRIDE: &str = "UPDATE overrides SET ended = ?2, ended_why = ?3
    WHERE rung = ?1 AND ended IS NULL AND version < ?4";

const OVERRIDE: &str = "INSERT INTO overrides
    (at, rung, version, mode, author, reason, until, cut, action)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, (SELECT id FROM actions WHERE key = ?9)
    WHERE NOT EXISTS (SELECT 1 FROM overrides WHERE rung = ?2 AND version >= ?3)";

const REPLACE_ORDER: &str = "UPDATE orders SET ended = ?2, ended_why = ?3
    WHERE ladder = ?1 AND ended IS NULL AND version < ?4";

const ORDER: &str = "INSERT INTO orders
    (at, ladder, version, source, rungs, author, reason, until, action)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, (SELECT id FROM actions WHERE key = ?9)
    WHERE NOT EXISTS (SELECT 1 FROM orders WHERE ladder = ?2 AND version >= ?3)";

/// What [`action`] reads, by name.
const COLUMNS: &str = "SELECT a.id, a.key, a.at, a.kind, a.author, a.targets, a.reason, a.before,
    a.after, a.accepted, a.answer, a.until, a.ended, a.ended_by,
    (SELECT b.key FROM actions b WHERE b.id = a.undoes) AS undoes,
    (EXISTS (SELECT 1 FROM overrides o WHERE o.action = a.id AND o.ended IS NULL)
     OR EXISTS (SELECT 1 FROM orders o WHERE o.action = a.id AND o.ended IS NULL)
     OR (a.kind = 'note' AND a.ended IS NULL)) AS in_force
    FROM actions a";

/// Ended rows count, too, because a version must never stand for two different states. An end was a
/// change of its own, so it adds one.
const VERSIONS: [&str; 2] = [
    "SELECT rung, max(version + (ended IS NOT NULL)) FROM overrides GROUP BY rung",
    "SELECT ladder, max(version + (ended IS NOT NULL)) FROM orders GROUP BY ladder",
];

const ORDERS: &str = "SELECT o.ladder, o.at, o.version, o.rungs, o.author, o.reason, o.until, a.key
    FROM orders o LEFT JOIN actions a ON a.id = o.action WHERE o.ended IS NULL ORDER BY o.id";

pub(super) fn insert_action(conn: &Connection, record: &ActionRecord) -> rusqlite::Result<()> {
    let ActionRecord { action, answer } = record;
    let targets = Targets { changes: &action.changes, about: &action.about };
    conn.prepare_cached(ACTION)?.execute(params![
        action.id,
        action.at.0,
        action.kind.as_str(),
        action.by,
        json(&targets)?,
        action.reason,
        action.before.as_ref().map(json).transpose()?,
        action.after.as_ref().map(json).transpose()?,
        json(&action.accepted)?,
        answer,
        action.until_at.map(|at| at.0),
        action.undoes,
    ])?;
    if let Some(undone) = &action.undoes {
        conn.prepare_cached(UNDONE)?.execute(params![undone, action.at.0, action.by])?;
    }
    let after = action.after.iter();
    for now in after.clone().flat_map(|after| &after.rungs) {
        insert_override(conn, action, now)?;
    }
    for now in after.flat_map(|after| &after.ladders) {
        insert_order(conn, action, now)?;
    }
    Ok(())
}

fn insert_override(conn: &Connection, action: &Action, now: &OverrideNow) -> rusqlite::Result<()> {
    let version = int(now.version);
    let replace = params![now.rung, action.at.0, action.kind.as_str(), version];
    conn.prepare_cached(REPLACE_OVERRIDE)?.execute(replace)?;
    if now.mode == OverrideMode::Auto {
        return Ok(());
    }
    conn.prepare_cached(OVERRIDE)?.execute(params![
        now.at.unwrap_or(action.at).0,
        now.rung,
        version,
        now.mode.as_str(),
        now.by,
        now.reason,
        now.until_at.map(|at| at.0),
        now.cut_streams,
        action.id,
    ])?;
    Ok(())
}

fn insert_order(conn: &Connection, action: &Action, now: &OrderNow) -> rusqlite::Result<()> {
    let version = int(now.version);
    let replace = params![now.ladder, action.at.0, action.kind.as_str(), version];
    conn.prepare_cached(REPLACE_ORDER)?.execute(replace)?;
    if now.source == OrderSource::Config {
        return Ok(());
    }
    conn.prepare_cached(ORDER)?.execute(params![
        now.at.unwrap_or(action.at).0,
        now.ladder,
        version,
        now.source.as_str(),
        json(&now.order)?,
        now.by,
        now.reason,
        now.until_at.map(|at| at.0),
        action.id,
    ])?;
    Ok(())
}

pub(super) fn end_order(conn: &Connection, end: &OrderEnd) -> rusqlite::Result<()> {
    let replace = params![end.ladder, end.at.0, end.why, int(end.version)];
    conn.prepare_cached(REPLACE_ORDER)?.execute(replace)?;
    Ok(())
}

/// An action and its first answer.
pub(super) fn one(conn: &Connection, key: &str) -> rusqlite::Result<Option<(Action, String)>> {
    let sql = format!("{COLUMNS} WHERE a.key = ?1");
    let found = conn.prepare(&sql)?.query_row([key], |row| {
        Ok((action(row)?, row.get::<_, Option<String>>("answer")?.unwrap_or_default()))
    });
    found.optional()
}

/// A page of actions, newest first.
pub(super) fn list(conn: &Connection, filter: &ActionFilter) -> rusqlite::Result<ActionPage> {
    let mut sql = format!("SELECT * FROM ({COLUMNS}) WHERE TRUE");
    let mut values: Vec<Value> = Vec::new();
    let mut narrow = |condition: &str, value: Option<Value>| {
        if let Some(value) = value {
            sql.push_str(" AND ");
            sql.push_str(&condition.replace('?', &format!("?{}", values.len() + 1)));
            values.push(value);
        }
    };
    let text = |text: &Option<String>| text.clone().map(Value::from);
    narrow("id < ?", filter.cursor.map(Value::from));
    narrow("in_force = ?", filter.in_force.map(Value::from));
    narrow("kind = ?", filter.kind.map(|kind| kind.as_str().to_owned().into()));
    narrow("author = ?", text(&filter.by));
    narrow("at >= ?", filter.since.map(|at| at.0.into()));
    narrow("at < ?", filter.until.map(|at| at.0.into()));
    narrow(
        "(targets ->> '$.about.rung' = ? OR EXISTS (SELECT 1 FROM json_each(after, '$.rungs') j
          WHERE j.value ->> 'rung' = ?))",
        text(&filter.rung),
    );
    narrow(
        "(targets ->> '$.about.ladder' = ? OR EXISTS (SELECT 1 FROM json_each(after, '$.ladders') j
          WHERE j.value ->> 'ladder' = ?))",
        text(&filter.ladder),
    );
    let limit = filter.limit.unwrap_or(USUAL).clamp(1, MOST);
    // One more row is read, to know whether another page follows.
    sql.push_str(&format!(" ORDER BY id DESC LIMIT {}", limit + 1));
    let rows = conn
        .prepare(&sql)?
        .query_map(params_from_iter(values.iter().map(|value| value as &dyn ToSql)), |row| {
            Ok((row.get::<_, i64>("id")?, action(row)?))
        })?
        .collect::<Result<Vec<_>, _>>()?;
    let more = rows.len() > limit as usize;
    let (ids, mut items): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    items.truncate(limit as usize);
    let last = ids.get(items.len().saturating_sub(1)).filter(|_| more);
    Ok(ActionPage { items, next: last.map(ToString::to_string) })
}

/// Notes that nobody has ended, the oldest first.
pub(super) fn notes(conn: &Connection) -> rusqlite::Result<Vec<Action>> {
    let sql = format!("{COLUMNS} WHERE a.kind = 'note' AND a.ended IS NULL ORDER BY a.id");
    conn.prepare(&sql)?.query_map([], action)?.collect()
}

/// The orders in force.
pub(super) fn orders(conn: &Connection) -> rusqlite::Result<Vec<OrderRecord>> {
    let order = |row: &Row<'_>| {
        Ok(OrderRecord {
            ladder: row.get(0)?,
            at: UnixMillis(row.get(1)?),
            version: count(row, 2)?,
            rungs: read(3, &row.get::<_, String>(3)?)?,
            author: row.get(4)?,
            reason: row.get(5)?,
            until: row.get::<_, Option<i64>>(6)?.map(UnixMillis),
            action: row.get(7)?,
        })
    };
    conn.prepare(ORDERS)?.query_map([], order)?.collect()
}

pub(super) fn versions(conn: &Connection) -> rusqlite::Result<Versions> {
    let all = |sql| {
        let mut statement = conn.prepare(sql)?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, count(row, 1)?)))?;
        rows.collect::<rusqlite::Result<Vec<(String, u64)>>>()
    };
    let [rungs, ladders] = VERSIONS;
    Ok(Versions { rungs: all(rungs)?, ladders: all(ladders)? })
}

#[derive(Serialize)]
struct Targets<'a> {
    changes: &'a [Change],
    about: &'a About,
}

#[derive(serde::Deserialize, Default)]
#[serde(default)]
struct TargetsRead {
    changes: Vec<Change>,
    about: About,
}

fn action(row: &Row<'_>) -> rusqlite::Result<Action> {
    let text = |column: &str| row.get::<_, Option<String>>(column);
    let time = |column: &str| row.get::<_, Option<i64>>(column).map(|at| at.map(UnixMillis));
    let kind: String = row.get("kind")?;
    let kind: ActionKind = kind.parse().map_err(|error| unreadable(3, error))?;
    let targets: Option<TargetsRead> = from(text("targets")?)?;
    let targets = targets.unwrap_or_default();
    let check = if kind == ActionKind::Check { from(text("answer")?)? } else { None };
    Ok(Action {
        id: row.get("key")?,
        at: UnixMillis(row.get("at")?),
        kind,
        by: text("author")?.unwrap_or_default(),
        reason: text("reason")?.unwrap_or_default(),
        changes: targets.changes,
        about: targets.about,
        before: from(text("before")?)?,
        after: from(text("after")?)?,
        accepted: from(text("accepted")?)?.unwrap_or_default(),
        check,
        until_at: time("until")?,
        ended_at: time("ended")?,
        ended_by: text("ended_by")?,
        undoes: text("undoes")?,
        in_force: row.get("in_force")?,
    })
}

fn json(value: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(value)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

fn from<T: DeserializeOwned>(text: Option<String>) -> rusqlite::Result<Option<T>> {
    text.map(|text| read(0, &text)).transpose()
}

fn read<T: DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unreadable(column, error))
}

fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
