//! Writes an answer that came in one piece, although a stream was asked for, as a stream of the
//! same dialect.
//!
//! The stream is made of the answer's own parts, unchanged. A part that is not known here passes
//! through whole, in the event that begins it. Each dialect has its own events; what they share is
//! here.

use crate::common::fields::Writer;
use crate::stream::frame;
use bytes::BytesMut;

/// The parts of a stream.
#[derive(Debug, Default)]
pub(crate) struct Replayed {
    pub(crate) out: BytesMut,
    /// What belongs to the ending, except the terminator.
    pub(crate) tail: BytesMut,
    pub(crate) terminator: BytesMut,
}

/// Writes an object of these members, each value as it is.
pub(crate) fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut writer = Writer::new(Vec::new());
    members.for_each(|(key, value)| writer.raw(key, value));
    String::from_utf8_lossy(&writer.finish()).into_owned()
}

/// Writes an event of this name and type, with these members.
pub(crate) fn event(name: &str, members: &[(&str, &str)], out: &mut BytesMut) {
    let kind = format!("\"{name}\"");
    let all = std::iter::once(("type", kind.as_str())).chain(members.iter().copied());
    frame::named(name, &object(all), out);
}
