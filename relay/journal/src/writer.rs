//! The thread that writes.
//!
//! It takes the records that are there, up to [`BATCH`], into one transaction, and does not wait
//! for more. A batch that cannot be written is kept and tried again. Meanwhile the channel fills,
//! and a record that finds it full is lost and counted.

use super::JournalOptions;
use super::entry::Entry;
use super::file::log_size;
use super::health::{State, Stop};
use super::held::Held;
use super::insert::insert;
use super::lock::{self, Lock};
use super::open::{BUSY, LOG_LIMIT, Link, OpenError, harm, open};
use super::prune::Pruner;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, TransactionBehavior, ffi};
use shared::UnixMillis;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError};
use std::time::Duration;

/// How many records a transaction has at most. More would only make the first one wait longer.
const BATCH: usize = 512;
/// How many records are taken in at a time; starts that are held back do not count as batch.
const TAKE: usize = 4 * BATCH;
/// The time between two tries to open the file.
const REOPEN: Duration = Duration::from_secs(1);
/// The time between two tries to write a batch, where SQLite has not waited already.
const RETRY: Duration = Duration::from_millis(250);
/// The longest wait for a record.
const IDLE: Duration = Duration::from_secs(1);
/// How often the writer tries to write what is left when all handles are gone, so that nobody can
/// tell it to give up.
const LAST_TRIES: u32 = 20;
/// The time between two checks that the file is still the same.
const LOOK: Duration = Duration::from_secs(1);
/// After this many records a quiet moment is used for a checkpoint, which moves the log into the
/// file, so that a busy moment need not do it.
const FOLD: usize = 128;

/// How long ago `since` was. If the clock has jumped back, this is not known; then it counts as
/// long ago, so that nothing waits for hours.
pub(super) fn elapsed(since: UnixMillis, now: UnixMillis) -> Duration {
    u64::try_from(now.0.saturating_sub(since.0)).map_or(Duration::MAX, Duration::from_millis)
}

#[derive(Debug)]
pub(super) struct Writer {
    path: PathBuf,
    state: Arc<State>,
    receiver: Receiver<Box<Entry>>,
    link: Option<Link>,
    /// Kept from the first opening on: a file that is replaced still belongs to this relay.
    lock: Option<Lock>,
    /// When the file was last looked at.
    looked: Option<UnixMillis>,
    /// A reader holds the log, so it cannot be moved into the file, and it must not grow any
    /// further.
    log_is_held: bool,
    max_size: u64,
    /// The relay must not write this file: records are lost at once instead of kept.
    refused: bool,
    /// When the file was last tried to open.
    tried: Option<UnixMillis>,
    /// Unfinished rows from before this time were left behind before a restart. Until the first
    /// opening it covers every row: only after that may rows of this run be among them.
    recover_before: UnixMillis,
    started: UnixMillis,
    batch: Vec<Entry>,
    held: Held,
    pruner: Pruner,
    /// Records committed since the log was last moved into the file.
    unfolded: usize,
    /// All handles are gone.
    hung_up: bool,
    last_tries: u32,
    /// Something was lost while stopping.
    lossy_end: bool,
}

impl Writer {
    pub fn new(options: JournalOptions, state: Arc<State>, receiver: Receiver<Box<Entry>>) -> Self {
        let started = state.now();
        Self {
            path: options.path,
            state,
            receiver,
            link: None,
            lock: None,
            looked: None,
            log_is_held: false,
            max_size: options.max_size,
            refused: false,
            tried: None,
            recover_before: UnixMillis(i64::MAX),
            started,
            batch: Vec::with_capacity(BATCH),
            held: Held::default(),
            pruner: Pruner::new(options.retain, options.max_size),
            unfolded: 0,
            hung_up: false,
            last_tries: LAST_TRIES,
            lossy_end: false,
        }
    }

    /// Runs until it is told to stop, or until all handles are gone. `opening` is dropped once the
    /// file has been tried to open.
    pub fn run(mut self, opening: SyncSender<()>) {
        let _alarm = Alarm(Arc::clone(&self.state));
        self.connect();
        drop(opening);
        while !self.state.gives_up() {
            self.collect();
            let is_idle = self.batch.is_empty();
            if !is_idle {
                self.write();
            } else if self.is_stopping() && self.held.is_empty() {
                break;
            }
            self.maintain(is_idle);
        }
        let given_up = self.state.gives_up();
        self.abandon();
        if !given_up && !self.lossy_end {
            self.state.set_flushed();
        }
    }

    fn is_stopping(&self) -> bool {
        self.hung_up || self.state.is_stopping()
    }

    /// How long to wait for a record before something else is due.
    fn patience(&self) -> Duration {
        if !self.batch.is_empty() || self.is_stopping() {
            return Duration::ZERO;
        }
        let now = self.state.now();
        let chore = match (&self.link, self.tried) {
            (Some(_), _) => self.pruner.wait(now, true),
            (None, Some(tried)) => REOPEN.saturating_sub(elapsed(tried, now)),
            (None, None) => Duration::ZERO,
        };
        IDLE.min(chore).min(self.held.wait(now).unwrap_or(IDLE))
    }

