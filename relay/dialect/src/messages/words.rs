//! Fixed texts of streams of messages.

use crate::neutral::Finish;

/// The end of a stream.
pub(crate) const STOP: &[u8] = b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// Anthropic's word for a finish reason. A model that called tools waits for their results,
/// whatever its own dialect's word was; without a reason the answer is complete.
pub(crate) const fn stop_reason(
    finish: Option<Finish>,
    called: bool,
    refused: bool,
) -> &'static str {
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
