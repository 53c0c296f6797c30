//! The endpoints of providers, and how they are called.

/// An endpoint of a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Endpoint {
    /// Answers a prompt. Every dialect has it, and its answers are translated between all dialects.
    #[default]
    Answer,
    /// OpenAI's old text completions.
    Completions,
    /// OpenAI's embeddings.
    Embeddings,
    /// OpenAI's moderations.
    Moderations,
    /// Anthropic's count of a prompt's tokens.
    CountTokens,
}

impl Endpoint {
    /// Its name in errors: the end of its path.
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

    /// The field that holds the prompt.
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
    /// The path that is added to a base URL without a path; empty: nothing is added.
    pub version: &'static str,
    /// The path of each endpoint that the providers have, below the base URL. `{model}` stands for
    /// the model's name.
    pub paths: &'static [(Endpoint, &'static str)],
    /// A prefix that some write before a model's name. It is left out of the path.
    pub model_prefix: &'static str,
    /// A pair that is always in the query.
    pub query: Option<(&'static str, &'static str)>,
    /// Headers that every call gets, unless the client sent its own.
    pub headers: &'static [(&'static str, &'static str)],
    /// The header that carries the key, and the prefix of its value. The key is never part of the
    /// address: addresses are logged.
    pub credential: (&'static str, &'static str),
    /// Client headers that are passed on: the API version that its SDK was made for, and the beta
    /// features that it wants.
    pub along: &'static [&'static str],
}

impl Address {
    /// The path of `endpoint`; `None`: the providers do not have it.
    #[must_use]
    pub fn path(&self, endpoint: Endpoint) -> Option<&'static str> {
        self.paths.iter().find(|(one, _)| *one == endpoint).map(|(_, path)| *path)
    }
}
