//! Turns rows into the admin API's types.

use super::Sort;
use rusqlite::types::Type;
use rusqlite::{Error, Result, Row};
use shared::admin::{AttemptRow, PassedOverRow, RequestRow, Tried};
use shared::{NanoUsd, PassedOver, RequestId, UnixMillis};
use std::str::FromStr;

/// A request, from a row of a list.
pub(super) fn request(row: &Row<'_>) -> Result<RequestRow> {
    Ok(RequestRow {
        id: RequestId::from_number(row.get::<_, i64>(0)?.cast_unsigned()),
        at: UnixMillis(row.get(1)?),
        client: row.get(2)?,
        ladder: row.get(3)?,
        model: row.get(4)?,
        stream: row.get(5)?,
        outcome: word(row, 6)?,
        cause: word(row, 7)?,
        status: row.get(8)?,
        answered_by: row.get(9)?,
        attempts_made: row.get(10)?,
        hedged: row.get(11)?,
        ttft_ms: count(row, 12)?,
        latency_ms: count(row, 13)?,
        input_tokens: count(row, 14)?,
        output_tokens: count(row, 15)?,
        cost_usd: usd(row, 16)?,
        bytes: count(row, 17)?.unwrap_or(0),
        events: count(row, 18)?.unwrap_or(0),
        trail: Vec::new(),
    })
}

/// The short form of an attempt.
pub(super) fn tried(row: &Row<'_>) -> Result<Tried> {
    Ok(Tried {
        rung: row.get(0)?,
        outcome: word(row, 1)?,
        ttft_ms: count(row, 2)?,
        latency_ms: count(row, 3)?,
    })
}

/// The value by which the same row is sorted.
pub(super) fn sorted_by(row: &Row<'_>, sort: Sort) -> Result<Option<i64>> {
    match sort {
        Sort::At => row.get(1),
        Sort::Attempts => row.get(20),
        Sort::Ttft => row.get(12),
        Sort::Total => row.get(13),
        Sort::Cost => row.get(16),
    }
}

/// The rungs of the same row that were not called.
pub(super) fn passed_over(row: &Row<'_>) -> Result<Vec<PassedOverRow>> {
    const COLUMN: usize = 19;
    let Some(text) = row.get::<_, Option<String>>(COLUMN)? else { return Ok(Vec::new()) };
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Passed {
        Feature(String, PassedOver, String),
        Reason(String, PassedOver),
    }
    let all: Vec<Passed> =
        serde_json::from_str(&text).map_err(|error| unreadable(COLUMN, error))?;
    let rows = all.into_iter().map(|passed| match passed {
        Passed::Feature(rung, reason, feature) => {
            PassedOverRow { rung, reason, feature: Some(feature) }
        }
        Passed::Reason(rung, reason) => PassedOverRow { rung, reason, feature: None },
    });
    Ok(rows.collect())
}

/// An attempt.
pub(super) fn attempt(row: &Row<'_>) -> Result<AttemptRow> {
    Ok(AttemptRow {
        n: row.get(0)?,
        rung: row.get(1)?,
        kind: needed_word(row, 2)?,
        probe: row.get(3)?,
        outcome: word(row, 4)?,
        cause: word(row, 5)?,
        detail: row.get(6)?,
        status: row.get(7)?,
        verdict: word(row, 8)?,
        stream_verdict: word(row, 9)?,
        at: UnixMillis(row.get(10)?),
        headers_ms: count(row, 11)?,
        ttft_ms: count(row, 12)?,
        latency_ms: count(row, 13)?,
        events: count(row, 14)?.unwrap_or(0),
        bytes: count(row, 15)?.unwrap_or(0),
        input_tokens: count(row, 16)?,
        output_tokens: count(row, 17)?,
        cached_tokens: count(row, 18)?,
        reasoning_tokens: count(row, 19)?,
        estimated: row.get(20)?,
        cost_usd: usd(row, 21)?,
        no_cost: row.get(22)?,
        cache_write_tokens: count(row, 23)?,
        left_out: words(row.get(24)?),
    })
}

/// Splits words that were stored with commas between them.
fn words(text: Option<String>) -> Vec<String> {
    text.map(|text| text.split(',').map(str::to_owned).collect()).unwrap_or_default()
}

fn count(row: &Row<'_>, column: usize) -> Result<Option<u64>> {
    let number: Option<i64> = row.get(column)?;
    Ok(number.map(|number| u64::try_from(number).unwrap_or(0)))
}

fn usd(row: &Row<'_>, column: usize) -> Result<Option<f64>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(|nanos| NanoUsd(nanos).usd()))
}

fn word<W>(row: &Row<'_>, column: usize) -> Result<Option<W>>
where
    W: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let Some(text) = row.get::<_, Option<String>>(column)? else { return Ok(None) };
    text.parse().map(Some).map_err(|error| unreadable(column, error))
}

fn needed_word<W>(row: &Row<'_>, column: usize) -> Result<W>
where
    W: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    row.get::<_, String>(column)?.parse().map_err(|error| unreadable(column, error))
}

fn unreadable(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
