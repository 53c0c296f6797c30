//! What the engineer does on Breakers.

/// What the engineer does on Breakers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Msg {
    /// This span.
    Span(usize),
}
