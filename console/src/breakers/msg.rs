//! What the engineer does on Breakers.

use shared::UnixMillis;

/// What the engineer does on Breakers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Msg {
    /// This span.
    Span(usize),
    /// The cursor goes to this moment.
    Cursor(UnixMillis),
}