    /// Fills the batch with what is there; waits only if there is nothing to do.
    fn collect(&mut self) {
        let mut wait = self.patience();
        for _ in 0..TAKE {
            if self.batch.len() >= BATCH {
                break;
            }
            let received = match std::mem::take(&mut wait) {
                Duration::ZERO => self.receiver.try_recv(),
                wait => self.receiver.recv_timeout(wait).map_err(|error| match error {
                    RecvTimeoutError::Timeout => TryRecvError::Empty,
                    RecvTimeoutError::Disconnected => TryRecvError::Disconnected,
                }),
            };
            match received {
                Ok(entry) => {
                    self.state.dequeue_one();
                    self.batch.extend(self.held.take_in(entry).map(|entry| *entry));
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    self.hung_up = true;
                    break;
                }
            }
        }
        let (now, all) = (self.state.now(), self.is_stopping());
        while self.batch.len() < BATCH {
            let Some(entry) = self.held.release(now, all) else { break };
            self.batch.push(*entry);
        }
        self.state.hold(self.batch.len(), self.batch.iter().map(|entry| entry.at).min());
    }

    /// Makes sure that a file is open, and that it is the right one.
    fn connect(&mut self) -> bool {
        if let Some(link) = &self.link {
            if link.is_in_place(&self.path) {
                return true;
            }
            tracing::warn!("the journal's file, or its log, was deleted or replaced");
            self.link = None;
            self.tried = None;
        }
        let now = self.state.now();
        let too_soon = self.tried.is_some_and(|tried| elapsed(tried, now) < REOPEN);
        if too_soon && !self.is_stopping() {
            return false;
        }
        self.tried = Some(now);
        self.refused = false;
        if self.lock.is_none() {
            match lock::take(&self.path) {
                Ok(lock) => self.lock = lock,
                Err(other) => {
                    self.state.fail(other.to_string());
                    return false;
                }
            }
        }
        match open(&self.path, self.recover_before) {
            Ok(link) => {
                self.link = Some(link);
                self.recover_before = self.started;
                // If there is a batch, its commit decides whether the journal is well.
                if self.batch.is_empty() {
                    self.state.recover();
                }
                return true;
            }
            Err(OpenError::Failed(error)) => self.state.fail(error),
            Err(OpenError::Refused(error)) => {
                self.refused = true;
                self.state.fail(error);
            }
        }
        false
    }

    fn write(&mut self) {
        if !self.connect() {
            if self.refused {
                self.lose_batch();
            } else {
                self.pause(RETRY);
            }
            return;
        }
        if self.log_is_held {
            self.lose_batch();
            return;
        }
        let Some(link) = &mut self.link else { return };
        #[cfg(test)]
        limit_pages(&link.conn, &self.state);
        let written = match write_batch(&mut link.conn, &self.batch) {
            Err(error) if is_poison(&error) => write_one_by_one(&mut link.conn, &self.batch),
            written => written.map(|()| Vec::new()),
        };
        match written {
            Ok(refused) => self.committed(&refused),
            Err(error) => self.failed(&error),
        }
    }

    /// The batch is safe, except for the records (by index) that SQLite refused.
    fn committed(&mut self, refused: &[usize]) {
        #[cfg(test)]
        if let Some(link) = &self.link {
            let changes = link.conn.total_changes();
            self.state.changes.store(changes, std::sync::atomic::Ordering::Relaxed);
        }
        self.state.succeed();
        self.state.hold(0, None);
        self.unfolded = self.unfolded.saturating_add(self.batch.len());
        for (index, entry) in self.batch.drain(..).enumerate() {
            let is_refused = refused.contains(&index);
            if is_refused {
                self.state.lose(u64::from(entry.counts()));
            }
            entry.resolve(!is_refused);
        }
        self.watch_log();
    }

    fn failed(&mut self, error: &rusqlite::Error) {
        if is_full(error) {
            self.state.fail(format!("{error}: no room on the disk, or for this user or process"));
            self.pause(RETRY);
            return;
        }
        self.state.fail(error.to_string());
        match error.sqlite_error_code() {
            // SQLite has waited for the lock already.
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => self.pause(Duration::ZERO),
            // For any other error a new connection is the best remedy.
            _ => {
                self.link = None;
                self.pause(RETRY);
            }
        }
    }

    /// Sleeps, unless `close` wakes it.
    fn pause(&mut self, time: Duration) {
        if self.hung_up {
            self.last_tries = self.last_tries.saturating_sub(1);
            if self.last_tries == 0 {
                self.state.stop(Stop::GiveUp);
            }
        }
        std::thread::park_timeout(time);
    }

