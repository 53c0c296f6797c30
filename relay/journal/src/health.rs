//! What callers and the writer share: counters, the last error, the order to stop.

use parking_lot::Mutex;
use shared::UnixMillis;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU64, AtomicUsize, Ordering};

/// From this lag on the journal is not well, even if no call has failed: one may hang.
const SICK_LAG_MS: u64 = 2_000;

/// How the journal is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// Records are being written, and in time.
    pub ok: bool,
    /// Records handed over and not yet written.
    pub queue: usize,
    /// Requests whose record was lost since the start.
    pub lost: u64,
    /// Terminators do not wait for their records, because the last one that was waited for was
    /// late.
    pub late: bool,
    /// Age of the oldest record not yet written, in milliseconds.
    pub lag_ms: u64,
    /// What is wrong, in words.
    pub error: Option<String>,
}

impl Default for Health {
    /// Healthy, with nothing to write.
    fn default() -> Self {
        Self { ok: true, queue: 0, lost: 0, late: false, lag_ms: 0, error: None }
    }
}

/// Whether the writer shall end, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stop {
    /// It goes on.
    No,
    /// It ends after everything is written.
    Flush,
    /// It ends now; what is not written is lost.
    GiveUp,
}

/// The value of `oldest` when no record waits.
const NOTHING: i64 = i64::MIN;

#[derive(Debug)]
pub(super) struct State {
    now: fn() -> UnixMillis,
    /// Records in the channel.
    queued: AtomicUsize,
    /// Records that the writer took out and has not written yet.
    in_hand: AtomicUsize,
    lost: AtomicU64,
    late: AtomicBool,
    oldest: AtomicI64,
    stop: AtomicU8,
    flushed: AtomicBool,
    error: Mutex<Option<String>>,
    /// Rows changed so far, to show that a short request is written once.
    #[cfg(test)]
    pub changes: AtomicU64,
    /// How many pages the file may have, to make a disk full.
    #[cfg(test)]
    pub page_limit: std::sync::atomic::AtomicU32,
}

impl State {
    pub const fn new(now: fn() -> UnixMillis) -> Self {
        Self {
            now,
            queued: AtomicUsize::new(0),
            in_hand: AtomicUsize::new(0),
            lost: AtomicU64::new(0),
            late: AtomicBool::new(false),
            oldest: AtomicI64::new(NOTHING),
            stop: AtomicU8::new(Stop::No as u8),
            flushed: AtomicBool::new(false),
            error: Mutex::new(None),
            #[cfg(test)]
            changes: AtomicU64::new(0),
            #[cfg(test)]
            page_limit: std::sync::atomic::AtomicU32::new(u32::MAX),
        }
    }

    pub fn now(&self) -> UnixMillis {
        (self.now)()
    }

    pub fn health(&self) -> Health {
        let queue = self.queued() + self.in_hand.load(Ordering::Relaxed);
        let oldest = self.oldest.load(Ordering::Relaxed);
        let lag_ms = if queue == 0 || oldest == NOTHING {
            0
        } else {
            u64::try_from(self.now().0.saturating_sub(oldest)).unwrap_or(0)
        };
        let error = self.error.lock().clone();
        let late = self.is_late();
        let ok = error.is_none() && !late && lag_ms < SICK_LAG_MS;
        Health { ok, queue, lost: self.lost.load(Ordering::Relaxed), late, lag_ms, error }
    }

    pub fn queued(&self) -> usize {
        self.queued.load(Ordering::Relaxed)
    }

    /// A record is about to be sent. This is called before the send, not after it. Otherwise the
    /// writer could commit the record in between, and its time, noted afterwards, would stay for
    /// ever.
    pub fn queue_one(&self, at: UnixMillis) {
        self.queued.fetch_add(1, Ordering::Relaxed);
        let _older_one_waits =
            self.oldest.compare_exchange(NOTHING, at.0, Ordering::Relaxed, Ordering::Relaxed);
    }

    pub fn dequeue_one(&self) {
        self.queued.fetch_sub(1, Ordering::Relaxed);
    }

    /// The writer holds this many unwritten records, the oldest from `oldest`.
    pub fn hold(&self, records: usize, oldest: Option<UnixMillis>) {
        self.in_hand.store(records, Ordering::Relaxed);
        self.oldest.store(oldest.map_or(NOTHING, |at| at.0), Ordering::Relaxed);
    }

    /// Counts requests whose record is lost. The count is logged when it reaches a power of two:
    /// often enough to be seen, but never a flood.
    pub fn lose(&self, requests: u64) {
        if requests == 0 {
            return;
        }
        let before = self.lost.fetch_add(requests, Ordering::Relaxed);
        let lost = before.saturating_add(requests);
        if before.checked_ilog2() != lost.checked_ilog2() {
            tracing::warn!(lost, "requests are missing from the journal");
        }
    }

    pub fn is_late(&self) -> bool {
        self.late.load(Ordering::Relaxed)
    }

    pub fn set_late(&self) {
        if !self.late.swap(true, Ordering::Relaxed) {
            tracing::warn!("the journal is late; answers end without waiting for it");
        }
    }

    /// A commit succeeded, so all earlier problems are over.
    pub fn succeed(&self) {
        if self.late.swap(false, Ordering::Relaxed) {
            tracing::info!("the journal is in time again");
        }
        self.recover();
    }

    /// The problem with the file is over. Whether commits are in time again is not known yet.
    pub fn recover(&self) {
        let error = self.error.lock().take();
        if error.is_some() {
            tracing::info!("the journal is written again");
        }
    }

    pub fn fail(&self, error: String) {
        let mut slot = self.error.lock();
        // The same error comes every second while the problem lasts, but it is logged once.
        if slot.as_deref() != Some(error.as_str()) {
            tracing::error!(error, "the journal cannot be written");
            *slot = Some(error);
        }
    }

    pub fn stop(&self, how: Stop) {
        self.stop.fetch_max(how as u8, Ordering::Release);
    }

    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Acquire) >= Stop::Flush as u8
    }

    pub fn gives_up(&self) -> bool {
        self.stop.load(Ordering::Acquire) >= Stop::GiveUp as u8
    }

    pub fn set_flushed(&self) {
        self.flushed.store(true, Ordering::Release);
    }

    pub fn is_flushed(&self) -> bool {
        self.flushed.load(Ordering::Acquire)
    }
}
