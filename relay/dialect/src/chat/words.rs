//! Fixed texts of chat streams.

use crate::neutral::Finish;

/// The end of a stream. Written by the relay, never passed on from a provider.
pub const TERMINATOR: &[u8] = b"data: [DONE]\n\n";

/// The data of a terminator.
pub const DONE: &[u8] = b"[DONE]";

/// OpenAI's word for a finish reason. A model that called tools waits for their results.
pub(crate) const fn finish_reason(finish: Option<Finish>, called: bool) -> &'static str {
    match finish {
        Some(Finish::Length) => "length",
        Some(Finish::ContentFilter | Finish::Refusal) => "content_filter",
        _ if called => "tool_calls",
        _ => "stop",
    }
}
