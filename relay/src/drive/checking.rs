//! A whole answer that is checked against its schema, aside and with a deadline.

use super::work_pool::WorkPool;
use dialect::schema::{Checked, Schema};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Sleep;

/// An answer whose check takes longer is passed on as it is.
const TIME: Duration = Duration::from_secs(1);

/// An answer that is being checked.
pub(super) struct Checking {
    told: oneshot::Receiver<(Checked, String)>,
    deadline: Pin<Box<Sleep>>,
}

/// Without the answer.
impl std::fmt::Debug for Checking {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checking").finish_non_exhaustive()
    }
}

impl Checking {
    pub(super) fn start(schema: &Arc<Schema>, answer: String) -> Self {
        let schema = Arc::clone(schema);
        let told = WorkPool::Checks.run(answer.len(), move || (schema.check(&answer), answer));
        Self { told, deadline: Box::pin(tokio::time::sleep(TIME)) }
    }

    /// What was found, and the answer where it is needed once more.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<(Checked, String)> {
        let unknown = || (Checked::TooMuchWork, String::new());
        if let Poll::Ready(told) = Pin::new(&mut self.told).poll(cx) {
            return Poll::Ready(told.unwrap_or_else(|_panicked| unknown()));
        }
        self.deadline.as_mut().poll(cx).map(|()| unknown())
    }
}

/// An answer that does not follow its schema. For the model's ears alone.
pub(super) struct Wrong {
    pub(super) answer: String,
    pub(super) problem: String,
}

impl std::fmt::Debug for Wrong {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wrong").finish_non_exhaustive()
    }
}
