//! Requests that are stored whole, with their answers. This is the only place where a prompt is
//! stored, and only if a ladder's `capture` says so.

use rusqlite::{Connection, Row, params};
use serde_json::value::RawValue;
use shared::{AttemptOutcome, Dialect, RequestId, UnixMillis};
use std::fmt;
use std::sync::Arc;

/// A request that is stored whole, with its answer.
#[derive(Clone, PartialEq, Eq)]
pub struct CaptureRecord {
    /// Its id.
    pub request: RequestId,
    /// When it was accepted.
    pub at: UnixMillis,
    /// Its ladder.
    pub ladder: Arc<str>,
    /// The rung that answered.
    pub rung: Arc<str>,
    /// The client's dialect; both texts are in it.
    pub dialect: Dialect,
    /// The variant of the ladder's system prompt.
    pub prompt: Option<String>,
    /// What the client sent, as JSON.
    pub asked: String,
    /// The whole answer, as JSON.
    pub answered: String,
}

/// Leaves out the texts.
impl fmt::Debug for CaptureRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CaptureRecord").field("request", &self.request).finish_non_exhaustive()
    }
}

/// A captured request as it is exported.
#[derive(Debug, serde::Serialize)]
pub struct Captured {
    /// The request's id.
    pub id: RequestId,
    /// When it was accepted.
    pub at: UnixMillis,
    /// Its ladder.
    pub ladder: String,
    /// The rung that answered.
    pub rung: String,
    /// The attempts, in order.
    pub tried: Vec<Attempted>,
    /// The dialect of request and answer.
    pub dialect: String,
    /// The variant of the ladder's system prompt.
    pub prompt: Option<String>,
    /// What the client sent.
    pub request: Box<RawValue>,
    /// The whole answer.
    pub answer: Box<RawValue>,
}

/// An attempt of a captured request.
#[derive(Debug, serde::Serialize)]
pub struct Attempted {
    /// The rung that was called.
    pub rung: String,
    /// How it ended.
    pub outcome: Option<AttemptOutcome>,
}

/// Which captures are exported.
#[derive(Debug, Clone, Default)]
pub struct CaptureFilter {
    /// Only this ladder's.
    pub ladder: Option<String>,
    /// Only those accepted at or after this time.
    pub since: Option<UnixMillis>,
    /// Only those accepted before this time.
    pub until: Option<UnixMillis>,
}

/// Writing a record twice gives one row.
pub(super) fn insert(conn: &Connection, record: &CaptureRecord) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO captures (at, request, ladder, rung, dialect, prompt, asked, answered)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8
         WHERE NOT EXISTS (SELECT 1 FROM captures WHERE request = ?2)",
    )?
    .execute(params![
        record.at.0,
        record.request.number(),
        record.ladder,
        record.rung,
        record.dialect.as_str(),
        record.prompt,
        record.asked,
        record.answered,
    ])?;
    Ok(())
}

/// A page ends when its texts have this many bytes.
const PAGE_BYTES: usize = 4 << 20;
/// How many captures a page has at most.
const PAGE: usize = 256;

/// A page of the captures that pass the filter and come after the one with the number `after`,
/// oldest first, with their numbers. If it is empty, there are no more.
pub(super) fn page(
    conn: &Connection,
    filter: &CaptureFilter,
    after: i64,
) -> rusqlite::Result<Vec<(i64, Captured)>> {
    let mut tried =
        conn.prepare("SELECT rung, outcome FROM attempts WHERE request = ?1 ORDER BY n")?;
    let mut captures = conn.prepare(
        "SELECT request, at, ladder, rung, dialect, prompt, asked, answered, id FROM captures
         WHERE (?1 IS NULL OR ladder = ?1) AND (?2 IS NULL OR at >= ?2) AND (?3 IS NULL OR at < ?3)
         AND id > ?4 ORDER BY id",
    )?;
    let (since, until) = (filter.since.map(|at| at.0), filter.until.map(|at| at.0));
    let mut rows = captures.query(params![filter.ladder, since, until, after])?;
    let (mut page, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        let mut captured = captured(row)?;
        let attempts = tried.query_map([captured.id.number()], |row| {
            let outcome: Option<String> = row.get(1)?;
            Ok(Attempted { rung: row.get(0)?, outcome: outcome.and_then(|word| word.parse().ok()) })
        })?;
        captured.tried = attempts.collect::<Result<_, _>>()?;
        bytes += captured.request.get().len() + captured.answer.get().len();
        page.push((row.get(8)?, captured));
        if bytes >= PAGE_BYTES || page.len() >= PAGE {
            break;
        }
    }
    Ok(page)
}

fn captured(row: &Row<'_>) -> rusqlite::Result<Captured> {
    let json = |column: usize| {
        let text: String = row.get(column)?;
        // The text was JSON when it was written. If it was damaged since, it is exported as a
        // string.
        RawValue::from_string(text.clone())
            .or_else(|_damaged| serde_json::value::to_raw_value(&text))
            .map_err(|error| {
                let kind = rusqlite::types::Type::Text;
                rusqlite::Error::FromSqlConversionFailure(column, kind, Box::new(error))
            })
    };
    let number: i64 = row.get(0)?;
    Ok(Captured {
        id: RequestId::from_number(u64::try_from(number).unwrap_or_default()),
        at: UnixMillis(row.get(1)?),
        ladder: row.get(2)?,
        rung: row.get(3)?,
        tried: Vec::new(),
        dialect: row.get(4)?,
        prompt: row.get(5)?,
        request: json(6)?,
        answer: json(7)?,
    })
}
