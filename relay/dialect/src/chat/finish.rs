//! Chat's finish reasons, with the words that vendors and gateways use instead of OpenAI's.

use crate::neutral::Finish::{
    ContentFilter, Length, Pause, Refusal, Stop, StopSequence, ToolCalls,
};
use crate::neutral::Meaning::{Finished, Interrupted, NotYet};
use crate::neutral::Words;

pub(crate) const FINISH_REASONS: Words = Words(&[
    // Some gateways write the word for null.
    ("null", NotYet),
    ("stop", Finished(Stop)),
    ("end_turn", Finished(Stop)),
    ("eos", Finished(Stop)),
    ("eos_token", Finished(Stop)),
    ("complete", Finished(Stop)),
    ("completed", Finished(Stop)),
    ("stop_sequence", Finished(StopSequence)),
    ("pause_turn", Finished(Pause)),
    ("tool_calls", Finished(ToolCalls)),
    ("tool_call", Finished(ToolCalls)),
    ("tool_use", Finished(ToolCalls)),
    ("function_call", Finished(ToolCalls)),
    ("length", Finished(Length)),
    ("max_tokens", Finished(Length)),
    ("max_output_tokens", Finished(Length)),
    ("max_length", Finished(Length)),
    ("model_length", Finished(Length)),
    ("token_limit", Finished(Length)),
    ("model_context_window_exceeded", Finished(Length)),
    ("content_filter", Finished(ContentFilter)),
    ("content_filtered", Finished(ContentFilter)),
    ("sensitive", Finished(ContentFilter)),
    ("safety", Finished(ContentFilter)),
    ("recitation", Finished(ContentFilter)),
    ("blocklist", Finished(ContentFilter)),
    ("prohibited_content", Finished(ContentFilter)),
    ("spii", Finished(ContentFilter)),
    ("guardrail_intervened", Finished(ContentFilter)),
    ("error_toxic", Finished(ContentFilter)),
    ("refusal", Finished(Refusal)),
    ("error", Interrupted),
    ("abort", Interrupted),
    ("aborted", Interrupted),
    ("cancelled", Interrupted),
    ("timeout", Interrupted),
    ("time_limit", Interrupted),
    ("network_error", Interrupted),
    ("insufficient_system_resource", Interrupted),
    ("malformed_function_call", Interrupted),
]);