    /// Does what is due between records: reopening, pruning, and moving the log into the file.
    fn maintain(&mut self, is_idle: bool) {
        let now = self.state.now();
        if self.is_stopping() || !self.pruner.wait(now, is_idle).is_zero() {
            return;
        }
        // A batch that is still here has just failed, so trying more is of no use.
        if !self.batch.is_empty() || !self.connect() || !self.look_at_file(now) {
            return;
        }
        if self.log_is_held {
            // Deleting requests would only make the log longer.
            self.pruner.rest(now);
            return;
        }
        let Some(link) = &mut self.link else { return };
        let mut done = self.pruner.step(&mut link.conn, now, &self.path);
        if is_idle && done.is_ok() && self.unfolded >= FOLD {
            self.unfolded = 0;
            done = fold(&link.conn);
        }
        if let Err(error) = done {
            self.failed(&error);
        }
    }

    /// Whether the file is still the same; it is checked once per [`LOOK`].
    fn look_at_file(&mut self, now: UnixMillis) -> bool {
        if self.looked.is_some_and(|looked| elapsed(looked, now) < LOOK) {
            return true;
        }
        self.looked = Some(now);
        if let Some(harm) = harm(&self.path) {
            self.state.fail(harm);
            if let Some(link) = self.link.take() {
                // The content of the log does not belong into the file that is there now.
                let _it_fails_by_itself =
                    link.conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
            }
            self.tried = Some(now);
            return false;
        }
        self.watch_log();
        true
    }

    /// A log that a reader holds grows with every record. It counts towards `max_size`; beyond that
    /// records are lost, so that the disk does not fill.
    fn watch_log(&mut self) {
        let Some(link) = &self.link else { return };
        let limit = self.max_size.max(2 * u64::try_from(LOG_LIMIT).unwrap_or(0));
        let mut size = log_size(&self.path);
        if size > limit {
            // Moves as much into the file as readers allow, without waiting for them. The size
            // afterwards is the result.
            let _held = link.conn.busy_timeout(Duration::ZERO).and_then(|()| {
                link.conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            });
            let _as_before = link.conn.busy_timeout(BUSY);
            size = log_size(&self.path);
        }
        let was_held = std::mem::replace(&mut self.log_is_held, size > limit);
        if self.log_is_held {
            self.state.fail(format!(
                "somebody reads the journal and does not end: its log cannot be folded and has \
                 outgrown journal.max_size ({} MiB). End that reader, such as an sqlite3 shell",
                size >> 20
            ));
        } else if was_held {
            self.state.recover();
        }
    }

    fn lose_batch(&mut self) {
        self.lossy_end |= self.is_stopping();
        self.state.lose(self.batch.iter().map(|entry| u64::from(entry.counts())).sum());
        self.state.hold(0, None);
        for entry in self.batch.drain(..) {
            entry.resolve(false);
        }
    }

    /// Reports to every caller that still waits that its record is lost.
    fn abandon(&mut self) {
        while let Ok(entry) = self.receiver.try_recv() {
            self.state.dequeue_one();
            self.batch.push(*entry);
        }
        if !self.batch.is_empty() {
            self.lose_batch();
        }
    }
}

/// Reports a panic of the writer, which nobody else would notice.
#[derive(Debug)]
struct Alarm(Arc<State>);

impl Drop for Alarm {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail("the writer failed; nothing is written until a restart".to_owned());
        }
    }
}

fn write_batch(conn: &mut Connection, batch: &[Entry]) -> rusqlite::Result<()> {
    let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for entry in batch {
        insert(&tx, &entry.record)?;
    }
    tx.commit()
}

/// Leaves out the records that would keep all others from being written; returns their indices.
fn write_one_by_one(conn: &mut Connection, batch: &[Entry]) -> rusqlite::Result<Vec<usize>> {
    let mut refused = Vec::new();
    let mut tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for (index, entry) in batch.iter().enumerate() {
        let point = tx.savepoint()?;
        match insert(&point, &entry.record) {
            Ok(()) => point.commit()?,
            Err(error) if is_poison(&error) => {
                tracing::error!(%error, "a record cannot be journaled");
                drop(point);
                refused.push(index);
            }
            Err(error) => return Err(error),
        }
    }
    tx.commit()?;
    Ok(refused)
}

/// Whether the record is wrong, not the disk, so that trying again is of no use.
fn is_poison(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        None | Some(
            ErrorCode::ConstraintViolation
                | ErrorCode::TypeMismatch
                | ErrorCode::TooBig
                | ErrorCode::ParameterOutOfRange
        )
    )
}

/// Whether there was no room: SQLite reports a full disk, or the system cut off a write (a limit of
/// file size, a quota).
fn is_full(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull) || code == Some(ffi::SQLITE_IOERR_WRITE)
}

/// Moves from the log into the file what no reader holds; does not wait.
fn fold(conn: &Connection) -> rusqlite::Result<()> {
    conn.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// How tests fill the disk.
#[cfg(test)]
fn limit_pages(conn: &Connection, state: &State) {
    let pages = state.page_limit.load(std::sync::atomic::Ordering::Relaxed);
    let _pages: Result<i64, _> =
        conn.pragma_update_and_check(None, "max_page_count", pages, |row| row.get(0));
}
