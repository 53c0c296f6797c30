//! Reading the journal: lists and details, for the admin API and the CLI.
//!
//! Each call opens a read-only connection of its own. That costs well under a millisecond, needs no
//! lock between callers, and cannot go stale when the file is replaced. A call reads one snapshot
//! and ends: a reader that stays open would keep the write-ahead log from shrinking.

mod cursor;
mod past;
pub(super) mod query;
mod rows;
mod sort;
mod transitions;
mod usual;

pub use past::{GroupBy, SeriesQuery, SummaryQuery};
pub use transitions::TransitionFilter;
pub use usual::Usual;

use super::actions::{self, ActionFilter};
use super::captures::{self, CaptureFilter, Captured};
use super::file::{immutable_uri, log_size};
use super::kept::{self, Kept};
use super::schema::{self, Found, VERSION};
pub use sort::Sort;

use cursor::Place;
use query::Part;
use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension as _};
use shared::admin::actions::{Action, ActionPage};
use shared::admin::{
    AttemptRow, RequestDetail, RequestPage, RequestRow, Series, Summary, TransitionPage, Tried,
};
use shared::{AttemptKind, AttemptOutcome, RequestId, RequestOutcome, UnixMillis};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long a read waits where it has to, such as for another reader's recovery of the log. Writers
/// do not block readers.
const BUSY: Duration = Duration::from_secs(2);

/// A list is checked after this many steps of SQLite's virtual machine, about 2 ms.
const STEPS: std::ffi::c_int = 100_000;
/// A list is stopped after this many checks.
const LOOKS: u32 = 1_000;

/// Selects requests. A field that is `None` does not filter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestFilter {
    /// The ladder that was walked.
    pub ladder: Option<String>,
    /// A rung that was called, whether it answered or not.
    pub tried: Option<String>,
    /// The rung that answered.
    pub answered_by: Option<String>,
    /// How the request ended.
    pub outcome: Option<RequestOutcome>,
    /// The kind of one of its attempts.
    pub kind: Option<AttemptKind>,
    /// Accepted at or after this time.
    pub since: Option<UnixMillis>,
    /// Accepted before this time.
    pub until: Option<UnixMillis>,
    /// The request's id.
    pub id: Option<RequestId>,
    /// The client key's name.
    pub client: Option<String>,
    /// First token at or after this many milliseconds.
    pub min_ttft_ms: Option<u64>,
    /// The outcome of one of its attempts; of one on the rung of `tried`, if that is given.
    pub ended: Option<AttemptOutcome>,
    /// Only requests with some trouble: not those that the first attempt answered well and in time.
    pub trouble: bool,
    /// Only requests that ended well because of a later attempt.
    pub rescued: bool,
    /// In which order.
    pub sort: Sort,
    /// Rows per page, 1 to [`RequestFilter::MAX_LIMIT`]; beyond that it is clamped.
    pub limit: u32,
    /// `next` of the previous page.
    pub cursor: Option<String>,
}

impl RequestFilter {
    /// Rows per page by default.
    pub const DEFAULT_LIMIT: u32 = 50;
    /// Rows per page at most.
    pub const MAX_LIMIT: u32 = 500;
}

impl Default for RequestFilter {
    /// All requests, the first page.
    fn default() -> Self {
        Self {
            ladder: None,
            tried: None,
            answered_by: None,
            outcome: None,
            kind: None,
            since: None,
            until: None,
            id: None,
            client: None,
            min_ttft_ms: None,
            ended: None,
            trouble: false,
            rescued: false,
            sort: Sort::At,
            limit: Self::DEFAULT_LIMIT,
            cursor: None,
        }
    }
}

