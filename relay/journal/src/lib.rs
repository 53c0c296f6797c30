//! The journal: an SQLite record of requests, their attempts and how they ended.
//!
//! It is not on the hot path: callers hand over a record and go on, and one writer thread commits
//! what has arrived. A disk that is full, locked, read-only, slow or broken never stops the relay.
//! What could not be written is counted and shown in [`Health`], and writing resumes by itself.
//!
//! Invariants:
//! - Of the calls on [`Journal`], only [`Journal::close`] and [`Journal::wait_for_file`] block.
//! - A [`Commit`] says `true` only after SQLite's COMMIT: from then on a
//!   `kill -9` cannot take the record away.
//! - A file that is not a journal, or is the journal of a newer relay, is never written.
//! - No prompt, answer or key can get in: the records of [`record`] and [`kept`] have no field for
//!   one. The exception is [`captures`], for ladders whose config says so.
//!
//! The parts: [`record`] is what callers hand over, [`kept`] what the relay reads after a restart,
//! [`actions`] what operators did; `health` is what callers and writer share; `writer` is the
//! thread, with `held` (starts that are held back), `insert` (the SQL) and `prune`; `open` prepares
//! a file for writing (with `schema`, `recover` and `file`); [`reader`] answers queries on
//! connections of its own.

pub mod actions;
pub mod captures;
pub mod commit;
mod entry;
mod file;
pub mod health;
mod held;
mod insert;
pub mod kept;
mod lock;
pub mod minutes;
mod open;
mod prune;
pub mod reader;
pub mod recover;
mod schema;
#[cfg(test)]
mod tests;
mod writer;

pub use actions::{ActionFilter, ActionRecord, OrderEnd};
pub use captures::{CaptureFilter, CaptureRecord, Captured};
pub use commit::Commit;
pub use entry::TransitionRecord;
pub use health::Health;
pub use kept::{
    HealthRecord, HoldRecord, Kept, OrderRecord, OverrideEnd, OverrideRecord, Versions,
};
pub use minutes::MinuteRecord;
pub use reader::{
    GroupBy, ReadError, Reader, RequestFilter, SeriesQuery, Sort, SummaryQuery, TransitionFilter,
    Usual,
};

use entry::{Entry, Record};
use health::{State, Stop};
use parking_lot::Mutex;
use record::{AttemptStart, RequestEnd, RequestStart};
use shared::UnixMillis;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::oneshot;

/// The journal's settings.
#[derive(Debug, Clone)]
pub struct JournalOptions {
    /// The file. Its folder must exist: a folder created here could be under an empty mount point
    /// and fill the wrong disk.
    pub path: PathBuf,
    /// Requests older than this are deleted.
    pub retain: Duration,
    /// Above this many bytes the oldest requests are deleted, whatever their age.
    pub max_size: u64,
    /// The clock. Only differences matter here; a jump is survived.
    pub now: fn() -> UnixMillis,
    /// Records that may wait for the writer before further ones are lost.
    pub queue: usize,
}

impl JournalOptions {
    /// How many records may wait unless a caller says otherwise.
    pub const QUEUE: usize = 65_536;

    /// Options for a file and a clock, without a limit of age or size.
    #[must_use]
    pub const fn new(path: PathBuf, now: fn() -> UnixMillis) -> Self {
        Self { path, retain: Duration::MAX, max_size: u64::MAX, now, queue: Self::QUEUE }
    }
}

/// A handle on the journal; clones share one writer.
///
/// When the last handle is dropped without [`Journal::close`], the writer still commits the records
/// that it was given, then ends by itself.
#[derive(Debug, Clone)]
pub struct Journal {
    inner: Option<Arc<Inner>>,
}

#[derive(Debug)]
struct Inner {
    path: PathBuf,
    queue: usize,
    sender: SyncSender<Box<Entry>>,
    state: Arc<State>,
    thread: Mutex<Option<Thread>>,
    /// Disconnected once the writer has tried to open the file.
    opening: Mutex<Receiver<()>>,
}

/// The writer thread. Its half of `ended` is dropped when the thread is over, so that a join can
/// have a timeout.
#[derive(Debug)]
struct Thread {
    handle: JoinHandle<()>,
    ended: Receiver<()>,
}

impl Journal {
    /// Starts the writer thread, which opens the file. Never fails and never waits: problems with
    /// the disk show in [`Health`], and the relay serves on.
    #[must_use]
    pub fn open(options: JournalOptions) -> Self {
        // SQLite gives names such as ":memory:" a special meaning; an absolute path has none.
        let path = std::path::absolute(&options.path).unwrap_or_else(|_| options.path.clone());
        let queue = options.queue.max(1);
        let (sender, receiver) = sync_channel(queue);
        let (alive, ended) = sync_channel(0);
        let (opens, opening) = sync_channel(0);
        let state = Arc::new(State::new(options.now));
        let writer = writer::Writer::new(
            JournalOptions { path: path.clone(), ..options },
            Arc::clone(&state),
            receiver,
        );
        let spawned = std::thread::Builder::new().name("journal".to_owned()).spawn(move || {
            let _alive: SyncSender<()> = alive;
            writer.run(opens);
        });
        let thread = match spawned {
            Ok(handle) => Some(Thread { handle, ended }),
            Err(error) => {
                // The receiver is gone with the closure, so every record is counted lost.
                state.fail(format!("no writer thread: {error}"));
                None
            }
        };
        let (thread, opening) = (thread.into(), opening.into());
        Self { inner: Some(Arc::new(Inner { path, queue, sender, state, thread, opening })) }
    }

