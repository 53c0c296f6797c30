//! Brings a file up to be written.

use super::file::FileId;
use super::recover;
use super::schema::{self, Found, VERSION};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use shared::UnixMillis;
use std::path::Path;
use std::time::Duration;

/// How long a commit waits for someone else's lock before it is tried anew.
pub(super) const BUSY: Duration = Duration::from_millis(250);

/// Pages of write-ahead log after which it is folded into the file (4 MiB).
const CHECKPOINT_PAGES: i64 = 1_000;

/// What is left of a log that once had to grow, because a reader held it.
const LOG_LIMIT: i64 = 4 << 20;

/// A file that is ready.
#[derive(Debug)]
pub(super) struct Link {
    pub conn: Connection,
    /// The file that it leads to, whatever has the name by now.
    pub file: FileId,
}

/// Why there is none.
#[derive(Debug)]
pub(super) enum OpenError {
    /// The file is not ours to write.
    Refused(String),
    /// It did not work this time.
    Failed(String),
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Opens, migrates, recovers. Rows unfinished since before `before` are of an
/// earlier life.
pub(super) fn open(path: &Path, before: UnixMillis) -> Result<Link, OpenError> {
    admit(schema::look(path)?)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    let file = FileId::of(path).map_err(|error| OpenError::Failed(error.to_string()))?;
    // Before the first read: that would put a log beside the file, read-only like
    // it, and stay in the way once the file itself can be written again.
    if conn.is_readonly("main")? {
        return Err(OpenError::Failed("the file is read-only".to_owned()));
    }
    conn.busy_timeout(BUSY)?;
    // Asked again: now the log counts too, and the file may have changed since.
    let found = schema::identify(&conn)?;
    if let Err(refused) = admit(found) {
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        return Err(refused);
    }
    if found == Found::Nothing {
        // Only before the first page is written.
        conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    // A new file gets its tables before its log, so that it is known as ours by
    // its first page alone from the first moment.
    schema::migrate(&mut conn)?;
    set_up(&conn)?;
    let interrupted = recover::recover(&mut conn, before)?;
    if interrupted > 0 {
        tracing::warn!(interrupted, "requests of an earlier run never ended");
    }
    Ok(Link { conn, file })
}

fn admit(found: Found) -> Result<(), OpenError> {
    match found {
        Found::Nothing | Found::Journal(_) => Ok(()),
        Found::Newer(version) => Err(OpenError::Refused(format!(
            "the file has schema {version}, this relay knows up to {VERSION}; it is left alone"
        ))),
        Found::Foreign => {
            Err(OpenError::Refused("the file is no Belay journal; it is left alone".to_owned()))
        }
    }
}

fn set_up(conn: &Connection) -> Result<(), OpenError> {
    let mode: String =
        conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(OpenError::Failed(format!("the disk has no WAL, only '{mode}'")));
    }
    conn.pragma_update(None, "synchronous", "NORMAL")?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    conn.pragma_update(None, "journal_size_limit", LOG_LIMIT)?;
    Ok(())
}
