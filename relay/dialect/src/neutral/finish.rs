//! Finish reasons, and what a provider's word for one means.
//!
//! Each dialect has one closed table of words. Readers, the pass-through and the code that puts
//! whole answers together all use it. A word that is in no table does not prove that the answer is
//! whole: it means that the answer was interrupted.

/// A finish reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// The answer is complete.
    Stop,
    /// A stop sequence was hit.
    StopSequence,
    /// The answer, or the context, was at its limit.
    Length,
    /// The model wants tools to be called.
    ToolCalls,
    /// A content filter ended it.
    ContentFilter,
    /// The model refused.
    Refusal,
    /// The model paused in a loop of the provider's own tools.
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

/// What a provider's word means for the end of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Meaning {
    /// Nothing: the answer goes on.
    #[default]
    NotYet,
    /// The answer is whole, or as whole as this reason lets it be.
    Finished(Finish),
    /// The answer broke off, or the word is unknown.
    Interrupted,
}

/// A dialect's words for the end of an answer.
#[derive(Debug, Clone, Copy)]
pub struct Words(pub &'static [(&'static str, Meaning)]);

impl Words {
    /// What `word` means. Case does not matter, because gateways change it. An empty word means
    /// nothing.
    #[must_use]
    pub fn meaning(&self, word: &str) -> Meaning {
        if word.is_empty() {
            return Meaning::NotYet;
        }
        self.known(word).unwrap_or(Meaning::Interrupted)
    }

    /// What `word` means; `None`: it is not in the table.
    #[must_use]
    pub fn known(&self, word: &str) -> Option<Meaning> {
        let known = self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
        known.map(|(_, meaning)| *meaning)
    }
}
