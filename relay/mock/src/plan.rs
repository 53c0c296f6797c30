//! A stream in the order in which it is sent, before any fault is applied.
//!
//! A dialect describes its whole answer once, event by event, and says which events are tokens. The
//! script decides where the stream is cut, stalled or broken.

use bytes::Bytes;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What is sent with the head, before the first token.
    pub(super) prelude: Vec<Bytes>,
    /// The tokens.
    pub(super) tokens: Vec<Token>,
    /// What follows the last token; its last event is the terminator.
    pub(super) end: Vec<Bytes>,
    /// The last token with the end in the same event, for dialects that have no event for the end.
    /// Then `end` is only for answers without a token.
    pub(super) last: Option<Bytes>,
}

/// A token, and the events between it and the token before it.
#[derive(Debug)]
pub(super) struct Token {
    /// The end of a block and the start of the next one.
    pub(super) before: Vec<Bytes>,
    /// The token's event.
    pub(super) event: Bytes,
}

impl Plan {
    /// Adds an event that is not content.
    pub(super) fn event(&mut self, event: Bytes) {
        self.end.push(event);
    }

    /// Moves all events so far to the prelude: they are sent before the first token.
    pub(super) fn open(&mut self) {
        self.prelude.append(&mut self.end);
    }

    /// Adds a token.
    pub(super) fn token(&mut self, event: Bytes) {
        self.tokens.push(Token { before: std::mem::take(&mut self.end), event });
    }
}
