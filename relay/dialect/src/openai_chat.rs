//! OpenAI chat completions, as OpenAI and everyone else serves them.
//!
//! On both sides of the relay: what a client asks, what a provider answers, and
//! how the relay's own errors look to such a client. Where both sides speak it,
//! payloads pass through as the bytes they are; only the framing is normalised.

mod aggregate;
mod calls;
mod chunk;
pub(super) mod finish;
mod limits;
mod models;
mod opaque;
mod read_request;
mod reader;
mod repair;
mod through;
mod usage;
mod whole;
mod write_request;
mod writer;
mod written;

pub(super) use limits::ASKED;
pub use limits::limits;
pub use models::{model_body, models_body};
pub(super) use opaque::Opaque;
pub use read_request::{choices, needs, pass_through, read_request, wants_usage};
pub(super) use reader::ChatReader;
pub(super) use through::Through;
pub use write_request::{can_be_told, write_request};
pub(super) use writer::ChatWriter;

use super::neutral::Finish;

/// The end of a stream. Written by the relay, never passed on from a provider.
pub const TERMINATOR: &[u8] = b"data: [DONE]\n\n";

/// The data of a terminator.
pub(super) const DONE: &[u8] = b"[DONE]";

/// OpenAI's word for the reason. A model that called tools waits for them.
const fn finish_reason(finish: Option<Finish>, called: bool) -> &'static str {
    match finish {
        Some(Finish::Length) => "length",
        Some(Finish::ContentFilter | Finish::Refusal) => "content_filter",
        _ if called => "tool_calls",
        _ => "stop",
    }
}
