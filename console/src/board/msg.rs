//! What the engineer does on the Board.

/// What the engineer does on the Board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Msg {
    /// Selects a rung, on a ladder.
    Select {
        /// The ladder.
        ladder: Option<String>,
        /// The rung.
        rung: Option<String>,
    },
    /// Marks the selected rung, or unmarks it.
    Mark,
    /// Selects these rungs together: a heading of the grouped Board.
    Heading(Vec<String>),
    /// Goes to the worst trouble, or the next or previous one.
    Trouble(isize),
    /// Goes to this one, counted from the worst.
    TroubleAt(usize),
    /// All troubles, or three.
    AllTroubles,
    /// Groups the rungs by something else.
    Turn,
    /// The worst ladders first, or the config's order.
    WorstFirst,
}
