//! Limits for the schemas that the relay accepts.

/// The longest chain of references and combinations that apply to the same value: a
/// validator recurses along it.
pub(super) const DEEPEST: usize = 100;
/// The most checks that one value may cost, references followed.
pub(super) const MOST_AT_ONCE: u64 = 10_000;
/// The most parts that a schema may have.
pub(super) const MOST_PARTS: usize = 20_000;
/// The most patterns that a schema may have: each one is compiled.
pub(super) const MOST_PATTERNS: usize = 500;
