//! The numbers that identify rungs, ladders and attempts in the core.

/// A ladder's place on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LadderIndex(pub usize);

/// A rung's place on the board; the same for all ladders that have this rung.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RungIndex(pub usize);

/// An attempt's number within its request, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptId(pub u32);
