//! Chat completions on both sides: payloads pass through as the bytes they are, and
//! only the framing is normalised.

mod events;

pub(crate) use events::State as Through;

use super::aggregate::Aggregate;

/// Where a whole answer grows.
#[derive(Debug)]
enum Body {
    /// Out of chunks.
    Growing(Box<Aggregate>),
    /// It came in one piece and stays as it is.
    Untouched(Vec<u8>),
}
