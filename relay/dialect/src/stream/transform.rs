//! Turns a provider's payloads into the client's bytes.

use crate::neutral::Names;
use crate::stream::facts::{End, Facts, Progress};
use crate::stream::sse::Event;
use bytes::BytesMut;

/// Handles everything of an answer except the framing of the provider's events.
pub(crate) trait Transform: std::fmt::Debug + Send {
    /// Reads one event of the stream.
    fn event(
        &mut self,
        event: &Event<'_>,
        out: &mut BytesMut,
        progress: &mut Progress,
    ) -> Option<End>;

    /// Reads the body of a 200 that is one JSON document.
    fn whole(&mut self, body: &[u8], out: &mut BytesMut, progress: &mut Progress) -> End;

    /// Reads bytes of the body as they came, for an error outside of events. Called only if the
    /// provider sends such errors.
    fn beside(&mut self, _bytes: &[u8]) -> Option<End> {
        None
    }

    /// What kind of end it is if the body ends here.
    fn end_of_body(&mut self) -> End;

    /// Takes what was kept back for the ending of a stream, except the terminator.
    fn take_tail(&mut self) -> BytesMut;

    /// Takes what ends the client's stream.
    fn take_terminator(&mut self) -> BytesMut;

    /// Takes the answer as one JSON body.
    fn take_whole(&mut self) -> Vec<u8>;

    fn facts(&self) -> &Facts;

    fn facts_mut(&mut self) -> &mut Facts;

    /// How many bytes are held.
    fn held(&self) -> usize;

    /// From now on, restores the client's tool names. Does nothing if names are restored elsewhere.
    fn restore(&mut self, _names: &Names) {}

    /// How many events were written, if the client's dialect numbers them; else 0.
    fn sequence(&self) -> u64 {
        0
    }
}
