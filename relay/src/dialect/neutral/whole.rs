//! An answer put together from its pieces.

use super::event::{Event, Finish};

/// A whole answer, as far as it has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The provider's id of it; may be empty.
    pub id: String,
    /// The model as the provider names it; may be empty.
    pub model: String,
    /// What it says, in order; neighbours of one kind are one piece.
    pub pieces: Vec<Piece>,
    /// Why it finished.
    pub finish: Option<Finish>,
    /// The stop sequence that was hit.
    pub stop_sequence: Option<String>,
    /// Where each call stands among the pieces.
    calls: Vec<usize>,
    /// A proof that waits for its call.
    signature: Option<String>,
    /// Bytes that are held.
    held: usize,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text.
    Text(String),
    /// Reasoning, with its proof.
    Reasoning {
        /// What it thought.
        text: String,
        /// The proof.
        signature: Option<String>,
    },
    /// Reasoning that only its provider can read.
    Redacted(String),
    /// A refusal's text.
    Refusal(String),
    /// A tool call.
    Call {
        /// Its number.
        call: usize,
        /// Its id; may be empty.
        id: String,
        /// The tool.
        name: String,
        /// Its arguments, as they were written.
        arguments: String,
        /// Its input is free text.
        custom: bool,
        /// The proof that belongs to it.
        signature: Option<String>,
    },
}

/// What a piece costs in memory beside its text.
const PIECE: usize = 2 * size_of::<Piece>();

impl Answer {
    /// Adds what an event says.
    pub fn add(&mut self, event: &Event<'_>) {
        match event {
            Event::Begin { id, model } => {
                self.id = id.to_string();
                self.model = model.to_string();
            }
            Event::Text(text) => match self.pieces.last_mut() {
                Some(Piece::Text(all)) => grow(all, text, &mut self.held),
                _ => self.push(Piece::Text(text.to_string()), text.len()),
            },
            Event::Reasoning(text) => match self.pieces.last_mut() {
                Some(Piece::Reasoning { text: all, signature: None }) => {
                    grow(all, text, &mut self.held);
                }
                _ => {
                    let piece = Piece::Reasoning { text: text.to_string(), signature: None };
                    self.push(piece, text.len());
                }
            },
            Event::Signature(proof) => match self.pieces.last_mut() {
                Some(Piece::Reasoning { signature, .. }) => {
                    grow(signature.get_or_insert_default(), proof, &mut self.held);
                }
                _ => {
                    let signature = Some(proof.to_string());
                    self.push(Piece::Reasoning { text: String::new(), signature }, proof.len());
                }
            },
            Event::Redacted(data) => self.push(Piece::Redacted(data.to_string()), data.len()),
            Event::Refusal(text) => match self.pieces.last_mut() {
                Some(Piece::Refusal(all)) => grow(all, text, &mut self.held),
                _ => self.push(Piece::Refusal(text.to_string()), text.len()),
            },
            Event::CallSignature { signature, .. } => self.signature = Some(signature.to_string()),
            Event::Call { call, id, name, custom } => {
                let piece = Piece::Call {
                    call: *call,
                    id: id.to_string(),
                    name: name.to_string(),
                    arguments: String::new(),
                    custom: *custom,
                    signature: self.signature.take(),
                };
                self.calls.push(self.pieces.len());
                self.push(piece, id.len().saturating_add(name.len()));
            }
            Event::Arguments { call, json } => {
                let place = self.calls.get(*call).copied();
                let piece = place.and_then(|place| self.pieces.get_mut(place));
                if let Some(Piece::Call { arguments, .. }) = piece {
                    grow(arguments, json, &mut self.held);
                }
            }
            Event::Finish { finish, stop_sequence } => {
                self.finish = Some(*finish);
                if let Some(text) = stop_sequence {
                    self.stop_sequence = Some(text.to_string());
                }
            }
        }
    }

    /// Bytes that are held, estimated.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.held
    }

    fn push(&mut self, piece: Piece, bytes: usize) {
        self.held = self.held.saturating_add(bytes).saturating_add(PIECE);
        self.pieces.push(piece);
    }
}

fn grow(all: &mut String, piece: &str, held: &mut usize) {
    *held = held.saturating_add(piece.len());
    all.push_str(piece);
}
