//! How much a client gets to know about its answer's attempts and cost.

use super::tree::Value;
use toml::de::DeValue;

/// What a client is told beside its answer: in the stamp, in headers and in errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stamp {
    /// The ids that an operator asks for, and nothing else.
    None,
    /// What the client can measure for itself: times, tokens, how it ended.
    Id,
    /// Also what is the operator's business: rungs, attempts, prices.
    Full,
}

const WORDS: &[(&str, Stamp)] = &[("none", Stamp::None), ("id", Stamp::Id), ("full", Stamp::Full)];

/// Reads one of the words; `true` and `false` are those of older configs.
pub(super) fn read(value: &Value<'_>) -> Option<Stamp> {
    match value.raw {
        DeValue::Boolean(true) => Some(Stamp::Full),
        DeValue::Boolean(false) => Some(Stamp::None),
        DeValue::String(_) => value.word(WORDS),
        _ => {
            value.wrong("\"none\", \"id\" or \"full\"", "write one of the three words");
            None
        }
    }
}
