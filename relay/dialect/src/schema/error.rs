//! Why the relay does not check answers against a schema.

use super::limits::{DEEPEST, MOST_AT_ONCE, MOST_PARTS, MOST_PATTERNS};
use std::fmt;

/// Why a schema is refused. The text of each reason follows the schema's name, and does not quote
/// the schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaError {
    /// Its JSON nests too deep to be read.
    Nests,
    /// It is not a JSON schema.
    Invalid,
    /// One value would be checked too often.
    Checks,
    /// A chain of references and combinations is too long.
    Chain,
    /// A part refers to itself for the same value.
    Circular,
    /// It has too many parts.
    Parts,
    /// It has too many patterns.
    Patterns,
    /// A part has an `$id` of its own.
    OwnId,
    /// It has a keyword that the relay does not follow.
    Keyword(&'static str),
    /// It refers to something that is not in it.
    Outside,
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nests => f.write_str("it nests too deep"),
            Self::Invalid => f.write_str("it is not a valid JSON schema"),
            Self::Checks => write!(
                f,
                "its references and combinations make more than {MOST_AT_ONCE} checks of one value"
            ),
            Self::Chain => {
                write!(f, "its references and combinations nest over {DEEPEST} deep")
            }
            Self::Circular => f.write_str("a part of it refers to itself for the same value"),
            Self::Parts => write!(f, "it has more than {MOST_PARTS} parts"),
            Self::Patterns => write!(f, "it has more than {MOST_PATTERNS} patterns"),
            Self::OwnId => f.write_str("a part of it has an '$id' of its own"),
            Self::Keyword(keyword) => write!(f, "the relay does not follow '{keyword}'"),
            Self::Outside => f.write_str("it refers to something that is not in it"),
        }
    }
}

impl std::error::Error for SchemaError {}
