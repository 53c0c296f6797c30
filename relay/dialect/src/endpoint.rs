//! What of a dialect is called, and how its providers are reached.

/// An endpoint of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Endpoint {
    /// Gives an answer. Every dialect has one, and each is translated into each.
    #[default]
    Answer,
    /// OpenAI's old completions of a text.
    Completions,
    /// OpenAI's embeddings.
    Embeddings,
    /// OpenAI's moderations.
    Moderations,
    /// Anthropic's count of a prompt's tokens.
    CountTokens,
}

impl Endpoint {
    /// What it is called in errors: the end of its path.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Answer => "answers",
            Self::Completions => "completions",
            Self::Embeddings => "embeddings",
            Self::Moderations => "moderations",
            Self::CountTokens => "count_tokens",
        }
    }

    /// The field that holds what is asked.
    pub(crate) const fn main_field(self) -> &'static str {
        match self {
            Self::Answer | Self::CountTokens => "messages",
            Self::Completions => "prompt",
            Self::Embeddings | Self::Moderations => "input",
        }
    }
}

/// How the providers of a dialect are called.
#[derive(Debug)]
pub struct Address {
    /// What is added to a base URL without a path; empty: nothing.
    pub version: &'static str,
    /// The path of each endpoint that they have, below the base URL. `{model}` stands for the
    /// model's name.
    pub paths: &'static [(Endpoint, &'static str)],
    /// What some write before a model's name, and what is not part of it in a path.
    pub model_prefix: &'static str,
    /// A pair that the query always has.
    pub query: Option<(&'static str, &'static str)>,
    /// Headers that each call has.
    pub headers: &'static [(&'static str, &'static str)],
    /// The header that carries the key, and what stands before it. Never in the address: those
    /// are logged.
    pub credential: (&'static str, &'static str),
    /// Headers of a client's that go along: what its SDK was made for, and what it wants to try.
    pub along: &'static [&'static str],
}

impl Address {
    /// The path of `endpoint`; `None`: they do not have it.
    #[must_use]
    pub fn path(&self, endpoint: Endpoint) -> Option<&'static str> {
        self.paths.iter().find(|(one, _)| *one == endpoint).map(|(_, path)| *path)
    }
}
