//! Curves and sums, from the `minutes` table.

use rusqlite::types::{Type, Value};
use rusqlite::{Connection, Error, Row};
use serde::de::DeserializeOwned;
use shared::UnixMillis;
use shared::admin::past::{Point, Series, SeriesCurve, Summary, SummaryRow};
use shared::histogram::Hist;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

/// A minute in milliseconds.
pub(super) const MINUTE: i64 = 60_000;

/// Selects curves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesQuery {
    /// Whether there is one curve per ladder, of requests; else there is one per rung, of attempts.
    pub by_ladder: bool,
    /// Only this rung.
    pub rung: Option<String>,
    /// Only this ladder; for rungs, only their attempts for it.
    pub ladder: Option<String>,
    /// From this minute on.
    pub since: UnixMillis,
    /// Until this time.
    pub until: UnixMillis,
    /// The length of a step; rounded up to whole minutes, at least one.
    pub step: Duration,
}

impl SeriesQuery {
    fn step_ms(&self) -> i64 {
        let minutes = self.step.as_secs().div_ceil(60).max(1);
        i64::try_from(minutes).unwrap_or(i64::MAX / MINUTE).saturating_mul(MINUTE)
    }
}

/// What the sums are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupBy {
    /// Attempts by rung.
    Rung,
    /// Requests by outcome.
    Outcome,
    /// Requests by ladder.
    Ladder,
    /// Requests by client, from the requests themselves, as far back as those are kept.
    Tenant,
}

impl GroupBy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Rung, Self::Outcome, Self::Ladder, Self::Tenant];

    /// Its word in the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rung => "rung",
            Self::Outcome => "outcome",
            Self::Ladder => "ladder",
            Self::Tenant => "tenant",
        }
    }
}

/// Selects sums.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummaryQuery {
    /// What the sums are grouped by.
    pub group: GroupBy,
    /// Only this ladder.
    pub ladder: Option<String>,
    /// From this time on.
    pub since: UnixMillis,
    /// Until this time.
    pub until: UnixMillis,
}

/// A row of `minutes`, as far as curves need it.
#[derive(Debug)]
pub(super) struct Minute {
    pub(super) at: i64,
    pub(super) ladder: String,
    pub(super) rung: String,
    pub(super) broken: u64,
    pub(super) gone: u64,
    pub(super) rescued: u64,
    pub(super) last_resort: u64,
    pub(super) answered: u64,
    pub(super) point: Point,
}

const COLUMNS: &str = "SELECT at, ladder, rung, calls, slow, bad, broken, gone, rescued,
    last_resort, answered, outcomes, passed, hist, input_tokens, output_tokens, cost_nano, lost_nano
    FROM minutes WHERE at >= ? AND at < ?";

/// The minutes in `span` that pass the further conditions, in order.
pub(super) fn minutes(
    conn: &Connection,
    span: Range<i64>,
    conditions: &[(&str, Option<&String>)],
    mut each: impl FnMut(Minute),
) -> rusqlite::Result<()> {
    let mut sql = COLUMNS.to_owned();
    let mut values = vec![Value::from(span.start), Value::from(span.end)];
    for (condition, value) in conditions {
        match value {
            Some(value) => {
                sql.push_str(condition);
                values.push(Value::from((*value).clone()));
            }
            None if !condition.contains('?') => sql.push_str(condition),
            None => {}
        }
    }
    sql.push_str(" ORDER BY at");
    let mut statement = conn.prepare_cached(&sql)?;
    let mut rows = statement.query(rusqlite::params_from_iter(&values))?;
    while let Some(row) = rows.next()? {
        each(minute(row)?);
    }
    Ok(())
}

