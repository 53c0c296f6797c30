//! `degrade` of a rung: what it is asked less of instead of being passed over.

use super::tree::Value;

/// What is made less of for a rung that lacks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Degrade {
    /// It is not held to a JSON schema by its provider; the relay checks its answer and
    /// asks once more. Not for streams.
    pub json_schema: bool,
    /// It is asked for one tool call at a time.
    pub parallel_tools: bool,
    /// A request for a longer answer than it gives is for as long a one as it gives.
    pub max_output: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    JsonSchema,
    ParallelTools,
    MaxOutput,
}

const WORDS: &[(&str, Word)] = &[
    ("json_schema", Word::JsonSchema),
    ("parallel_tools", Word::ParallelTools),
    ("max_output", Word::MaxOutput),
];

/// Reads a list of words.
pub(super) fn read(value: &Value<'_>) -> Degrade {
    let words = value.words(WORDS).unwrap_or_default();
    Degrade {
        json_schema: words.contains(&Word::JsonSchema),
        parallel_tools: words.contains(&Word::ParallelTools),
        max_output: words.contains(&Word::MaxOutput),
    }
}
