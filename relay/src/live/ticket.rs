//! Moments, places among those that wait, and what they belong to.

/// A moment in milliseconds, by a clock that only goes forward.
pub type At = u64;

/// A place among those that wait; given back with the end.
pub type Ticket = u64;

/// An attempt's ladder and rung, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// The ladder.
    pub ladder: usize,
    /// The rung.
    pub rung: usize,
}
