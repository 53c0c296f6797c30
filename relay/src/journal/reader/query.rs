//! The SQL of reading.

use super::{ReadError, RequestFilter, cursor};
use rusqlite::types::Value;

/// What [`super::rows::request`] reads, in its order. A request that runs, or
/// that a crash cut, has its attempts counted.
macro_rules! request {
    ($rest:literal) => {
        concat!(
            "SELECT r.id, r.at, r.client, r.ladder, r.model, r.stream, r.outcome, r.cause,
             r.status, r.answered_by,
             coalesce(r.attempts_made, (SELECT count(*) FROM attempts a WHERE a.request = r.id)),
             coalesce(r.hedged, EXISTS (SELECT 1 FROM attempts a
                                        WHERE a.request = r.id AND a.kind = 'hedge')),
             r.ttft_ms, r.latency_ms, r.input_tokens, r.output_tokens, r.cost_nano, r.bytes,
             r.events, r.passed_over
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
    output_tokens, cached_tokens, reasoning_tokens, estimated, cost_nano, no_cost
    FROM attempts WHERE request = ?1 ORDER BY n";

/// A list's SQL and the values in it.
#[derive(Debug)]
pub(in crate::journal) struct Query {
    pub sql: String,
    pub values: Vec<Value>,
}

impl Query {
    /// One more condition; `?` in it stands for `value`.
    fn narrow<V: Into<Value>>(&mut self, condition: &str, value: Option<V>) {
        if let Some(value) = value {
            self.sql.push_str(" AND ");
            self.sql.push_str(condition);
            self.values.push(value.into());
        }
    }
}

/// Newest first: by time, and by id within a millisecond. The index on the time
/// gives that order, so a page stops reading as soon as it is full, and a window
/// of time is the most that is ever read of it.
pub(in crate::journal) fn list(filter: &RequestFilter) -> Result<Query, ReadError> {
    let mut query = Query { sql: request!("WHERE TRUE").to_owned(), values: Vec::new() };
    query.narrow("r.id = ?", filter.id.map(shared::RequestId::number));
    query.narrow("r.at >= ?", filter.since.map(|at| at.0));
    query.narrow("r.at < ?", filter.until.map(|at| at.0));
    query.narrow("r.ladder = ?", filter.ladder.clone());
    query.narrow("r.client = ?", filter.client.clone());
    query.narrow("r.answered_by = ?", filter.answered_by.clone());
    query.narrow("r.outcome = ?", filter.outcome.map(|outcome| outcome.as_str().to_owned()));
    let ttft = filter.min_ttft_ms.map(|ms| i64::try_from(ms).unwrap_or(i64::MAX));
    query.narrow("r.ttft_ms >= ?", ttft);
    query.narrow(
        "EXISTS (SELECT 1 FROM attempts a WHERE a.request = r.id AND a.rung = ?)",
        filter.tried.clone(),
    );
    query.narrow(
        "EXISTS (SELECT 1 FROM attempts a WHERE a.request = r.id AND a.kind = ?)",
        filter.kind.map(|kind| kind.as_str().to_owned()),
    );
    if let Some(cursor) = &filter.cursor {
        let (at, id) = cursor::read(cursor)?;
        query.sql.push_str(" AND (r.at, r.id) < (?, ?)");
        query.values.extend([Value::from(at.0), Value::from(id.number())]);
    }
    let limit = filter.limit.clamp(1, RequestFilter::MAX_LIMIT);
    query.sql.push_str(" ORDER BY r.at DESC, r.id DESC LIMIT ?");
    query.values.push(Value::from(i64::from(limit) + 1));
    Ok(query)
}
