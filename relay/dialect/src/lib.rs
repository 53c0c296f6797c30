//! Wire formats: bytes to events to bytes.
//!
//! Everything here is pure. No socket, no clock, no configuration: a reader is
//! handed whatever the network gave and says what it heard, and any split of
//! the same bytes gives the same events. That makes the one part of the relay
//! that reads untrusted bytes also the part that is easiest to test.
//!
//! Upstream bytes are hostile until proven otherwise, so every reader is linear
//! in what it is fed and bounded in what it keeps.

pub mod answer;
pub mod anthropic_messages;
pub mod client_error;
pub mod fields;
mod frame;
pub mod gemini;
mod json;
pub mod matchers;
pub mod neutral;
pub mod openai_chat;
pub mod openai_responses;
pub mod provider_error;
pub mod quoted;
pub mod request;
pub mod retry_after;
pub mod schema;
mod spots;
pub mod sse;
pub mod stamp;

#[cfg(test)]
mod tests;
