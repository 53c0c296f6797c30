//! The list of commands, while it is open.

/// What was typed, and which command of those that it finds is chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Palette {
    /// What was typed.
    pub text: String,
    /// The place of the chosen one.
    pub at: usize,
}