fn minute(row: &Row<'_>) -> rusqlite::Result<Minute> {
    Ok(Minute {
        at: row.get(0)?,
        ladder: row.get(1)?,
        rung: row.get(2)?,
        broken: count(row, 6)?,
        gone: count(row, 7)?,
        rescued: count(row, 8)?,
        last_resort: count(row, 9)?,
        answered: count(row, 10)?,
        point: Point {
            calls: count(row, 3)?,
            slow: count(row, 4)?,
            bad: count(row, 5)?,
            outcomes: json(row, 11)?,
            passed: json(row, 12)?,
            hist: json::<Hist>(row, 13)?,
            input_tokens: count(row, 14)?,
            output_tokens: count(row, 15)?,
            cost_nano: row.get(16)?,
            lost_nano: row.get(17)?,
            ..Point::default()
        },
    })
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text)
        .map_err(|error| Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

/// Adds one minute's counts to a step's.
pub(super) fn add(sum: &mut Point, more: &Point) {
    sum.calls += more.calls;
    sum.slow += more.slow;
    sum.bad += more.bad;
    sum.hist.merge(&more.hist);
    let words = [(&mut sum.outcomes, &more.outcomes), (&mut sum.passed, &more.passed)];
    for (sums, more) in words {
        for (word, count) in more {
            *sums.entry(word.clone()).or_default() += count;
        }
    }
    sum.input_tokens += more.input_tokens;
    sum.output_tokens += more.output_tokens;
    sum.cost_nano = sum.cost_nano.saturating_add(more.cost_nano);
    sum.lost_nano = sum.lost_nano.saturating_add(more.lost_nano);
}

pub(super) fn quantile_ms(hist: &Hist, q: f64) -> Option<u64> {
    hist.quantile(q).map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

pub(super) fn series(conn: &Connection, query: &SeriesQuery) -> rusqlite::Result<Series> {
    let step = query.step_ms();
    let since = query.since.0.div_euclid(step).saturating_mul(step);
    let until = query.until.0;
    let kind = if query.by_ladder { " AND rung = ''" } else { " AND rung <> ''" };
    let conditions = [
        (kind, None),
        (" AND rung = ?", query.rung.as_ref()),
        (" AND ladder = ?", query.ladder.as_ref()),
    ];
    let mut curves: BTreeMap<String, BTreeMap<i64, Point>> = BTreeMap::new();
    minutes(conn, since..until, &conditions, |minute| {
        let name = if query.by_ladder { minute.ladder } else { minute.rung };
        let at = minute.at.div_euclid(step).saturating_mul(step);
        let point = curves.entry(name).or_default().entry(at).or_default();
        point.at = UnixMillis(at);
        add(point, &minute.point);
    })?;
    let curve = |(name, points): (String, BTreeMap<i64, Point>)| SeriesCurve {
        name,
        points: points.into_values().map(finished).collect(),
    };
    Ok(Series {
        since: UnixMillis(since),
        until: query.until,
        step_ms: u64::try_from(step).unwrap_or(0),
        curves: curves.into_iter().map(curve).collect(),
    })
}

fn finished(mut point: Point) -> Point {
    point.ttft_p50_ms = quantile_ms(&point.hist, 0.5);
    point.ttft_p95_ms = quantile_ms(&point.hist, 0.95);
    point
}

pub(super) fn summary(conn: &Connection, query: &SummaryQuery) -> rusqlite::Result<Summary> {
    let mut items = match query.group {
        GroupBy::Tenant => requests(conn, query, "client")?,
        GroupBy::Outcome => by_outcome(conn, query)?,
        GroupBy::Rung => counts(conn, query, "rung", "rung <> ''")?,
        GroupBy::Ladder => counts(conn, query, "ladder", "rung = ''")?,
    };
    items.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    Ok(Summary {
        since: query.since,
        until: query.until,
        group: query.group.as_str().to_owned(),
        items,
    })
}

/// Sums of plain counts. SQLite adds them up by itself, because a month has hundreds of thousands
/// of rows.
fn counts(
    conn: &Connection,
    query: &SummaryQuery,
    column: &str,
    which: &str,
) -> rusqlite::Result<Vec<SummaryRow>> {
    let sql = format!(
        "SELECT {column}, sum(calls), sum(bad), sum(input_tokens), sum(output_tokens),
         sum(cost_nano) FROM minutes WHERE at >= ?1 AND at < ?2 AND {which}
         AND (?3 IS NULL OR ladder = ?3) GROUP BY {column}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let values = (query.since.0, query.until.0, &query.ladder);
    statement.query_map(values, sum)?.collect()
}

fn by_outcome(conn: &Connection, query: &SummaryQuery) -> rusqlite::Result<Vec<SummaryRow>> {
    let conditions = [(" AND rung = ''", None), (" AND ladder = ?", query.ladder.as_ref())];
    let mut sums: BTreeMap<String, SummaryRow> = BTreeMap::new();
    minutes(conn, query.since.0..query.until.0, &conditions, |minute| {
        for (word, count) in minute.point.outcomes {
            let bad = !matches!(word.as_str(), "ok" | "refused" | "rejected" | "cancelled");
            let sum = sums.entry(word.clone()).or_insert_with(|| SummaryRow {
                name: Some(word),
                count: 0,
                bad: 0,
                input_tokens: 0,
                output_tokens: 0,
                cost_nano: 0,
            });
            sum.count += count;
            sum.bad += if bad { count } else { 0 };
        }
    })?;
    add_costs(conn, query, &mut sums)?;
    Ok(sums.into_values().collect())
}

/// Adds the cost by outcome. The minutes do not have it, but the requests do, as far back as they
/// are kept.
fn add_costs(
    conn: &Connection,
    query: &SummaryQuery,
    sums: &mut BTreeMap<String, SummaryRow>,
) -> rusqlite::Result<()> {
    for row in requests(conn, query, "outcome")? {
        if let Some(sum) = row.name.as_ref().and_then(|name| sums.get_mut(name)) {
            sum.input_tokens = row.input_tokens;
            sum.output_tokens = row.output_tokens;
            sum.cost_nano = row.cost_nano;
        }
    }
    Ok(())
}

/// Sums of the requests that ended, grouped by one of their columns.
fn requests(
    conn: &Connection,
    query: &SummaryQuery,
    column: &'static str,
) -> rusqlite::Result<Vec<SummaryRow>> {
    let sql = format!(
        "SELECT {column}, count(*),
         sum(outcome IN ('failed', 'deadline', 'no_candidate', 'interrupted')),
         coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
         coalesce(sum(cost_nano), 0)
         FROM requests WHERE at >= ?1 AND at < ?2 AND outcome IS NOT NULL
         AND (?3 IS NULL OR ladder = ?3) GROUP BY {column}"
    );
    let mut statement = conn.prepare_cached(&sql)?;
    let values = (query.since.0, query.until.0, &query.ladder);
    statement.query_map(values, sum)?.collect()
}

fn sum(row: &Row<'_>) -> rusqlite::Result<SummaryRow> {
    Ok(SummaryRow {
        name: row.get(0)?,
        count: count(row, 1)?,
        bad: count(row, 2)?,
        input_tokens: count(row, 3)?,
        output_tokens: count(row, 4)?,
        cost_nano: row.get(5)?,
    })
}
