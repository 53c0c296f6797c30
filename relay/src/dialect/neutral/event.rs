//! What an answer says, piece by piece.

use std::borrow::Cow;

/// One thing that an answer says. Texts are lent from the event that brought them
/// where that needs no decoding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// The answer has begun. No content. Said once, before everything else.
    Begin {
        /// The provider's id of the answer; may be empty.
        id: Cow<'a, str>,
        /// The model as the provider names it; may be empty.
        model: Cow<'a, str>,
    },
    /// A piece of the answer's text. Never empty.
    Text(Cow<'a, str>),
    /// A piece of reasoning. Never empty.
    Reasoning(Cow<'a, str>),
    /// The proof of the reasoning just before: opaque, and of use to its provider alone.
    Signature(Cow<'a, str>),
    /// Reasoning that only its provider can read.
    Redacted(Cow<'a, str>),
    /// A piece of a refusal's text. Never empty.
    Refusal(Cow<'a, str>),
    /// A tool call has begun. Calls are numbered from 0, in the order of their beginnings.
    Call {
        /// Its number.
        call: usize,
        /// Its id, unique in the answer. May be empty where the provider gives none;
        /// whoever writes it on must then make one.
        id: Cow<'a, str>,
        /// The tool's name.
        name: Cow<'a, str>,
        /// Its input is free text, not JSON.
        custom: bool,
    },
    /// A piece of a call's arguments: JSON as text, as it was written. Never empty.
    Arguments {
        /// The call's number.
        call: usize,
        /// The piece.
        json: Cow<'a, str>,
    },
    /// The proof that belongs to a call; said just before the call begins.
    CallSignature {
        /// The call's number.
        call: usize,
        /// The proof.
        signature: Cow<'a, str>,
    },
    /// The model has finished. May be said twice, and taken back by content that follows.
    Finish {
        /// Why.
        finish: Finish,
        /// The stop sequence that was hit, where the provider tells.
        stop_sequence: Option<Cow<'a, str>>,
    },
}

impl Event<'_> {
    /// Whether it is what the design calls a token.
    #[must_use]
    pub const fn is_content(&self) -> bool {
        matches!(
            self,
            Self::Text(_)
                | Self::Reasoning(_)
                | Self::Redacted(_)
                | Self::Refusal(_)
                | Self::Call { .. }
                | Self::Arguments { .. }
        )
    }
}

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
    /// A reason that this version does not know.
    Other,
}

impl Finish {
    /// Its word in [`Facts`](crate::dialect::answer::Facts), which is that of chat completions.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stop | Self::StopSequence | Self::Pause => "stop",
            Self::Length => "length",
            Self::ToolCalls => "tool_calls",
            Self::ContentFilter => "content_filter",
            Self::Refusal => "refusal",
            Self::Other => "other",
        }
    }
}
