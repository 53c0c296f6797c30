//! One relay writes a journal: that relay holds a lock on a file beside it.
//!
//! A second relay would take the first one's running requests for those left behind before a
//! restart. The kernel holds the lock, so it ends with the process, however the process ends. The
//! journal itself is not locked: closing a second descriptor of it would drop SQLite's own locks.

use super::file::{beside, create_private};
use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;

/// The right to write a journal, for as long as it is kept.
#[derive(Debug)]
pub(super) struct Lock(#[expect(dead_code, reason = "it holds the lock by being open")] File);

/// Another relay has the lock: its process id, empty where that is unknown.
#[derive(Debug)]
pub(super) struct Held {
    process: String,
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let process = if self.process.is_empty() { "unknown" } else { &self.process };
        write!(
            f,
            "another relay (process {process}) writes this journal; stop it, or give one of the \
             two another journal.path"
        )
    }
}

/// Takes the lock of the journal at `path`. `Ok(None)`: this disk has no locks, or no file can be
/// created beside the journal; then no other relay is kept out.
///
/// # Errors
/// Another relay has it.
pub(super) fn take(path: &Path) -> Result<Option<Lock>, Held> {
    let name = beside(path, "-lock");
    let Ok(mut file) = create_private(&name) else { return Ok(None) };
    match file.try_lock() {
        Ok(()) => {
            // For a relay that finds it locked. Only the lock matters, so an error here is ignored.
            let _unnamed = file.set_len(0).and_then(|()| write!(file, "{}", std::process::id()));
            Ok(Some(Lock(file)))
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            let _unnamed = file.rewind().and_then(|()| file.read_to_string(&mut holder));
            Err(Held { process: holder.trim().to_owned() })
        }
        Err(TryLockError::Error(error)) => {
            tracing::warn!(%error, "the journal's disk has no locks: a second relay on it would not be noticed");
            Ok(None)
        }
    }
}
