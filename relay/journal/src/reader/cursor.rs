//! Where a page ended: the sort, its value in the last row, and that row's id.
//!
//! It is a place among the rows, not a count of them, so rows that come or go meanwhile neither
//! repeat nor hide others.

use super::{ReadError, Sort};
use shared::RequestId;

/// Rows with a value come before those without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// `None`: the last row is among those without a value.
    pub(super) value: Option<i64>,
    /// The last row.
    pub(super) id: RequestId,
}

/// The text that the client sends back.
pub(super) fn write(sort: Sort, place: Place) -> String {
    let value = place.value.map_or_else(|| "none".to_owned(), |value| value.to_string());
    format!("{}:{value}:{}", sort.as_str().trim_start_matches('-'), place.id)
}

/// Reads what a client sent back, with the same sort as before.
pub(super) fn read(sort: Sort, cursor: &str) -> Result<Place, ReadError> {
    let place = || {
        let mut parts = cursor.splitn(3, ':');
        let (word, value, id) = (parts.next()?, parts.next()?, parts.next()?);
        let value = match value {
            "none" => None,
            number => Some(number.parse().ok()?),
        };
        let same = word == sort.as_str().trim_start_matches('-');
        same.then_some(Place { value, id: id.parse().ok()? })
    };
    place().ok_or_else(|| ReadError::Cursor(cursor.chars().take(64).collect()))
}
