//! What is asked of a rung in a weaker form, where it lacks what the client wants.

/// A rung's `degrade` setting, or the part of it that applies to one request. Default nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Degrade {
    /// Its provider is not asked to hold the answer to a JSON schema: the schema goes into the
    /// system prompt, and the relay checks the answer and asks once more. Not for streams: what has
    /// already been sent cannot be checked.
    pub json_schema: bool,
    /// Only one tool call at a time is asked for.
    pub parallel_tools: bool,
    /// If a request allows a longer answer than the rung gives, the longest one that it gives is
    /// asked for.
    pub max_output: bool,
}

impl Degrade {
    /// The words for it in the journal.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let words = [
            (self.json_schema, "json_schema"),
            (self.parallel_tools, "parallel_tools"),
            (self.max_output, "max_output"),
        ];
        words.into_iter().filter_map(|(is, word)| is.then_some(word))
    }
}
