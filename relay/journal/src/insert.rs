//! The SQL that writes. Every statement may run twice with the same result, since a batch whose
//! COMMIT failed is written again.

use super::actions::{end_order, insert_action};
use super::captures;
use super::entry::{Record, TransitionRecord};
use super::kept::{end_override, insert_health};
use super::minutes;
use record::{AttemptEnd, AttemptStart, CostUnknown, RequestEnd, RequestStart, millis};
use rusqlite::{Connection, params};

const START: &str = "INSERT INTO requests (id, at, client, ladder, model, stream)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING";

/// Only for a request that still runs: an attempt that came too late would never get an outcome.
const ATTEMPT_START: &str = "INSERT INTO attempts (request, n, at, rung, kind, probe)
    SELECT ?1, ?2, ?3, ?4, ?5, ?6 FROM requests WHERE id = ?1 AND outcome IS NULL
    ON CONFLICT (request, n) DO NOTHING";

const END: &str = "INSERT INTO requests
    (id, at, client, ladder, model, stream, outcome, cause, status, answered_by, attempts_made,
     hedged, ttft_ms, latency_ms, input_tokens, output_tokens, cost_nano, no_cost, events, bytes,
     passed_over)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
     ?20, ?21)
    ON CONFLICT (id) DO UPDATE SET outcome = excluded.outcome, cause = excluded.cause,
     status = excluded.status, answered_by = excluded.answered_by,
     attempts_made = excluded.attempts_made, hedged = excluded.hedged,
     ttft_ms = excluded.ttft_ms, latency_ms = excluded.latency_ms,
     input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
     cost_nano = excluded.cost_nano, no_cost = excluded.no_cost, events = excluded.events,
     bytes = excluded.bytes, passed_over = excluded.passed_over";

const ATTEMPT_END: &str = "INSERT INTO attempts
    (request, n, at, rung, kind, probe, outcome, cause, detail, status, verdict, stream_verdict,
     headers_ms, ttft_ms, latency_ms, events, bytes, input_tokens, output_tokens, cached_tokens,
     written_tokens, reasoning_tokens, estimated, cost_nano, no_cost, left_out)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19,
     ?20, ?21, ?22, ?23, ?24, ?25, ?26)
    ON CONFLICT (request, n) DO UPDATE SET outcome = excluded.outcome, cause = excluded.cause,
     detail = excluded.detail, status = excluded.status, verdict = excluded.verdict,
     stream_verdict = excluded.stream_verdict, headers_ms = excluded.headers_ms,
     ttft_ms = excluded.ttft_ms, latency_ms = excluded.latency_ms, events = excluded.events,
     bytes = excluded.bytes, input_tokens = excluded.input_tokens,
     output_tokens = excluded.output_tokens, cached_tokens = excluded.cached_tokens,
     written_tokens = excluded.written_tokens, reasoning_tokens = excluded.reasoning_tokens,
     estimated = excluded.estimated, cost_nano = excluded.cost_nano, no_cost = excluded.no_cost,
     left_out = excluded.left_out";

const TRANSITION: &str = "INSERT INTO transitions
    (at, rung, generation, before, after, rule, text, slow, bad, n, outcome, status, request,
     weight, cooldown_ms, mark_ms, ref_p95_ms, until)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

const MODEL_CHARS: usize = 128;
const DETAIL_CHARS: usize = 256;

/// Writes one record within the transaction that is open.
pub(super) fn insert(conn: &Connection, record: &Record) -> rusqlite::Result<()> {
    match record {
        Record::Start(start) => insert_start(conn, start),
        Record::AttemptStart(start) => insert_attempt_start(conn, start),
        Record::End(end) => insert_end(conn, end),
        Record::Transition(transition) => insert_transition(conn, transition),
        Record::Health(health) => insert_health(conn, health),
        Record::OverrideEnd(end) => end_override(conn, end),
        Record::Minute(minute) => minutes::insert(conn, minute),
        Record::OrderEnd(end) => end_order(conn, end),
        Record::Action(record) => insert_action(conn, record),
        Record::Capture(record) => captures::insert(conn, record),
        Record::Wake => Ok(()),
    }
}

