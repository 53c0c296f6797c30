//! Events and states in the order in which watchers get them.

pub(super) mod listener;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;
use shared::admin::board::OperatorHere;
use shared::admin::{FeedKind, RequestBatch, RequestRow};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::sync::watch;

/// How many events are kept for readers that reconnect.
const LOG: usize = 1024;
/// Batches of requests that are kept for slow readers.
const BATCHES: usize = 8;
/// Rows in a batch of requests.
const BATCH_ROWS: usize = 200;

/// An event, ready to be sent.
#[derive(Debug, Clone)]
struct Event {
    seq: u64,
    text: Bytes,
}

/// How something is: the newest event of it, and what it said.
#[derive(Debug)]
struct Place {
    event: Event,
    said: Vec<u8>,
}

/// Requests that ended, on their way to those who asked for them.
#[derive(Debug, Default)]
struct Requests {
    pending: Vec<RequestRow>,
    skipped: u64,
    batches: VecDeque<Batch>,
    /// Rows that were sent so far, those left out included.
    rows: u64,
}

/// A batch of requests.
#[derive(Debug)]
struct Batch {
    event: Event,
    /// Rows that were sent before it, and with it.
    rows: (u64, u64),
}

/// What a reader has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Read {
    seq: u64,
    /// Rows of requests, those left out included.
    rows: u64,
}

#[derive(Debug, Default)]
struct Inner {
    seq: u64,
    log: VecDeque<Event>,
    /// The newest event that the log has forgotten.
    forgotten: u64,
    places: HashMap<(FeedKind, usize), Place>,
    requests: Requests,
    present: Vec<Present>,
    next_listener: u64,
}

/// The log has forgotten what came next: start again from a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gone;

/// The events, and their readers.
#[derive(Debug)]
pub struct Feed {
    boot: String,
    inner: Mutex<Inner>,
    newest: watch::Sender<u64>,
    watching: watch::Sender<usize>,
    wants_requests: AtomicUsize,
    /// How many snapshots were computed for watchers.
    snapshots: AtomicU64,
}

impl Feed {
    /// Nothing has been told yet. `boot` tells this life of the relay from others.
    #[must_use]
    pub fn new(boot: String) -> Self {
        Self {
            boot,
            inner: Mutex::default(),
            newest: watch::Sender::new(0),
            watching: watch::Sender::new(0),
            wants_requests: AtomicUsize::new(0),
            snapshots: AtomicU64::new(0),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        // A panic under the lock leaves whole events.
        self.inner.lock()
    }

    /// This life of the relay.
    #[must_use]
    pub fn boot(&self) -> &str {
        &self.boot
    }

    /// The newest event's number.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.inner().seq
    }

    /// Whether something happened after `seq`; how something is does not count.
    #[must_use]
    pub fn has_happened_since(&self, seq: u64) -> bool {
        let inner = self.inner();
        inner.log.back().is_some_and(|event| event.seq > seq) || inner.forgotten > seq
    }

    /// Publishes an event at once. What is no JSON is not published.
    pub fn publish<T: Serialize + ?Sized>(&self, kind: FeedKind, data: &T) {
        let Some(said) = json(data) else { return };
        let seq = {
            let mut inner = self.inner();
            let event = inner.event(&self.boot, kind, &said);
            let seq = event.seq;
            inner.log.push_back(event);
            if inner.log.len() > LOG {
                let oldest = inner.log.pop_front();
                inner.forgotten = oldest.map_or(inner.forgotten, |event| event.seq);
            }
            seq
        };
        self.wake(seq);
    }

    /// Tells how the `place`-th of a kind is, if that is news.
    pub fn set<T: Serialize + ?Sized>(&self, kind: FeedKind, place: usize, data: &T) {
        let Some(said) = json(data) else { return };
        let seq = {
            let mut inner = self.inner();
            if inner.places.get(&(kind, place)).is_some_and(|place| place.said == said) {
                return;
            }
            let event = inner.event(&self.boot, kind, &said);
            let seq = event.seq;
            inner.places.insert((kind, place), Place { event, said });
            seq
        };
        self.wake(seq);
    }

    /// Rungs and ladders are others than before: watchers start again from a snapshot, and earlier
    /// states are void.
    pub fn start_over(&self) {
        let seq = {
            let mut inner = self.inner();
            inner.seq += 1;
            inner.forgotten = inner.seq;
            inner.log.clear();
            inner.places.clear();
            inner.seq
        };
        self.wake(seq);
    }

    /// A request ended. Nothing is done unless somebody asked for requests: hence `row`
    /// is made only then.
    pub fn request(&self, row: impl FnOnce() -> RequestRow) {
        if self.wants_requests.load(Ordering::Relaxed) == 0 {
            return;
        }
        let row = row();
        let requests = &mut self.inner().requests;
        if requests.pending.len() < BATCH_ROWS {
            requests.pending.push(row);
        } else {
            requests.skipped = requests.skipped.saturating_add(1);
        }
    }

