//! How often this thread's worker has slept.
//!
//! Two events between which the worker never slept may have come with one read,
//! or while it was busy elsewhere; either way more may be waiting already.

use std::cell::Cell;

thread_local! {
    static NAPS: Cell<u64> = const { Cell::new(1) };
}

/// The worker is about to sleep: it has nothing to do.
pub fn nap() {
    NAPS.set(NAPS.get().wrapping_add(1));
}

/// A number that changes whenever the worker sleeps; never 0 at first.
pub(super) fn naps() -> u64 {
    NAPS.get()
}
