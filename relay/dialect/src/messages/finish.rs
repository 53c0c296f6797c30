//! Anthropic's stop reasons, with the words that gateways pass on from other dialects.

use crate::neutral::Finish::{
    ContentFilter, Length, Pause, Refusal, Stop, StopSequence, ToolCalls,
};
use crate::neutral::Meaning::{Finished, Interrupted};
use crate::neutral::Words;

pub(crate) const STOP_REASONS: Words = Words(&[
    ("end_turn", Finished(Stop)),
    ("stop", Finished(Stop)),
    ("stop_sequence", Finished(StopSequence)),
    ("pause_turn", Finished(Pause)),
    ("compaction", Finished(Pause)),
    ("tool_use", Finished(ToolCalls)),
    ("tool_calls", Finished(ToolCalls)),
    ("max_tokens", Finished(Length)),
    ("length", Finished(Length)),
    ("model_context_window_exceeded", Finished(Length)),
    ("refusal", Finished(Refusal)),
    ("content_filter", Finished(ContentFilter)),
    ("sensitive", Finished(ContentFilter)),
    ("error", Interrupted),
    ("abort", Interrupted),
    ("network_error", Interrupted),
    ("insufficient_system_resource", Interrupted),
]);