/// Why a read failed.
#[derive(Debug)]
pub enum ReadError {
    /// There is no file, or nothing in it yet.
    NoFile(PathBuf),
    /// The file is not a journal.
    NotAJournal(PathBuf),
    /// The file is of a newer relay.
    Newer {
        /// Its schema.
        found: i64,
        /// The newest that this relay knows.
        known: i64,
    },
    /// The file is of an older relay, and nobody has brought it up to date yet.
    Older {
        /// Its schema.
        found: i64,
        /// The one that this relay reads.
        known: i64,
    },
    /// The cursor is not one that a page returned.
    Cursor(String),
    /// The query took longer than allowed.
    TooMuch,
    /// SQLite could not read it.
    Sqlite(rusqlite::Error),
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoFile(path) => write!(f, "there is no journal at {}", path.display()),
            Self::NotAJournal(path) => write!(f, "{} is no Belay journal", path.display()),
            Self::Newer { found, known } => {
                write!(f, "the journal has schema {found}, this relay reads up to {known}")
            }
            Self::Older { found, known } => write!(
                f,
                "the journal has schema {found}, this relay reads {known}; it is brought up to \
                 date when the relay serves with it"
            ),
            Self::Cursor(cursor) => {
                write!(f, "'{cursor}' is no cursor; use 'next' of the page before, unchanged")
            }
            Self::TooMuch => write!(
                f,
                "this reads too much of the journal; narrow it, for example with since and until"
            ),
            Self::Sqlite(error) => write!(f, "the journal cannot be read: {error}"),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Sqlite(error) => Some(error),
            _ => None,
        }
    }
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::OperationInterrupted) => Self::TooMuch,
            _ => Self::Sqlite(error),
        }
    }
}

/// Stops a query that reads too much: it keeps the log from shrinking and its caller waiting.
fn watch(conn: &mut Connection) -> rusqlite::Result<()> {
    let mut looks = 0;
    let look = move || {
        looks += 1;
        looks > LOOKS
    };
    conn.progress_handler(STEPS, Some(look))
}

