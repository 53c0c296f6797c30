//! Who waits for a first token, and since when.
//!
//! A queue in the order of arrival. A place is taken out by number at once; its
//! slot stays until those before it are gone. So all is quick, and what is kept is
//! bounded by what came while the oldest one waited.

use super::{At, Ticket};
use std::collections::VecDeque;

/// Those that wait.
#[derive(Debug, Default)]
pub(super) struct Waits {
    /// The number of the first place in the queue.
    first: Ticket,
    /// Since when; `None`: no longer.
    queue: VecDeque<Option<At>>,
    waiting: u64,
    streaming: u64,
}

impl Waits {
    /// One more.
    pub(super) fn enter(&mut self, now: At) -> Ticket {
        self.queue.push_back(Some(now));
        self.waiting += 1;
        self.first.saturating_add(self.queue.len() as u64 - 1)
    }

    /// It has its token, and goes on. Said twice, it is said once.
    pub(super) fn token(&mut self, ticket: Ticket) {
        if self.take(ticket).is_some() {
            self.streaming += 1;
        }
    }

    /// It is over; returns since when it waited, if it still did.
    pub(super) fn leave(&mut self, ticket: Ticket) -> Option<At> {
        let waited = self.take(ticket);
        if waited.is_none() {
            self.streaming = self.streaming.saturating_sub(1);
        }
        waited
    }

    pub(super) const fn waiting(&self) -> u64 {
        self.waiting
    }

    pub(super) const fn streaming(&self) -> u64 {
        self.streaming
    }

    /// How long the oldest has waited, in milliseconds.
    pub(super) fn oldest(&self, now: At) -> Option<u64> {
        self.queue.front().copied().flatten().map(|since| now.saturating_sub(since))
    }

    fn take(&mut self, ticket: Ticket) -> Option<At> {
        let place = usize::try_from(ticket.checked_sub(self.first)?).ok()?;
        let since = self.queue.get_mut(place)?.take()?;
        self.waiting = self.waiting.saturating_sub(1);
        while self.queue.front() == Some(&None) {
            self.queue.pop_front();
            self.first = self.first.saturating_add(1);
        }
        Some(since)
    }
}
