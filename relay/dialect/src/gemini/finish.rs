//! Gemini's finish reasons, and its reasons for blocking a prompt.

use crate::neutral::Finish::{ContentFilter, Length, Pause, Stop};
use crate::neutral::Meaning::{Finished, Interrupted, NotYet};
use crate::neutral::Words;

/// `finishReason` of a candidate. Gemini has no word for tool calls: the calls themselves show it.
pub(crate) const FINISH_REASONS: Words = Words(&[
    ("FINISH_REASON_UNSPECIFIED", NotYet),
    ("STOP", Finished(Stop)),
    ("CONTINUATION", Finished(Pause)),
    ("MAX_TOKENS", Finished(Length)),
    ("SAFETY", Finished(ContentFilter)),
    ("RECITATION", Finished(ContentFilter)),
    ("BLOCKLIST", Finished(ContentFilter)),
    ("PROHIBITED_CONTENT", Finished(ContentFilter)),
    ("SPII", Finished(ContentFilter)),
    ("LANGUAGE", Finished(ContentFilter)),
    ("IMAGE_SAFETY", Finished(ContentFilter)),
    ("IMAGE_PROHIBITED_CONTENT", Finished(ContentFilter)),
    ("IMAGE_RECITATION", Finished(ContentFilter)),
    ("MODEL_ARMOR", Finished(ContentFilter)),
    ("MALFORMED_FUNCTION_CALL", Interrupted),
    ("UNEXPECTED_TOOL_CALL", Interrupted),
    ("TOO_MANY_TOOL_CALLS", Interrupted),
    ("MALFORMED_RESPONSE", Interrupted),
    ("MISSING_THOUGHT_SIGNATURE", Interrupted),
    ("IMAGE_OTHER", Interrupted),
    ("NO_IMAGE", Interrupted),
    ("OTHER", Interrupted),
]);

/// `blockReason` of a prompt that gets no candidates.
pub(crate) const BLOCK_REASONS: Words = Words(&[
    ("BLOCK_REASON_UNSPECIFIED", NotYet),
    ("BLOCKED_REASON_UNSPECIFIED", NotYet),
    ("SAFETY", Finished(ContentFilter)),
    ("OTHER", Finished(ContentFilter)),
    ("BLOCKLIST", Finished(ContentFilter)),
    ("PROHIBITED_CONTENT", Finished(ContentFilter)),
    ("IMAGE_SAFETY", Finished(ContentFilter)),
    ("MODEL_ARMOR", Finished(ContentFilter)),
    ("JAILBREAK", Finished(ContentFilter)),
]);
