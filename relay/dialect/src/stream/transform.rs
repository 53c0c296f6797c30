//! What turns a provider's payloads into what the client gets.

use crate::neutral::Names;
use crate::stream::facts::{End, Facts, Progress};
use crate::stream::sse::Event;
use bytes::BytesMut;

/// Everything of an answer but its framing.
pub(crate) trait Transform: std::fmt::Debug + Send {
    /// One event of the stream.
    fn event(
        &mut self,
        event: &Event<'_>,
        out: &mut BytesMut,
        progress: &mut Progress,
    ) -> Option<End>;

    /// A 200 whose body is one JSON document.
    fn whole(&mut self, body: &[u8], out: &mut BytesMut, progress: &mut Progress) -> End;

    /// Bytes of the body as they came, before their events. Only where a provider says
    /// something outside of events.
    fn beside(&mut self, _bytes: &[u8]) -> Option<End> {
        None
    }

    /// What it means that the body has ended here.
    fn end_of_body(&mut self) -> End;

    /// What was kept back for the ending of a stream, but the terminator.
    fn take_tail(&mut self) -> BytesMut;

    /// What ends the client's stream.
    fn take_terminator(&mut self) -> BytesMut;

    /// The answer as one JSON body.
    fn take_whole(&mut self) -> Vec<u8>;

    fn facts(&self) -> &Facts;

    fn facts_mut(&mut self) -> &mut Facts;

    /// Bytes that are held.
    fn held(&self) -> usize;

    /// From now on it tells tools by their own names, where it looks at each call.
    fn restore(&mut self, _names: &Names) {}

    /// Events that were written, where the client's dialect numbers them.
    fn sequence(&self) -> u64 {
        0
    }
}
