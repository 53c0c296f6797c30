//! Prepares a file for writing.

use super::file::{FileId, beside, create_private, is_public, log_size};
use super::recover;
use super::schema::{self, Found, VERSION};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use shared::UnixMillis;
use std::path::Path;
use std::time::Duration;

/// How long a commit waits for a lock of another connection before it is tried again.
pub(super) const BUSY: Duration = Duration::from_millis(250);

/// After this many pages (4 MiB) a checkpoint moves the write-ahead log into the file.
const CHECKPOINT_PAGES: i64 = 1_000;

/// The size to which a log is cut after it had to grow because a reader held it.
pub(super) const LOG_LIMIT: i64 = 4 << 20;

/// A file that is open and ready to be written.
#[derive(Debug)]
pub(super) struct Link {
    pub conn: Connection,
    /// The file that is open, even if another file has the name by now.
    pub file: FileId,
    /// The log of that file.
    pub log: FileId,
}

impl Link {
    /// Whether the journal's names still lead to the files that it has open.
    pub fn is_in_place(&self, path: &Path) -> bool {
        FileId::of(path).is_ok_and(|file| file == self.file)
            && FileId::of(&beside(path, "-wal")).is_ok_and(|log| log == self.log)
    }
}

/// Why the file could not be opened.
#[derive(Debug)]
pub(super) enum OpenError {
    /// The relay must not write this file.
    Refused(String),
    /// It failed this time; a later try may succeed.
    Failed(String),
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Failed(error.to_string())
    }
}

/// Opens, migrates and recovers. Rows from before `before` that are unfinished were left behind
/// before a restart.
pub(super) fn open(path: &Path, before: UnixMillis) -> Result<Link, OpenError> {
    match schema::look(path) {
        // A crash during a checkpoint leaves the file so. The log has the rest, and is read below.
        Err(error) if is_corrupt(&error) && log_size(path) > 0 => {}
        found => admit(found?)?,
    }
    if std::fs::metadata(path).is_err() {
        // If this fails, SQLite reports the reason.
        drop(create_private(path));
    } else if is_public(path) {
        tracing::warn!(
            "everybody on this machine may read the journal; chmod 600 {}",
            path.display()
        );
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    let file = FileId::of(path).map_err(|error| OpenError::Failed(error.to_string()))?;
    // Checked before the first read: a read would create a log beside the file, read-only like the
    // file, and that log would be in the way once the file itself can be written again.
    if conn.is_readonly("main")? {
        return Err(OpenError::Failed("the file is read-only".to_owned()));
    }
    conn.busy_timeout(BUSY)?;
    // Checked again: now the log counts too, and the file may have changed since.
    let found = schema::identify(&conn)?;
    if let Err(refused) = admit(found) {
        conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        return Err(refused);
    }
    if found == Found::Nothing {
        // This works only before the first page is written.
        conn.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    // A new file gets its tables before its log, so that its first page alone shows from the first
    // moment that it is a journal.
    schema::migrate(&mut conn)?;
    set_up(&conn)?;
    let interrupted = recover::recover(&mut conn, before)?;
    if interrupted > 0 {
        tracing::warn!(interrupted, "requests of an earlier run never ended");
    }
    let log = FileId::of(&beside(path, "-wal"));
    let log = log.map_err(|error| OpenError::Failed(format!("its log is not there: {error}")))?;
    Ok(Link { conn, file, log })
}

fn is_corrupt(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt)
}

/// What somebody else did to the open file, if anything. The file itself is read, because the open
/// connection answers from its memory and its log.
pub(super) fn harm(path: &Path) -> Option<String> {
    match schema::look(path) {
        Ok(Found::Journal(_)) => None,
        Ok(Found::Nothing) => Some("the file was emptied while the relay runs".to_owned()),
        Ok(Found::Foreign | Found::Newer(_)) => {
            Some("the file was overwritten while the relay runs".to_owned())
        }
        Err(error) if is_corrupt(&error) => {
            Some("the file was cut off while the relay runs".to_owned())
        }
        Err(error) => Some(format!("the file cannot be read any more: {error}")),
    }
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
