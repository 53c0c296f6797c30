//! Start records that are held back for a moment.
//!
//! Most requests end soon, and the final row has everything that a start has. So a start is held
//! back for [`HOLD`]. If the end comes first, it replaces the start, and the request is written
//! once.

use super::entry::{Entry, Record};
use super::writer::elapsed;
use shared::{RequestId, UnixMillis};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// A start is on disk 250 ms after its request was accepted; the rest of that time is for the
/// commit.
const HOLD: Duration = Duration::from_millis(200);

/// The number is 0 for a request's start, and an attempt's own number for an attempt's start.
type Key = (RequestId, u32);

#[derive(Debug, Default)]
pub(super) struct Held {
    starts: HashMap<Key, Box<Entry>>,
    /// In the order of arrival, which is the order of time. Starts that were taken away are still
    /// in it.
    order: VecDeque<(UnixMillis, Key)>,
}

impl Held {
    /// Takes in a record. Returns it if it is to be written at once.
    pub fn take_in(&mut self, entry: Box<Entry>) -> Option<Box<Entry>> {
        let key = match &entry.record {
            Record::Start(start) => (start.id, 0),
            Record::AttemptStart(start) => (start.request, start.n),
            Record::End(end) => {
                let id = end.start.id;
                self.starts.remove(&(id, 0));
                for attempt in &end.attempts {
                    self.starts.remove(&(id, attempt.start.n));
                }
                return Some(entry);
            }
            Record::Transition(_)
            | Record::Health(_)
            | Record::OverrideEnd(_)
            | Record::OrderEnd(_)
            | Record::Action(_)
            | Record::Capture(_)
            | Record::Minute(_) => return Some(entry),
            Record::Wake => return None,
        };
        self.order.push_back((entry.at, key));
        self.starts.insert(key, entry);
        None
    }

    /// The next start that has waited long enough, or any start if `all`.
    pub fn release(&mut self, now: UnixMillis, all: bool) -> Option<Box<Entry>> {
        while let Some((at, key)) = self.order.front().copied() {
            if !all && elapsed(at, now) < HOLD {
                return None;
            }
            self.order.pop_front();
            if let Some(entry) = self.starts.remove(&key) {
                return Some(entry);
            }
        }
        None
    }

    /// How long until the next start is to be released; `None` if none is held.
    pub fn wait(&self, now: UnixMillis) -> Option<Duration> {
        self.order.front().map(|(at, _)| HOLD.saturating_sub(elapsed(*at, now)))
    }

    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }
}
