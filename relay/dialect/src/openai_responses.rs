//! OpenAI responses, on both sides of the relay.

pub(super) mod finish;
mod items;
mod limits;
mod read_request;
mod reader;
mod references;
mod usage;
mod write_request;
mod writer;

pub(super) use limits::{ANSWERED, ASKED, LIMITS};
pub use read_request::{needs, pass_through, read_request};
pub(super) use reader::ResponsesReader;
pub(super) use references::{follow, kept};
pub use write_request::{can_be_told, write_request};
pub(super) use writer::ResponsesWriter;