fn insert_transition(conn: &Connection, record: &TransitionRecord) -> rusqlite::Result<()> {
    conn.prepare_cached(TRANSITION)?.execute(params![
        record.at.0,
        record.rung,
        record.generation,
        record.before.as_str(),
        record.after.as_str(),
        record.rule.as_str(),
        record.text,
        record.slow,
        record.bad,
        record.calls,
        record.outcome.map(shared::AttemptOutcome::as_str),
        record.status,
        record.request.map(|id| id.number()),
        record.weight,
        record.cooldown_ms.map(int),
        record.mark_ms.map(int),
        record.ref_p95_ms.map(int),
        record.until.map(|until| until.0),
    ])?;
    Ok(())
}

fn insert_start(conn: &Connection, start: &RequestStart) -> rusqlite::Result<()> {
    conn.prepare_cached(START)?.execute(params![
        start.id.number(),
        start.at.0,
        start.client,
        start.ladder,
        start.model.as_deref().map(|model| cut(model, MODEL_CHARS)),
        start.stream,
    ])?;
    Ok(())
}

fn insert_attempt_start(conn: &Connection, start: &AttemptStart) -> rusqlite::Result<()> {
    conn.prepare_cached(ATTEMPT_START)?.execute(params![
        start.request.number(),
        start.n,
        start.at.0,
        start.rung,
        start.kind.as_str(),
        start.probe,
    ])?;
    Ok(())
}

fn insert_end(conn: &Connection, end: &RequestEnd) -> rusqlite::Result<()> {
    let start = &end.start;
    let usage = end.answer().map(|attempt| attempt.usage).unwrap_or_default();
    let cost = end.cost();
    conn.prepare_cached(END)?.execute(params![
        start.id.number(),
        start.at.0,
        start.client,
        start.ladder,
        start.model.as_deref().map(|model| cut(model, MODEL_CHARS)),
        start.stream,
        end.outcome.as_str(),
        end.cause.map(shared::Cause::as_str),
        end.status,
        end.answered_by(),
        int(end.attempts.len() as u64),
        end.hedged,
        end.ttft.map(millis).map(int),
        end.latency.map(millis).map(int),
        usage.input.map(int),
        usage.output.map(int),
        cost.ok().map(|cost| cost.0),
        cost.err().map(CostUnknown::as_str),
        int(end.events),
        int(end.bytes),
        passed_over(end),
    ])?;
    for attempt in &end.attempts {
        insert_attempt_end(conn, start, attempt)?;
    }
    Ok(())
}

fn insert_attempt_end(
    conn: &Connection,
    request: &RequestStart,
    end: &AttemptEnd,
) -> rusqlite::Result<()> {
    let start = &end.start;
    conn.prepare_cached(ATTEMPT_END)?.execute(params![
        // The request's own id: an attempt stored under another id could not be found.
        request.id.number(),
        start.n,
        start.at.0,
        start.rung,
        start.kind.as_str(),
        start.probe,
        end.outcome.as_str(),
        end.cause.map(shared::Cause::as_str),
        end.detail.as_deref().map(|detail| cut(detail, DETAIL_CHARS)),
        end.status,
        end.verdict.map(shared::TokenVerdict::as_str),
        end.stream_verdict.map(shared::StreamVerdict::as_str),
        end.headers.map(millis).map(int),
        end.ttft.map(millis).map(int),
        end.latency.map(millis).map(int),
        int(end.events),
        int(end.bytes),
        end.usage.input.map(int),
        end.usage.output.map(int),
        end.usage.cached.map(int),
        end.usage.cache_write.map(int),
        end.usage.reasoning.map(int),
        end.estimated,
        end.cost.ok().map(|cost| cost.0),
        end.cost.err().map(CostUnknown::as_str),
        (!end.left_out.is_empty()).then(|| end.left_out.join(",")),
    ])?;
    Ok(())
}

/// `[["rung","reason"],...]`, with the field that the rung's dialect cannot express, if there is
/// one. `None` if no rung was passed over, as with most requests.
fn passed_over(end: &RequestEnd) -> Option<String> {
    if end.passed_over.is_empty() {
        return None;
    }
    let pairs = end.passed_over.iter().map(|passed| {
        let mut row = vec![passed.rung.to_string(), passed.reason.as_str().to_owned()];
        row.extend(passed.field.clone());
        serde_json::Value::from(row)
    });
    Some(serde_json::Value::Array(pairs.collect()).to_string())
}

/// SQLite's integers are signed. A number that is too large is stored as the largest one.
fn int(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn cut(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
