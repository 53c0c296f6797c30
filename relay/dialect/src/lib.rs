//! Wire formats: bytes to events to bytes.
//!
//! Everything here is pure. No socket, no clock, no configuration: a reader is
//! handed whatever the network gave and says what it heard, and any split of
//! the same bytes gives the same events. That makes the one part of the relay
//! that reads untrusted bytes also the part that is easiest to test.
//!
//! Upstream bytes are hostile until proven otherwise, so every reader is linear
//! in what it is fed and bounded in what it keeps.

//!
//! [`table`] has a row for each dialect, [`spec`] is what each fulfils, and each is a folder:
//! `chat`, `responses`, `messages`, `gemini`. [`request`] and [`answer`] are what the relay
//! holds of a request and an answer; `common`, `neutral` and `stream` are what dialects share.

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
