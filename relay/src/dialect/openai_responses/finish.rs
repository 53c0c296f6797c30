//! What the ends of a response mean: its status, and why it is incomplete.

use crate::dialect::neutral::Finish::{ContentFilter, Length, Stop};
use crate::dialect::neutral::Meaning::{Finished, Interrupted, NotYet};
use crate::dialect::neutral::Words;

/// `status` of a response that has ended, or the last word of its terminal event's type. A
/// response that is incomplete says more in [`REASONS`].
pub(in crate::dialect) const STATUSES: Words = Words(&[
    ("completed", Finished(Stop)),
    ("incomplete", Finished(Length)),
    ("failed", Interrupted),
    ("cancelled", Interrupted),
    ("expired", Interrupted),
    ("queued", NotYet),
    ("in_progress", NotYet),
]);

/// `incomplete_details.reason`.
pub(in crate::dialect) const REASONS: Words = Words(&[
    ("max_output_tokens", Finished(Length)),
    ("max_tokens", Finished(Length)),
    ("model_context_window_exceeded", Finished(Length)),
    ("content_filter", Finished(ContentFilter)),
]);

/// `status` of an output item that is done. A stale status of some servers says nothing.
pub(in crate::dialect) const ITEM_STATUSES: Words =
    Words(&[("completed", Finished(Stop)), ("in_progress", NotYet), ("incomplete", Interrupted)]);
