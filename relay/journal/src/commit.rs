//! A future that tells whether a record is safe.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::sync::oneshot;

/// Resolves to `true` on the record's COMMIT, to `false` once it is lost.
///
/// It has no time limit of its own: the caller sets one, and calls
/// [`Journal::report_late`](super::Journal::report_late) when it has run out.
#[derive(Debug)]
#[must_use = "a terminator waits for it; drop it to say that nothing does"]
pub struct Commit(Inner);

#[derive(Debug)]
enum Inner {
    Resolved(bool),
    Waiting(oneshot::Receiver<bool>),
}

impl Commit {
    pub(super) const fn resolved(committed: bool) -> Self {
        Self(Inner::Resolved(committed))
    }

    pub(super) const fn waiting(done: oneshot::Receiver<bool>) -> Self {
        Self(Inner::Waiting(done))
    }
}

impl Future for Commit {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        let committed = match &mut self.0 {
            Inner::Resolved(committed) => *committed,
            Inner::Waiting(done) => match Pin::new(done).poll(context) {
                Poll::Ready(answer) => answer.unwrap_or(false),
                Poll::Pending => return Poll::Pending,
            },
        };
        // If it is polled again, it returns the same value, where a bare receiver would panic.
        self.0 = Inner::Resolved(committed);
        Poll::Ready(committed)
    }
}
