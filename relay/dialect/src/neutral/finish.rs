//! Why a model has finished, and what a provider's word for it means.
//!
//! Each dialect has one closed table of words. Readers, the pass-through and the aggregates
//! all look there. A word that is in no table does not say that the answer is whole: it means
//! that the answer was interrupted.

/// Why a model has finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// It had said all.
    Stop,
    /// A stop sequence was hit.
    StopSequence,
    /// The answer, or the context, was at its limit.
    Length,
    /// It wants its tools called.
    ToolCalls,
    /// A content filter ended it.
    ContentFilter,
    /// It refused.
    Refusal,
    /// It paused in a loop of the provider's own tools.
    Pause,
}

impl Finish {
    /// Its word in [`Facts`](crate::answer::Facts), which is that of chat completions.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop | Self::StopSequence | Self::Pause => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
        }
    }
}

/// What a provider's word says about the end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Meaning {
    /// Nothing: the answer goes on.
    #[default]
    NotYet,
    /// The answer is whole, or as whole as this reason lets it be.
    Finished(Finish),
    /// The answer broke off, or nobody knows what the word means.
    Interrupted,
}

/// A dialect's words for the end of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub &'static [(&'static str, Meaning)]);

impl Words {
    /// What `word` means. Case does not matter: gateways change it. An empty word is none.
    #[must_use]
    pub fn meaning(&self, word: &str) -> Meaning {
        if word.is_empty() {
            return Meaning::NotYet;
        }
        self.known(word).unwrap_or(Meaning::Interrupted)
    }

    /// What `word` means, if it stands in the table.
    #[must_use]
    pub fn known(&self, word: &str) -> Option<Meaning> {
        let known = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
        known.map(|(_, meaning)| *meaning)
    }
}
