//! What is shown: which relays, and which screen.

/// Which relays are shown together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// All relays of this one's env.
    Env(usize),
    /// This one alone.
    One(usize),
}

impl Default for View {
    fn default() -> Self {
        Self::Env(0)
    }
}

/// A screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Screen {
    /// How everything stands.
    #[default]
    Board,
    /// What was asked, tried and answered.
    History,
    /// When breakers turned, and why.
    Breakers,
    /// Who changed what.
    Actions,
    /// Which relays are watched.
    Setup,
}

impl Screen {
    /// All of them, in the order of their keys.
    pub const ALL: [Self; 5] =
        [Self::Board, Self::History, Self::Breakers, Self::Actions, Self::Setup];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Board => "Board",
            Self::History => "History",
            Self::Breakers => "Breakers",
            Self::Actions => "Actions",
            Self::Setup => "Setup",
        }
    }
}
