//! One timer for all of a request's deadlines.
//!
//! A token moves the second clock's deadline later; the timer is then left
//! alone and only asks again when it fires, so that a token never touches it.

use crate::wall;
use policy::Time;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::time::Sleep;

/// A timer that is set anew only for an earlier moment, or after it has fired.
#[derive(Debug, Default)]
pub(super) struct Timer {
    sleep: Option<Pin<Box<Sleep>>>,
    at: Option<Time>,
}

impl Timer {
    /// Whether `due` has come; if not, the task is woken by then at the latest.
    pub(super) fn poll_due(&mut self, cx: &mut Context<'_>, due: Option<Time>) -> Poll<()> {
        let Some(due) = due else { return Poll::Pending };
        if due <= wall::now() {
            return Poll::Ready(());
        }
        loop {
            if self.at.is_none_or(|at| at > due) {
                self.set(due);
            }
            let Some(sleep) = &mut self.sleep else { return Poll::Pending };
            if sleep.as_mut().poll(cx).is_pending() {
                return Poll::Pending;
            }
            self.at = None;
            if due <= wall::now() {
                return Poll::Ready(());
            }
        }
    }

    fn set(&mut self, due: Time) {
        let at = wall::instant(due);
        match &mut self.sleep {
            Some(sleep) => sleep.as_mut().reset(at),
            None => self.sleep = Some(Box::pin(tokio::time::sleep_until(at))),
        }
        self.at = Some(due);
    }
}
