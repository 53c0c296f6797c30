//! OpenAI responses, on both sides of the relay.

mod read_request;
mod write_request;

pub use read_request::{needs, pass_through, read_request};
pub use write_request::write_request;
