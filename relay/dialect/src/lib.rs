//! Wire formats: bytes are read into events, and events are written as bytes.
//!
//! Everything here is pure: no socket, no clock, no configuration. A reader gets bytes in pieces as
//! the network delivers them. It returns what they mean, and any split of the same bytes gives the
//! same events. So the one part of the relay that reads untrusted bytes is also the part that is
//! easiest to test.
//!
//! Upstream bytes are not trusted. Every reader takes linear time for what it reads, and bounded
//! memory for what it keeps.

//!
//! [`table`] has a row for each dialect, and [`spec`] is the trait that each one fulfils. Each
//! dialect has a folder: `chat`, `responses`, `messages`, `gemini`. [`request`] and [`answer`] are
//! the relay's view of a request and of an answer; `common`, `neutral` and `stream` are shared by
//! the dialects.

pub mod answer;
mod chat;
pub mod client_error;
mod common;
pub mod endpoint;
pub mod errors;
mod gemini;
mod messages;
pub mod neutral;
pub mod request;
mod responses;
pub mod schema;
mod spec;
pub mod stamp;
mod stream;
pub mod table;

#[cfg(test)]
mod tests;

pub use chat::{DONE, TERMINATOR, model_body, models_body};
pub use common::quoted::is_quoted;
pub use common::retry_after::retry_after;
