//! OpenAI responses, on both sides of the relay.

mod items;
mod read_request;
mod reader;
mod usage;
mod write_request;
mod writer;

pub use read_request::{needs, pass_through, read_request};
pub(super) use reader::ResponsesReader;
pub use write_request::write_request;
pub(super) use writer::ResponsesWriter;
