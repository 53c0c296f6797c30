//! Breaker transitions, newest first.

use super::{ReadError, RequestFilter};
use rusqlite::types::Value;
use rusqlite::{Connection, Row};
use shared::admin::past::{TransitionPage, TransitionRow};
use shared::{RequestId, TransitionRule, UnixMillis, Word};

/// Selects transitions. A field that is `None` does not filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransitionFilter {
    /// The rung.
    pub rung: Option<String>,
    /// At or after this time.
    pub since: Option<UnixMillis>,
    /// Before this time.
    pub until: Option<UnixMillis>,
    /// Rows per page, limited like [`RequestFilter::limit`]; `None`: its default.
    pub limit: Option<u32>,
    /// `next` of the previous page.
    pub cursor: Option<String>,
}

/// A page, sorted by number, which is the order in which the rows were written.
pub(super) fn page(
    filter: &TransitionFilter,
    connect: impl FnOnce() -> Result<Connection, ReadError>,
) -> Result<TransitionPage, ReadError> {
    let mut sql = "SELECT id, at, rung, before, after, rule, slow, bad, n, weight, request
        FROM transitions WHERE TRUE"
        .to_owned();
    let mut values: Vec<Value> = Vec::new();
    let mut narrow = |condition: &str, value: Option<Value>| {
        if let Some(value) = value {
            sql.push_str(condition);
            values.push(value);
        }
    };
    narrow(" AND rung = ?", filter.rung.clone().map(Value::from));
    narrow(" AND at >= ?", filter.since.map(|at| at.0.into()));
    narrow(" AND at < ?", filter.until.map(|at| at.0.into()));
    // Read before the file, so that a wrong cursor is reported even if there is no file.
    let wrong = |cursor: &String| ReadError::Cursor(cursor.chars().take(64).collect());
    let last =
        filter.cursor.as_ref().map(|c| c.parse::<i64>().map_err(|_| wrong(c))).transpose()?;
    narrow(" AND id < ?", last.map(Value::from));
    let limit = filter.limit.unwrap_or(RequestFilter::DEFAULT_LIMIT);
    let limit = limit.clamp(1, RequestFilter::MAX_LIMIT);
    narrow(" ORDER BY id DESC LIMIT ?", Some(Value::from(i64::from(limit) + 1)));
    let conn = connect()?;
    let mut statement = conn.prepare(&sql)?;
    let mut items = statement
        .query_map(rusqlite::params_from_iter(&values), row)?
        .collect::<Result<Vec<_>, _>>()?;
    // One more row was read, to know whether another page follows.
    let has_more = items.len() > limit as usize;
    items.truncate(limit as usize);
    let next = items.last().filter(|_| has_more).map(|last| last.id.to_string());
    Ok(TransitionPage { items, next })
}

/// The rule as a sentence; its own word if it comes from a newer program.
fn text(rule: &Word<TransitionRule>) -> &str {
    match rule {
        Word::Known(rule) => rule.text(),
        Word::Other(word) => word,
    }
}

fn row(row: &Row<'_>) -> rusqlite::Result<TransitionRow> {
    let rule = Word::read(row.get_ref(5)?.as_str()?);
    Ok(TransitionRow {
        id: row.get(0)?,
        at: UnixMillis(row.get(1)?),
        rung: row.get(2)?,
        before: row.get_ref(3)?.as_str_or_null()?.map(Word::read),
        after: Word::read(row.get_ref(4)?.as_str()?),
        text: text(&rule).to_owned(),
        rule,
        slow: row.get(6)?,
        bad: row.get(7)?,
        n: row.get(8)?,
        weight: row.get(9)?,
        request: row
            .get::<_, Option<i64>>(10)?
            .map(|id| RequestId::from_number(id.cast_unsigned())),
    })
}
