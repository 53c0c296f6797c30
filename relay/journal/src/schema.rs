//! The file's format: how a journal is recognized, and how it is brought up to date.

use super::file::immutable_uri;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};
use std::path::Path;

/// "BLAY", in the file's header: this is a Belay journal.
const APPLICATION_ID: i64 = 0x424C_4159;

/// One step per version; the first one leads from nothing to 1. Steps are only ever added.
const MIGRATIONS: &[&str] = &[
    include_str!("schema/v1.sql"),
    include_str!("schema/v2.sql"),
    include_str!("schema/v3.sql"),
    include_str!("schema/v4.sql"),
    include_str!("schema/v5.sql"),
    include_str!("schema/v6.sql"),
    include_str!("schema/v7.sql"),
];

/// The version that this relay reads and writes.
pub(super) const VERSION: i64 = 7;

/// What a file turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// No file, or an empty one.
    Nothing,
    /// A journal of this version, or one that can be brought up to date.
    Journal(i64),
    /// A journal of a newer relay.
    Newer(i64),
    /// Something else.
    Foreign,
}

/// Examines a file without changing the file, its log or its locks.
///
/// A write connection must not even be opened on a file that is not a journal: closing it could
/// move another program's write-ahead log into the file.
pub(super) fn look(path: &Path) -> rusqlite::Result<Found> {
    match std::fs::metadata(path) {
        // If anything else keeps it from being examined, SQLite reports it below.
        Ok(found) if found.is_file() && found.len() == 0 => return Ok(Found::Nothing),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Found::Nothing),
        Ok(_) | Err(_) => {}
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(immutable_uri(path), flags)
        .and_then(|conn| identify(&conn))
        .map(|found| match found {
            // SQLite takes a file shorter than a header for an empty database, but it is somebody's
            // file.
            Found::Nothing => Found::Foreign,
            found => found,
        })
        .or_else(|error| match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Ok(Found::Foreign),
            _ => Err(error),
        })
}

/// What an open connection leads to; its log counts as well.
pub(super) fn identify(conn: &Connection) -> rusqlite::Result<Found> {
    let number = |name| conn.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    Ok(if application == APPLICATION_ID {
        if version > VERSION { Found::Newer(version) } else { Found::Journal(version) }
    } else if number("page_count")? == 0 {
        Found::Nothing
    } else {
        Found::Foreign
    })
}

/// Brings the file to [`VERSION`], each step in a transaction of its own.
pub(super) fn migrate(conn: &mut Connection) -> rusqlite::Result<()> {
    loop {
        let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Read under the lock: another process may have migrated a moment ago.
        let version: i64 = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let Some(step) = usize::try_from(version).ok().and_then(|at| MIGRATIONS.get(at)) else {
            return Ok(());
        };
        tx.execute_batch(step)?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
        tx.pragma_update(None, "user_version", version + 1)?;
        tx.commit()?;
        tracing::info!(version = version + 1, "journal migrated");
    }
}
