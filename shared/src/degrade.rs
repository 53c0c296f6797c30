//! What a rung is asked less of, where it lacks what the client wants.

/// `degrade` of a rung, or what of it happens to one request. Default nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Degrade {
    /// Its provider is not asked to hold the answer to a JSON schema: the schema goes into the
    /// system prompt, and the relay checks the answer and asks once more. Not for streams: what
    /// has left cannot be checked.
    pub json_schema: bool,
    /// One tool call at a time is asked for.
    pub parallel_tools: bool,
    /// A request for a longer answer than the rung gives asks for as long a one as it gives.
    pub max_output: bool,
}

impl Degrade {
    /// The words that the journal has for it.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let words = [
            (self.json_schema, "json_schema"),
            (self.parallel_tools, "parallel_tools"),
            (self.max_output, "max_output"),
        ];
        words.into_iter().filter_map(|(is, word)| is.then_some(word))
    }
}
