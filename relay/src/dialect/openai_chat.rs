//! OpenAI chat completions, as OpenAI and everyone else serves them.
//!
//! On both sides of the relay: what a client asks, what a provider answers, and
//! how the relay's own errors look to such a client. Where both sides speak it,
//! payloads pass through as the bytes they are; only the framing is normalised.

mod aggregate;
mod answer;
mod chunk;
mod error;
mod models;
mod request;
mod usage;
mod visit;
mod whole;

pub use super::provider_error::ProviderError;
pub use answer::{AnswerReader, AnswerSpec, End, Facts, Form, Heard};
pub use error::{BelayError, ClientError, error_body, error_event};
pub use models::models_body;
pub use request::{ChatRequest, Needs, Reject};

/// The end of a stream. Written by the relay, never passed on from a provider.
pub const TERMINATOR: &[u8] = b"data: [DONE]\n\n";
