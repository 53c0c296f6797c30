//! What the engineer does on Setup.

/// What the engineer does on Setup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Msg {
    /// Alerts by the desktop, or not.
    Desktop,
    /// A sound with them, or not.
    Sound,
    /// An alert to see whether one is seen.
    TryAlert,
    /// UTC or local.
    Utc,
    /// The other theme.
    Theme,
    /// Larger, smaller, or as usual.
    Scale(i32),
}
