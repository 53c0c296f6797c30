//! What the engineer does on Actions.

/// What the engineer does on Actions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Msg {
    /// Selects an action, by its id.
    Select(String),
}