    /// Waits until the writer has tried to open the file, for `timeout` at the most. Blocks. A
    /// relay that serves before that may end requests without their record.
    pub fn wait_for_file(&self, timeout: Duration) {
        if let Some(inner) = &self.inner {
            let opening = inner.opening.lock();
            let _tried_or_too_late = opening.recv_timeout(timeout);
        }
    }

    /// A journal that keeps nothing, has no thread and is always healthy.
    #[must_use]
    pub const fn off() -> Self {
        Self { inner: None }
    }

    /// A request was accepted. Written only if it is still running a moment later.
    pub fn start(&self, record: RequestStart) {
        if let Some(inner) = &self.inner {
            inner.send_start(Record::Start(record));
        }
    }

    /// An attempt was dialled. Written only if its request is still running a moment later.
    pub fn attempt_start(&self, record: AttemptStart) {
        if let Some(inner) = &self.inner {
            inner.send_start(Record::AttemptStart(record));
        }
    }

    /// A breaker changed. Written with the next batch.
    pub fn transition(&self, record: TransitionRecord) {
        if let Some(inner) = &self.inner {
            inner.send(Record::Transition(record), None);
        }
    }

    /// Records what is to be known of a rung after a restart. It overwrites the earlier record,
    /// with the next batch. Returns whether the writer will see it.
    pub fn keep(&self, record: HealthRecord) -> bool {
        self.inner.as_ref().is_none_or(|inner| inner.send(Record::Health(record), None))
    }

    /// Records the numbers of one minute; written with the next batch.
    pub fn minute(&self, record: MinuteRecord) {
        if let Some(inner) = &self.inner {
            inner.send(Record::Minute(Box::new(record)), None);
        }
    }

    /// An override ended.
    pub fn end_override(&self, end: OverrideEnd) {
        if let Some(inner) = &self.inner {
            inner.send(Record::OverrideEnd(end), None);
        }
    }

    /// An operator's order ended by itself.
    pub fn end_order(&self, end: OrderEnd) {
        if let Some(inner) = &self.inner {
            inner.send(Record::OrderEnd(end), None);
        }
    }

    /// An operator did something. The [`Commit`] is like that of [`Journal::end`].
    pub fn action(&self, record: ActionRecord) -> Commit {
        let Some(inner) = &self.inner else { return Commit::resolved(false) };
        let (done, commit) = oneshot::channel();
        if inner.send(Record::Action(Box::new(record)), Some(done)) {
            Commit::waiting(commit)
        } else {
            Commit::resolved(false)
        }
    }

    /// A request ended. The [`Commit`] resolves once the record is safe or lost; a caller may drop
    /// it without waiting.
    pub fn end(&self, record: RequestEnd) -> Commit {
        let Some(inner) = &self.inner else { return Commit::resolved(false) };
        let (done, commit) = oneshot::channel();
        if inner.send(Record::End(record), Some(done)) {
            Commit::waiting(commit)
        } else {
            inner.state.lose(1);
            Commit::resolved(false)
        }
    }

    /// Stores a request whole. If many records wait for the writer, it is dropped.
    pub fn capture(&self, record: CaptureRecord) {
        const MOST_WAITING: usize = 64;
        if let Some(inner) = &self.inner
            && inner.state.queued() < MOST_WAITING
        {
            inner.send(Record::Capture(Box::new(record)), None);
        }
    }

    /// The journal's health.
    #[must_use]
    pub fn health(&self) -> Health {
        self.inner.as_ref().map_or_else(Health::default, |inner| inner.state.health())
    }

    /// Read-only access. Its calls block: use them from `spawn_blocking`.
    #[must_use]
    pub fn reader(&self) -> Reader {
        Reader::at(self.inner.as_ref().map(|inner| inner.path.clone()).unwrap_or_default())
    }

    /// Whether terminators should wait for their record's [`Commit`].
    #[must_use]
    pub fn wait_is_on(&self) -> bool {
        self.inner.as_ref().is_some_and(|inner| !inner.state.is_late())
    }

    /// A record's COMMIT came too late for its client. Until a commit succeeds, terminators do not
    /// wait, and [`Health`] shows it.
    pub fn report_late(&self) {
        if let Some(inner) = &self.inner {
            inner.state.set_late();
        }
    }

    /// Writes what is there and ends the writer. Blocks for `timeout` at the most; what is not
    /// written by then is lost, as are records that come later. Returns whether everything was
    /// written.
    #[must_use]
    pub fn close(&self, timeout: Duration) -> bool {
        let Some(inner) = &self.inner else { return true };
        inner.state.stop(Stop::Flush);
        let mut slot = inner.thread.lock();
        let Some(thread) = slot.take() else { return inner.state.is_flushed() };
        // The writer waits for a record, or sleeps before a retry. One of these two calls wakes it.
        inner.send(Record::Wake, None);
        thread.handle.thread().unpark();
        if thread.ended.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
            inner.state.stop(Stop::GiveUp);
            thread.handle.thread().unpark();
            return false;
        }
        thread.handle.join().is_ok() && inner.state.is_flushed()
    }
}

impl Inner {
    /// When the queue is half full, starts are dropped: they are a convenience, ends are the
    /// record.
    fn send_start(&self, record: Record) {
        if self.state.queued() < self.queue.div_ceil(2) {
            self.send(record, None);
        }
    }

    /// Returns whether the writer will see it.
    fn send(&self, record: Record, done: Option<oneshot::Sender<bool>>) -> bool {
        if self.state.is_stopping() && !matches!(record, Record::Wake) {
            return false;
        }
        let at = self.state.now();
        self.state.queue_one(at);
        let sent = self.sender.try_send(Box::new(Entry { at, record, done })).is_ok();
        if !sent {
            self.state.dequeue_one();
        }
        sent
    }
}
