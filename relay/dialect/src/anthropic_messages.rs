//! Anthropic messages, on both sides of the relay.

mod aggregate;
pub(super) mod finish;
mod limits;
mod read_request;
mod reader;
mod usage;
mod whole;
mod write_request;
mod writer;

pub(super) use aggregate::Aggregate;
pub(super) use limits::{ANSWERED, ASKED, LIMITS};
pub use read_request::{needs, pass_through, read_request};
pub(super) use reader::MessagesReader;
pub use write_request::{can_be_told, write_request};
pub(super) use writer::MessagesWriter;

use super::neutral::Finish;

/// The end of a stream.
const STOP: &[u8] = b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// Anthropic's word for the reason. A model that called tools waits for them, whatever
/// its own dialect said; one that gave no reason has said all.
const fn stop_reason(finish: Option<Finish>, called: bool, refused: bool) -> &'static str {
    match finish {
        Some(Finish::Length) => "max_tokens",
        Some(Finish::ContentFilter | Finish::Refusal) => "refusal",
        _ if refused => "refusal",
        _ if called => "tool_use",
        Some(Finish::StopSequence) => "stop_sequence",
        Some(Finish::Pause) => "pause_turn",
        Some(Finish::Stop | Finish::ToolCalls) | None => "end_turn",
    }
}
