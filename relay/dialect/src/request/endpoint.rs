//! What of a dialect is called, beside the answers that are translated.

use shared::Dialect;

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
    /// The dialect whose providers have it; `None`: all.
    #[must_use]
    pub const fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Answer => None,
            Self::Completions | Self::Embeddings | Self::Moderations => Some(Dialect::OpenaiChat),
            Self::CountTokens => Some(Dialect::AnthropicMessages),
        }
    }

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
    pub(super) const fn asked(self) -> &'static str {
        match self {
            Self::Answer | Self::CountTokens => "messages",
            Self::Completions => "prompt",
            Self::Embeddings | Self::Moderations => "input",
        }
    }
}
