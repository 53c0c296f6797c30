//! Where a page ended: the time and the id of its last row.
//!
//! A place among the rows, not a count of them: rows that come or go meanwhile
//! neither repeat nor hide others.

use super::ReadError;
use shared::{RequestId, UnixMillis};

/// For the client to hand back.
pub(super) fn write(at: UnixMillis, id: RequestId) -> String {
    format!("{}-{id}", at.0)
}

/// What a client handed back.
pub(super) fn read(cursor: &str) -> Result<(UnixMillis, RequestId), ReadError> {
    // From the right: a time before 1970 has a sign of its own.
    let parts = cursor.rsplit_once('-');
    let place = parts.and_then(|(at, id)| Some((at.parse().ok()?, id.parse().ok()?)));
    let (at, id) = place.ok_or_else(|| ReadError::Cursor(cursor.chars().take(64).collect()))?;
    Ok((UnixMillis(at), id))
}