/// Rows of one part, each with the value that it is sorted by.
fn list(
    conn: &Connection,
    filter: &RequestFilter,
    part: Part,
    limit: usize,
    is_rare: bool,
) -> Result<Vec<(Option<i64>, RequestRow)>, ReadError> {
    let query = query::list(filter, part, limit, is_rare);
    let mut statement = conn.prepare(&query.sql)?;
    let rows = statement.query_map(rusqlite::params_from_iter(&query.values), |row| {
        let request = rows::request(row)?;
        Ok((rows::sorted_by(row, filter.sort)?, request))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Read-only access to a journal, whether a relay is running on it or not.
#[derive(Debug, Clone)]
pub struct Reader {
    path: Arc<Path>,
}

impl Reader {
    /// A reader of the journal at `path`. Nothing is opened yet.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path: path.into() }
    }

    /// A page of the requests that pass the filter, in the order that it asks for.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn requests(&self, filter: &RequestFilter) -> Result<RequestPage, ReadError> {
        // Read before the file, so that a wrong cursor is reported even if there is no file.
        let place = filter.cursor.as_deref().map(|text| cursor::read(filter.sort, text));
        let part = Part::after(place.transpose()?);
        let limit = filter.limit.clamp(1, RequestFilter::MAX_LIMIT) as usize;
        let mut conn = self.watched()?;
        // One snapshot for both parts.
        let tx = conn.transaction()?;
        let is_rare = match &filter.tried {
            Some(rung) => tx.query_row(query::RARE, [rung], |row| row.get(0))?,
            None => false,
        };
        // One more row is read, to know whether another page follows.
        let mut rows = list(&tx, filter, part, limit + 1, is_rare)?;
        if rows.len() <= limit && matches!(part, Part::Valued(_)) {
            let rest = limit + 1 - rows.len();
            rows.extend(list(&tx, filter, Part::Without(None), rest, is_rare)?);
        }
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().filter(|_| has_more);
        let next = last
            .map(|(value, row)| cursor::write(filter.sort, Place { value: *value, id: row.id }));
        let mut items: Vec<RequestRow> = rows.into_iter().map(|(_, row)| row).collect();
        let mut trail = tx.prepare(query::TRAIL)?;
        for item in &mut items {
            let tried = trail.query_map([item.id.number()], rows::tried)?;
            item.trail = tried.collect::<Result<_, _>>()?;
        }
        drop(trail);
        Ok(RequestPage { items, next })
    }

    /// One request with everything that was tried; `None` if it is not there.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn request(&self, id: RequestId) -> Result<Option<RequestDetail>, ReadError> {
        let mut conn = self.connect()?;
        // One snapshot: the request's end must not come between the request and its attempts.
        let tx = conn.transaction()?;
        let found = tx
            .query_row(query::ONE, [id.number()], |row| {
                Ok((rows::request(row)?, rows::passed_over(row)?))
            })
            .optional()?;
        let Some((mut request, passed_over)) = found else { return Ok(None) };
        let attempts = tx
            .prepare(query::ATTEMPTS)?
            .query_map([id.number()], rows::attempt)?
            .collect::<Result<Vec<_>, _>>()?;
        let tried = |one: &AttemptRow| Tried {
            rung: one.rung.clone(),
            outcome: one.outcome,
            ttft_ms: one.ttft_ms,
            latency_ms: one.latency_ms,
        };
        request.trail = attempts.iter().map(tried).collect();
        Ok(Some(RequestDetail { request, attempts, passed_over }))
    }

    /// A page of the actions that pass the filter, newest first.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn actions(&self, filter: &ActionFilter) -> Result<ActionPage, ReadError> {
        Ok(actions::list(&self.watched()?, filter)?)
    }

    /// The action with the client's id `key`, and its first answer; `None` if it is not there.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn action(&self, key: &str) -> Result<Option<(Action, String)>, ReadError> {
        Ok(actions::one(&self.connect()?, key)?)
    }

    /// Calls `each` with every request that was stored whole and passes the filter, oldest first,
    /// until `each` returns `false`.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn captures(
        &self,
        filter: &CaptureFilter,
        each: &mut dyn FnMut(Captured) -> bool,
    ) -> Result<(), ReadError> {
        let mut after = 0;
        loop {
            // Each page is read on a connection of its own: the caller may take any time to write
            // it out, and a reader that stays open keeps the log from shrinking.
            let page = captures::page(&self.connect()?, filter, after)?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = *last;
            if !page.into_iter().all(|(_, captured)| each(captured)) {
                return Ok(());
            }
        }
    }

    /// What is kept over a restart of the relay.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn kept(&self) -> Result<Kept, ReadError> {
        let mut conn = self.connect()?;
        let tx = conn.transaction()?;
        Ok(kept::read(&tx)?)
    }

    /// A page of the breaker transitions that pass the filter, newest first.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn transitions(&self, filter: &TransitionFilter) -> Result<TransitionPage, ReadError> {
        transitions::page(filter, || self.watched())
    }

    /// Curves, from the minutes that are over.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn series(&self, query: &SeriesQuery) -> Result<Series, ReadError> {
        Ok(past::series(&self.watched()?, query)?)
    }

    /// Sums, from the minutes that are over.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn summary(&self, query: &SummaryQuery) -> Result<Summary, ReadError> {
        Ok(past::summary(&self.watched()?, query)?)
    }

    /// What is usual at the hour of `now`.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn usual(&self, now: UnixMillis) -> Result<Usual, ReadError> {
        Ok(usual::read(&self.watched()?, now)?)
    }

    /// A connection for queries that may take long.
    fn watched(&self) -> Result<Connection, ReadError> {
        let mut conn = self.connect()?;
        watch(&mut conn)?;
        Ok(conn)
    }

    fn connect(&self) -> Result<Connection, ReadError> {
        let path = || self.path.to_path_buf();
        match std::fs::metadata(&self.path) {
            Ok(found) if found.is_file() && found.len() == 0 => {
                return Err(ReadError::NoFile(path()));
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(ReadError::NoFile(path()));
            }
            Ok(_) | Err(_) => {}
        }
        let (conn, found) = self
            .open()
            .or_else(|error| match error.sqlite_error_code() {
                // No relay runs, and SQLite may not create files in the folder: the file is read as
                // it is.
                Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) if log_size(&self.path) == 0 => {
                    self.open_immutable()
                }
                _ => Err(error),
            })
            .map_err(|error| match error.sqlite_error_code() {
                Some(ErrorCode::NotADatabase) => ReadError::NotAJournal(path()),
                _ => ReadError::Sqlite(error),
            })?;
        match found {
            Found::Journal(VERSION) => Ok(conn),
            Found::Journal(found) => Err(ReadError::Older { found, known: VERSION }),
            Found::Newer(found) => Err(ReadError::Newer { found, known: VERSION }),
            // An empty file was reported above. A file that SQLite takes for empty is something
            // else.
            Found::Nothing | Found::Foreign => Err(ReadError::NotAJournal(path())),
        }
    }

    fn open(&self) -> rusqlite::Result<(Connection, Found)> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(&self.path, flags)?;
        conn.busy_timeout(BUSY)?;
        let found = schema::identify(&conn)?;
        Ok((conn, found))
    }

    fn open_immutable(&self) -> rusqlite::Result<(Connection, Found)> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let conn = Connection::open_with_flags(immutable_uri(&self.path), flags)?;
        let found = schema::identify(&conn)?;
        Ok((conn, found))
    }
}
