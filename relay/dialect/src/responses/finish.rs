//! What the end of a response means: its status, and the reason if it is incomplete.

use crate::neutral::Finish::{ContentFilter, Length, Stop};
use crate::neutral::Meaning::{Finished, Interrupted, NotYet};
use crate::neutral::Words;

/// `status` of a response that has ended, or the last word of its terminal event's type.
/// [`REASONS`] tells more about an incomplete response.
pub(crate) const STATUSES: Words = Words(&[
    ("completed", Finished(Stop)),
    ("incomplete", Finished(Length)),
    ("failed", Interrupted),
    ("cancelled", Interrupted),
    ("expired", Interrupted),
    ("queued", NotYet),
    ("in_progress", NotYet),
]);

/// `incomplete_details.reason`.
pub(crate) const REASONS: Words = Words(&[
    ("max_output_tokens", Finished(Length)),
    ("max_tokens", Finished(Length)),
    ("model_context_window_exceeded", Finished(Length)),
    ("content_filter", Finished(ContentFilter)),
]);

/// `status` of an output item that is done. Some servers leave an old status there, which means
/// nothing.
pub(crate) const ITEM_STATUSES: Words =
    Words(&[("completed", Finished(Stop)), ("in_progress", NotYet), ("incomplete", Interrupted)]);
