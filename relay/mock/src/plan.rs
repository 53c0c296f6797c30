//! A stream in the order in which it goes out, before anything goes wrong.
//!
//! A dialect says its whole answer once, event by event, and tells which of
//! them are tokens; where it is cut, stalled or spoilt is for the script.

use bytes::Bytes;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// What goes out with the head, before the first token.
    pub(super) prelude: Vec<Bytes>,
    /// The tokens.
    pub(super) tokens: Vec<Token>,
    /// What follows the last token; its last event is the terminator.
    pub(super) end: Vec<Bytes>,
    /// The last token with the end in the same event, for dialects that have
    /// no event for the end; `end` is for answers without a token then.
    pub(super) last: Option<Bytes>,
}

/// A token, and the events that lead to it from the one before.
#[derive(Debug)]
pub(super) struct Token {
    /// A block's end, another one's start.
    pub(super) before: Vec<Bytes>,
    /// The token's event.
    pub(super) event: Bytes,
}

impl Plan {
    /// Another event that is none of content.
    pub(super) fn event(&mut self, event: Bytes) {
        self.end.push(event);
    }

    /// All so far needs no token to go out.
    pub(super) fn open(&mut self) {
        self.prelude.append(&mut self.end);
    }

    /// Another token.
    pub(super) fn token(&mut self, event: Bytes) {
        self.tokens.push(Token { before: std::mem::take(&mut self.end), event });
    }
}