    /// Sends the requests that have gathered; four times a second.
    pub fn flush_requests(&self) {
        let seq = {
            let mut inner = self.inner();
            let items = std::mem::take(&mut inner.requests.pending);
            let skipped = std::mem::take(&mut inner.requests.skipped);
            if items.is_empty() {
                return;
            }
            let count = (items.len() as u64).saturating_add(skipped);
            let Some(said) = json(&RequestBatch { items, skipped }) else { return };
            let event = inner.event(&self.boot, FeedKind::Requests, &said);
            let seq = event.seq;
            let requests = &mut inner.requests;
            let rows = (requests.rows, requests.rows.saturating_add(count));
            requests.rows = rows.1;
            requests.batches.push_back(Batch { event, rows });
            if requests.batches.len() > BATCHES {
                requests.batches.pop_front();
            }
            seq
        };
        self.wake(seq);
    }

    /// Whether anybody watches.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        *self.watching.borrow() > 0
    }

    /// Waits until there is a watcher.
    pub async fn until_watched(&self) {
        let mut watching = self.watching.subscribe();
        // The sender lives as long as this feed, so this cannot fail.
        let _never_closed = watching.wait_for(|count| *count > 0).await;
    }

    /// Who watches.
    #[must_use]
    pub fn present(&self) -> Vec<OperatorHere> {
        self.inner().present.iter().map(|present| present.who.clone()).collect()
    }

    /// Notes that a snapshot was computed for watchers.
    pub fn count_snapshot(&self) {
        self.snapshots.fetch_add(1, Ordering::Relaxed);
    }

    /// How often that was.
    #[must_use]
    pub fn snapshots(&self) -> u64 {
        self.snapshots.load(Ordering::Relaxed)
    }

    fn wake(&self, seq: u64) {
        self.newest.send_if_modified(|newest| {
            let is_newer = seq > *newest;
            *newest = seq.max(*newest);
            is_newer
        });
    }

    /// All that is newer than what was read, in order, and what has been read then.
    fn since(&self, read: Read, topics: Topics) -> Result<(Read, Vec<Bytes>), Gone> {
        let inner = self.inner();
        let Read { seq: seen, mut rows } = read;
        if seen < inner.forgotten || seen > inner.seq {
            return Err(Gone);
        }
        let is_new = |event: &&Event| event.seq > seen;
        let places = inner.places.values().map(|place| &place.event).filter(is_new);
        let mut events: Vec<&Event> = inner.log.iter().filter(is_new).chain(places).collect();
        let mut texts = Vec::new();
        if topics.requests {
            let batches = || inner.requests.batches.iter().filter(|batch| batch.event.seq > seen);
            events.extend(batches().map(|batch| &batch.event));
            // Batches that this reader was too slow for are told as left out.
            let missed = batches().next().map_or(0, |first| first.rows.0.saturating_sub(rows));
            let skipped = RequestBatch { items: Vec::new(), skipped: missed };
            if let Some(said) = json(&skipped).filter(|_| missed > 0) {
                texts.push(sse(&self.boot, seen, FeedKind::Requests, &said));
            }
            rows = batches().last().map_or(rows, |last| last.rows.1);
        }
        events.sort_unstable_by_key(|event| event.seq);
        texts.extend(events.into_iter().map(|event| event.text.clone()));
        Ok((Read { seq: inner.seq, rows }, texts))
    }
}

impl Inner {
    fn event(&mut self, boot: &str, kind: FeedKind, said: &[u8]) -> Event {
        self.seq += 1;
        Event { seq: self.seq, text: sse(boot, self.seq, kind, said) }
    }
}

/// As it goes over the wire.
fn sse(boot: &str, seq: u64, kind: FeedKind, said: &[u8]) -> Bytes {
    let mut text = format!("id: {boot}.{seq}\nevent: {kind}\ndata: ").into_bytes();
    text.extend_from_slice(said);
    text.extend_from_slice(b"\n\n");
    text.into()
}

/// One line: JSON's own writer escapes line breaks.
fn json<T: Serialize + ?Sized>(data: &T) -> Option<Vec<u8>> {
    match serde_json::to_vec(data) {
        Ok(said) => Some(said),
        Err(error) => {
            tracing::error!(%error, "an event could not be written; watchers miss it");
            None
        }
    }
}

/// A watcher.
#[derive(Debug)]
struct Present {
    id: u64,
    who: OperatorHere,
}

/// What a reader asked for beside the usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Topics {
    /// Requests that ended.
    pub requests: bool,
}
