//! The SQL that reads.

use super::cursor::Place;
use super::{RequestFilter, Sort};
use rusqlite::types::Value;

/// What [`super::rows::request`] reads, in its order. The attempts are counted for a request that
/// still runs or that a crash interrupted.
macro_rules! request {
    ($rest:literal) => {
        concat!(
            "SELECT r.id, r.at, r.client, r.ladder, r.model, r.stream, r.outcome, r.cause,
             r.status, r.answered_by,
             coalesce(r.attempts_made, (SELECT count(*) FROM attempts a WHERE a.request = r.id)),
             coalesce(r.hedged, EXISTS (SELECT 1 FROM attempts a
                                        WHERE a.request = r.id AND a.kind = 'hedge')),
             r.ttft_ms, r.latency_ms, r.input_tokens, r.output_tokens, r.cost_nano, r.bytes,
             r.events, r.passed_over, r.attempts_made
             FROM requests r ",
            $rest
        )
    };
}

/// One request by its number.
pub(super) const ONE: &str = request!("WHERE r.id = ?1");

/// A request's attempts; what [`super::rows::attempt`] reads, in its order.
pub(super) const ATTEMPTS: &str = "SELECT n, rung, kind, probe, outcome, cause, detail, status,
    verdict, stream_verdict, at, headers_ms, ttft_ms, latency_ms, events, bytes, input_tokens,
    output_tokens, cached_tokens, reasoning_tokens, estimated, cost_nano, no_cost,
    written_tokens, left_out
    FROM attempts WHERE request = ?1 ORDER BY n";

/// The short form of a request's attempts.
pub(crate) const TRAIL: &str =
    "SELECT rung, outcome, ttft_ms, latency_ms FROM attempts WHERE request = ? ORDER BY n";

/// Requests with some trouble: not those that the first attempt answered well and in time. A
/// request that still runs on its first attempt is left out, because it may end so.
const TROUBLE: &str = " AND (r.outcome <> 'ok' OR r.attempts_made > 1
    OR EXISTS (SELECT 1 FROM attempts a WHERE a.request = r.id
               AND (a.verdict <> 'good' OR a.stream_verdict = 'bad')))";

/// Requests that ended well because of an attempt after the first.
const RESCUED: &str = " AND r.outcome IN ('ok', 'refused') AND EXISTS (SELECT 1 FROM attempts a \
     WHERE a.request = r.id AND a.n > 1 AND a.outcome IN ('ok', 'refused'))";
/// Whether a rung has fewer attempts than this many.
pub(super) const RARE: &str =
    "SELECT count(*) < 20000 FROM (SELECT 1 FROM attempts WHERE rung = ? LIMIT 20000)";

/// The SQL of a list, and the values in it.
#[derive(Debug)]
pub(crate) struct Query {
    pub sql: String,
    pub values: Vec<Value>,
}

impl Query {
    /// Adds a condition if there is a `value`; `?` in the condition stands for it.
    fn narrow<V: Into<Value>>(&mut self, condition: &str, value: Option<V>) {
        if let Some(value) = value {
            self.sql.push_str(" AND ");
            self.sql.push_str(condition);
            self.values.push(value.into());
        }
    }
}

/// A part of a list: the rows that have a value to be sorted by, or those that have none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Rows with a value, greatest first, after this place if one is given.
    Valued(Option<(i64, shared::RequestId)>),
    /// Rows without a value, newest first, after this one if one is given.
    Without(Option<shared::RequestId>),
}

impl Part {
    /// The part in which the next page begins.
    pub(super) const fn after(place: Option<Place>) -> Self {
        match place {
            None => Self::Valued(None),
            Some(Place { value: Some(value), id }) => Self::Valued(Some((value, id))),
            Some(Place { value: None, id }) => Self::Without(Some(id)),
        }
    }
}

/// Greatest first, and by id among equal values. Each sort has an index in that order, so a page
/// stops reading as soon as it is full. If a window of time is given, at most its rows are read.
///
/// `is_rare`: few attempts were made on the rung that `tried` names; see [`RARE`].
pub(crate) fn list(filter: &RequestFilter, part: Part, limit: usize, is_rare: bool) -> Query {
    let is_valued = matches!(part, Part::Valued(_));
    let column = filter.sort.column();
    let is_window = filter.since.is_some() && filter.sort != Sort::At;
    // A window has few of all rows: sorting them is cheaper than finding them in the sort's own
    // index. Without a window that index is named, because SQLite might use the index of a filter
    // by name and sort all the rows that it finds there.
    let index = if is_window { Some("requests_at") } else { filter.sort.index() };
    let index = index.filter(|_| filter.id.is_none() && is_valued);
    let by = index.map_or_else(String::new, |index| format!("INDEXED BY {index} "));
    let mut query = Query { sql: format!("{}{by}WHERE TRUE", request!("")), values: Vec::new() };
    query.narrow("r.id = ?", filter.id.map(shared::RequestId::number));
    query.narrow("r.at >= ?", filter.since.map(|at| at.0));
    query.narrow("r.at < ?", filter.until.map(|at| at.0));
    query.narrow("r.ladder = ?", filter.ladder.clone());
    query.narrow("r.client = ?", filter.client.clone());
    query.narrow("r.answered_by = ?", filter.answered_by.clone());
    query.narrow("r.outcome = ?", filter.outcome.map(|outcome| outcome.as_str().to_owned()));
    let ttft = filter.min_ttft_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    query.narrow("r.ttft_ms >= ?", ttft);
    // A rung that most requests tried is found soon; one that few tried is looked for by name.
    let tried = if is_rare {
        "r.id IN (SELECT a.request FROM attempts a WHERE a.rung = ?)"
    } else {
        "EXISTS (SELECT 1 FROM attempts a WHERE a.request = r.id AND a.rung = ?)"
    };
    query.narrow(tried, filter.tried.clone());
    query.narrow(
        "EXISTS (SELECT 1 FROM attempts a WHERE a.request = r.id AND a.kind = ?)",
        filter.kind.map(|kind| kind.as_str().to_owned()),
    );
    if let Some(ended) = filter.ended {
        let rung = if filter.tried.is_some() { " AND a.rung = ?" } else { "" };
        query.sql.push_str(&format!(
            " AND EXISTS (SELECT 1 FROM attempts a WHERE a.request = r.id AND a.outcome = ?{rung})"
        ));
        query.values.push(Value::from(ended.as_str().to_owned()));
        query.values.extend(filter.tried.clone().map(Value::from));
    }
    if filter.rescued {
        query.sql.push_str(RESCUED);
    }
    if filter.trouble {
        query.sql.push_str(TROUBLE);
    }
    match part {
        Part::Valued(after) => {
            query.sql.push_str(&format!(" AND {column} IS NOT NULL"));
            if let Some((value, id)) = after {
                query.sql.push_str(&format!(" AND ({column}, r.id) < (?, ?)"));
                query.values.extend([Value::from(value), Value::from(id.number())]);
            }
            query.sql.push_str(&format!(" ORDER BY {column} DESC, r.id DESC LIMIT ?"));
        }
        Part::Without(after) => {
            query.sql.push_str(&format!(" AND {column} IS NULL"));
            query.narrow("r.id < ?", after.map(shared::RequestId::number));
            query.sql.push_str(" ORDER BY r.id DESC LIMIT ?");
        }
    }
    query.values.push(Value::from(i64::try_from(limit).unwrap_or(i64::MAX)));
    query
}
