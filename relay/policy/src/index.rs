//! The numbers by which rungs, ladders and attempts are known here.

/// A ladder's place in the config.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LadderIndex(pub usize);

/// A rung's place in the config; the same on every ladder it stands on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RungIndex(pub usize);

/// An attempt's number within its request, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AttemptId(pub u32);
