//! The events of an answer, in the neutral form.

use crate::neutral::{Finish, Text};

/// One event of an answer. Its texts are borrowed from the provider's event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event<'a> {
    /// The answer has begun. This is not content. Emitted once, before all other events.
    Begin {
        /// The provider's id of the answer; may be empty.
        id: Text<'a>,
        /// The model as the provider names it; may be empty.
        model: Text<'a>,
    },
    /// A piece of the answer's text. Never empty.
    Text(Text<'a>),
    /// A piece of reasoning. Never empty.
    Reasoning(Text<'a>),
    /// The signature of the reasoning just before: opaque, and only its provider can use it.
    Signature(Text<'a>),
    /// Reasoning that only its provider can read. It is a token in some dialects only.
    Redacted(Text<'a>),
    /// A piece of a refusal's text. Never empty.
    Refusal(Text<'a>),
    /// A tool call has begun. Calls are numbered from 0, in the order of their beginnings.
    Call {
        /// Its number.
        call: usize,
        /// Its id, unique in the answer. May be empty if the provider gives none; a writer must
        /// then make one.
        id: Text<'a>,
        /// The tool's name.
        name: Text<'a>,
        /// Its input is free text, not JSON.
        custom: bool,
    },
    /// A piece of a call's arguments: JSON as text, as the provider wrote it. Never empty.
    Arguments {
        /// The call's number.
        call: usize,
        /// The piece.
        json: Text<'a>,
    },
    /// The signature that belongs to a call; emitted just before the call begins.
    CallSignature {
        /// The call's number.
        call: usize,
        /// The signature.
        signature: Text<'a>,
    },
    /// The model has finished. May be emitted twice. Content that follows cancels it.
    Finish {
        /// Why.
        finish: Finish,
        /// The stop sequence that was hit, if the provider sends it.
        stop_sequence: Option<Text<'a>>,
    },
}

impl<'a> Event<'a> {
    /// The same event with texts of its own.
    #[must_use]
    pub fn into_owned(self) -> Event<'static> {
        match self {
            Self::Begin { id, model } => {
                Event::Begin { id: id.into_owned(), model: model.into_owned() }
            }
            Self::Text(text) => Event::Text(text.into_owned()),
            Self::Reasoning(text) => Event::Reasoning(text.into_owned()),
            Self::Signature(text) => Event::Signature(text.into_owned()),
            Self::Redacted(text) => Event::Redacted(text.into_owned()),
            Self::Refusal(text) => Event::Refusal(text.into_owned()),
            Self::Call { call, id, name, custom } => {
                Event::Call { call, id: id.into_owned(), name: name.into_owned(), custom }
            }
            Self::Arguments { call, json } => Event::Arguments { call, json: json.into_owned() },
            Self::CallSignature { call, signature } => {
                Event::CallSignature { call, signature: signature.into_owned() }
            }
            Self::Finish { finish, stop_sequence } => {
                Event::Finish { finish, stop_sequence: stop_sequence.map(Text::into_owned) }
            }
        }
    }

    /// How many bytes its texts have.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let len = |text: &Text<'a>| text.escaped().len();
        match self {
            Self::Text(text)
            | Self::Reasoning(text)
            | Self::Signature(text)
            | Self::Redacted(text)
            | Self::Refusal(text)
            | Self::Arguments { json: text, .. }
            | Self::CallSignature { signature: text, .. } => len(text),
            Self::Begin { id: one, model: other } | Self::Call { id: one, name: other, .. } => {
                len(one).saturating_add(len(other))
            }
            Self::Finish { stop_sequence, .. } => stop_sequence.as_ref().map_or(0, len),
        }
    }

    /// Whether it is a token: text, reasoning, refusal, or a part of a tool call.
    #[must_use]
    pub const fn is_content(&self) -> bool {
        matches!(
            self,
            Self::Text(_)
                | Self::Reasoning(_)
                | Self::Refusal(_)
                | Self::Call { .. }
                | Self::Arguments { .. }
        )
    }
}
