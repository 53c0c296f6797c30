//! The last moment of a request: its ending waits for its record.
//!
//! So on a healthy disk every request that a client saw end is in the journal.
//! The wait is short, and off altogether while the journal is late: a sick
//! disk must never become a slow answer.

use super::reply::Out;
use journal::{Commit, Journal};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::Sleep;

/// The longest that an ending waits for its record.
const PATIENCE: Duration = Duration::from_millis(15);

/// An ending that waits.
pub(super) struct Closing {
    commit: Commit,
    patience: Option<Pin<Box<Sleep>>>,
    ending: Option<Out>,
}

impl std::fmt::Debug for Closing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Closing").finish_non_exhaustive()
    }
}

impl Closing {
    pub(super) fn new(commit: Commit, ending: Out) -> Self {
        Self { commit, patience: None, ending: Some(ending) }
    }

    /// The ending, once its record is safe or has been waited for long enough.
    pub(super) fn poll_ending(&mut self, cx: &mut Context<'_>, journal: &Journal) -> Poll<Out> {
        if journal.wait_is_on() && Pin::new(&mut self.commit).poll(cx).is_pending() {
            let patience =
                self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(PATIENCE)));
            if patience.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            journal.report_late();
        }
        self.ending.take().map_or(Poll::Pending, Poll::Ready)
    }
}
