//! Puts a whole answer together from its events. Its texts stay escaped, as they came.

use crate::neutral::{Event, Finish};

/// A whole answer, as far as it has come. Every text in it is escaped as in JSON.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The provider's id of it; may be empty.
    pub id: String,
    /// The model as the provider names it; may be empty.
    pub model: String,
    /// Its content, in order; neighbours of one kind are one piece.
    pub pieces: Vec<Piece>,
    /// Why it finished.
    pub finish: Option<Finish>,
    /// The stop sequence that was hit.
    pub stop_sequence: Option<String>,
    /// The place of each call among the pieces.
    calls: Vec<usize>,
    /// A signature whose call has not begun yet.
    signature: Option<String>,
    /// How many bytes are held.
    held: usize,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text.
    Text(String),
    /// Reasoning, with its signature.
    Reasoning {
        /// The text.
        text: String,
        /// The signature.
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
        /// The signature that belongs to it.
        signature: Option<String>,
    },
}

/// The memory of a piece besides its text.
const PIECE: usize = 2 * size_of::<Piece>();

impl Answer {
    /// Adds an event.
    pub fn add(&mut self, event: &Event<'_>) {
        if event.is_content() {
            // Content after a finish reason cancels it.
            self.finish = None;
        }
        match event {
            Event::Begin { id, model } => {
                self.id = id.escaped().to_owned();
                self.model = model.escaped().to_owned();
            }
            Event::Text(text) => match self.pieces.last_mut() {
                Some(Piece::Text(all)) => grow(all, text.escaped(), &mut self.held),
                _ => self.push(Piece::Text(text.escaped().to_owned()), text.escaped().len()),
            },
            Event::Reasoning(text) => match self.pieces.last_mut() {
                Some(Piece::Reasoning { text: all, signature: None }) => {
                    grow(all, text.escaped(), &mut self.held);
                }
                _ => {
                    let piece =
                        Piece::Reasoning { text: text.escaped().to_owned(), signature: None };
                    self.push(piece, text.escaped().len());
                }
            },
            Event::Signature(proof) => match self.pieces.last_mut() {
                // A signature comes in one event: the next one belongs to other reasoning.
                Some(Piece::Reasoning { signature: signature @ None, .. }) => {
                    grow(signature.get_or_insert_default(), proof.escaped(), &mut self.held);
                }
                _ => {
                    let signature = Some(proof.escaped().to_owned());
                    self.push(
                        Piece::Reasoning { text: String::new(), signature },
                        proof.escaped().len(),
                    );
                }
            },
            Event::Redacted(data) => {
                self.push(Piece::Redacted(data.escaped().to_owned()), data.escaped().len())
            }
            Event::Refusal(text) => match self.pieces.last_mut() {
                Some(Piece::Refusal(all)) => grow(all, text.escaped(), &mut self.held),
                _ => self.push(Piece::Refusal(text.escaped().to_owned()), text.escaped().len()),
            },
            Event::CallSignature { signature, .. } => {
                self.held = self.held.saturating_add(signature.escaped().len());
                self.signature = Some(signature.escaped().to_owned());
            }
            Event::Call { call, id, name, custom } => {
                let piece = Piece::Call {
                    call: *call,
                    id: id.escaped().to_owned(),
                    name: name.escaped().to_owned(),
                    arguments: String::new(),
                    custom: *custom,
                    signature: self.signature.take(),
                };
                self.calls.push(self.pieces.len());
                let bytes = id.escaped().len().saturating_add(name.escaped().len());
                self.push(piece, bytes);
            }
            Event::Arguments { call, json } => {
                let place = self.calls.get(*call).copied();
                let piece = place.and_then(|place| self.pieces.get_mut(place));
                if let Some(Piece::Call { arguments, .. }) = piece {
                    grow(arguments, json.escaped(), &mut self.held);
                }
            }
            Event::Finish { finish, stop_sequence } => {
                self.finish = Some(*finish);
                if let Some(text) = stop_sequence {
                    self.stop_sequence = Some(text.escaped().to_owned());
                }
            }
        }
    }

    /// Whether it has text, and neither tool calls nor a refusal.
    #[must_use]
    pub fn is_plain_text(&self) -> bool {
        let other = |piece: &Piece| matches!(piece, Piece::Call { .. } | Piece::Refusal(_));
        !self.pieces.iter().any(other)
    }

    /// Its text, decoded.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.map(crate::neutral::decode).collect()
    }

    /// How many bytes are held, estimated.
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
