//! What the mock remembers of its callers: counts of all, details of the last hundred.

use std::collections::VecDeque;

use serde::Serialize;

use super::fault::FaultSpec;
use super::record::{Disconnect, Ended, Record};
use super::wish::Wish;

/// How many requests, and how many disconnects, are remembered in detail.
const KEPT: usize = 100;

/// What a mock reports about itself.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Its name.
    pub name: String,
    /// Answers that have not ended, also those that have not begun.
    pub open_streams: u64,
    /// Requests for answers since the start or the last reset.
    pub requests: u64,
    /// Clients that went away before their answer was whole.
    pub disconnects: u64,
    /// The last hundred of them.
    pub disconnected: Vec<Disconnect>,
    /// The standing fault.
    pub fault: Option<FaultSpec>,
    /// The standing wish.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Wish>,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Log {
    last_id: u64,
    open: u64,
    requests: u64,
    disconnects: u64,
    disconnected: VecDeque<Disconnect>,
    records: VecDeque<Record>,
}

impl Log {
    /// Takes a request in and gives it its number.
    pub(super) fn admit(&mut self, mut record: Record) -> u64 {
        self.last_id += 1;
        self.open += 1;
        self.requests += 1;
        record.id = self.last_id;
        keep(&mut self.records, record);
        self.last_id
    }

    /// A request's record, if it is still remembered.
    pub(super) fn record(&mut self, id: u64) -> Option<&mut Record> {
        // Numbers have no gaps, so the difference is the place in the queue.
        let first = self.records.front()?.id;
        self.records.get_mut(usize::try_from(id.checked_sub(first)?).ok()?)
    }

    /// Closes a request.
    pub(super) fn close(&mut self, id: u64, ended: Ended, events: u64, after_ms: u64) {
        self.open = self.open.saturating_sub(1);
        if let Some(record) = self.record(id) {
            record.ended = Some(ended.words(events));
            record.timings.end_ms = Some(after_ms);
        }
        if ended == Ended::ClientGone {
            self.disconnects += 1;
            keep(&mut self.disconnected, Disconnect { request: id, events, after_ms });
        }
    }

    /// Forgets everything but the answers that are still open.
    pub(super) fn reset(&mut self) {
        *self = Self { last_id: self.last_id, open: self.open, ..Self::default() };
    }

    /// The remembered requests, oldest first.
    pub(super) fn records(&self) -> Vec<Record> {
        self.records.iter().cloned().collect()
    }

    /// The counts.
    pub(super) fn report(
        &self,
        name: &str,
        fault: Option<&FaultSpec>,
        answer: Option<&Wish>,
    ) -> Report {
        Report {
            name: name.into(),
            open_streams: self.open,
            requests: self.requests,
            disconnects: self.disconnects,
            disconnected: self.disconnected.iter().copied().collect(),
            fault: fault.cloned(),
            answer: answer.cloned(),
        }
    }
}

fn keep<T>(kept: &mut VecDeque<T>, new: T) {
    if kept.len() == KEPT {
        kept.pop_front();
    }
    kept.push_back(new);
}
