//! How the Board is shown, and what is selected on it.

/// How the Board is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Turn {
    /// A ladder is a row.
    #[default]
    Ladders,
    /// The rungs under their providers.
    Providers,
    /// The rungs under what they share.
    Domains,
}

impl Turn {
    /// The next one.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Ladders => Self::Providers,
            Self::Providers => Self::Domains,
            Self::Domains => Self::Ladders,
        }
    }
}

/// What is selected on the Board: a name, never a position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selected {
    /// A ladder.
    pub ladder: Option<String>,
    /// A rung, on that ladder if one is named.
    pub rung: Option<String>,
}
