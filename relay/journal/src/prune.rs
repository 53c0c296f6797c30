//! Deletes old requests, a little at a time.
//!
//! A step deletes at most [`STEP`] requests and takes a few milliseconds, so a record that comes
//! meanwhile is hardly late. Under load steps are rarer, but they are still made: a relay that is
//! never idle must not fill its disk.

use super::file::log_size;
use super::open::BUSY;
use super::writer::elapsed;
use rusqlite::{Connection, ErrorCode, TransactionBehavior, params};
use shared::UnixMillis;
use std::path::Path;
use std::time::Duration;

/// How many requests a step deletes at most.
const STEP: i64 = 200;
/// The time between two looks when there is nothing to do.
const LOOK: Duration = Duration::from_secs(1);
/// The time between two steps when there is something to do and records come: 2,000 requests a
/// second, more than come.
const BUSY_STEP: Duration = Duration::from_millis(100);
/// The same when no record comes. Not zero, because readers and the disk need time, too.
const IDLE_STEP: Duration = Duration::from_millis(10);
/// How many free pages are kept, since using one again is cheaper than adding a new one.
const SPARE_PAGES: i64 = 256;
/// How many free pages a step gives back to the file system at most.
const GIVE_BACK: i64 = 128;
/// Health rows, and ended overrides and orders, are kept at least this long: the health of a quiet
/// rung is written once a day.
const KEPT_LEAST: i64 = 2 * 24 * 3_600_000;

/// Minutes are kept for 30 days.
const MINUTES_KEPT: i64 = 30 * 24 * 3_600_000;

/// After the clock has leapt, nothing is deleted for its age until the relay has run for this long,
/// or for `retain` where that is shorter. That is time to notice the leap and to correct it.
const AFTER_A_LEAP: Duration = Duration::from_hours(24);
/// At most this much time is counted between two steps, whatever the clock says.
const STEP_TIME: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(super) struct Pruner {
    retain: Duration,
    max_size: u64,
    last: Option<UnixMillis>,
    more: bool,
    /// The clock at the last step; before the first one, the newest request's time.
    clock: Option<UnixMillis>,
    /// Nothing is deleted for its age until the relay has run for this long.
    waits: Duration,
}

impl Pruner {
    pub const fn new(retain: Duration, max_size: u64) -> Self {
        Self { retain, max_size, last: None, more: true, clock: None, waits: Duration::ZERO }
    }

    /// How long until the next step is due.
    pub fn wait(&self, now: UnixMillis, is_idle: bool) -> Duration {
        let pause = match (self.more, is_idle) {
            (true, true) => IDLE_STEP,
            (true, false) => BUSY_STEP,
            (false, _) => LOOK,
        };
        self.last.map_or(Duration::ZERO, |last| pause.saturating_sub(elapsed(last, now)))
    }

    /// Makes no step this time.
    pub const fn rest(&mut self, now: UnixMillis) {
        self.last = Some(now);
        self.more = false;
    }

    /// Makes one step. It does not wait for a lock that somebody else holds: records may be coming.
    pub fn step(
        &mut self,
        conn: &mut Connection,
        now: UnixMillis,
        path: &Path,
    ) -> rusqlite::Result<()> {
        self.last = Some(now);
        self.more = false;
        conn.busy_timeout(Duration::ZERO)?;
        let done = self.mind_the_clock(conn, now).and_then(|()| self.delete(conn, now, path));
        conn.busy_timeout(BUSY)?;
        match done {
            Ok(more) => {
                self.more = more;
                Ok(())
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// A clock that leaps ahead by a large part of `retain`, while the relay runs or since it last
    /// wrote, would make most of the history old at once. After such a leap deletion by age waits.
    fn mind_the_clock(&mut self, conn: &Connection, now: UnixMillis) -> rusqlite::Result<()> {
        let before = match self.clock {
            Some(clock) => Some(clock),
            None => newest(conn)?,
        };
        self.clock = Some(now);
        let Some(before) = before else { return Ok(()) };
        let ahead = u64::try_from(now.0.saturating_sub(before.0)).unwrap_or(0);
        let ahead = Duration::from_millis(ahead);
        self.waits = self.waits.saturating_sub(ahead.min(STEP_TIME));
        if ahead > self.retain / 2 && ahead > STEP_TIME {
            self.waits = AFTER_A_LEAP.min(self.retain);
            tracing::warn!(
                "the clock is {ahead:?} ahead of the journal's last step: check it. Nothing is \
                 deleted for its age until the relay has run for {:?}",
                self.waits
            );
        }
        Ok(())
    }

    fn delete(
        &self,
        conn: &mut Connection,
        now: UnixMillis,
        path: &Path,
    ) -> rusqlite::Result<bool> {
        let span = i64::try_from(self.retain.as_millis()).unwrap_or(i64::MAX);
        let (limit, mut minutes_before) = if self.waits.is_zero() {
            (now.0.saturating_sub(span), now.0.saturating_sub(MINUTES_KEPT))
        } else {
            (i64::MIN, i64::MIN)
        };
        let mut ids = oldest(conn, limit)?;
        if ids.is_empty() && self.is_too_large(conn, path)? {
            ids = oldest(conn, i64::MAX)?;
            // The minutes before the deleted requests are deleted as well.
            if let Some(id) = ids.last() {
                let at = "SELECT at FROM requests WHERE id = ?1";
                let at: i64 = conn.prepare_cached(at)?.query_row([id], |row| row.get(0))?;
                minutes_before = minutes_before.max(at);
            }
        }
        let minutes = has_stale_minutes(conn, minutes_before)?;
        let kept_limit = limit.min(now.0.saturating_sub(KEPT_LEAST));
        let stale =
            has_stale_transitions(conn, limit)? || has_stale_kept(conn, kept_limit)? || minutes;
        if !ids.is_empty() || stale {
            let tx = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for id in &ids {
                tx.prepare_cached("DELETE FROM attempts WHERE request = ?1")?.execute([id])?;
                tx.prepare_cached("DELETE FROM captures WHERE request = ?1")?.execute([id])?;
                tx.prepare_cached("DELETE FROM requests WHERE id = ?1")?.execute([id])?;
            }
            tx.execute(
                "DELETE FROM transitions WHERE id IN (SELECT id FROM
                 (SELECT id, at FROM transitions ORDER BY id LIMIT ?1) WHERE at < ?2)",
                params![STEP, limit],
            )?;
            tx.execute(
                "DELETE FROM minutes WHERE (at, ladder, rung, life) IN
                 (SELECT at, ladder, rung, life FROM minutes WHERE at < ?1 ORDER BY at LIMIT ?2)",
                params![minutes_before, STEP],
            )?;
            for sql in [
                "DELETE FROM health WHERE at < ?1",
                "DELETE FROM overrides WHERE ended < ?1",
                "DELETE FROM orders WHERE ended < ?1",
            ] {
                tx.execute(sql, [kept_limit])?;
            }
            tx.commit()?;
        }
        Ok(give_back(conn)? || !ids.is_empty() || stale)
    }

    /// Whether the file is too large. Its log counts, too. The log is moved into the file first:
    /// while a reader holds the log, deleting requests would only make it longer.
    fn is_too_large(&self, conn: &Connection, path: &Path) -> rusqlite::Result<bool> {
        let pages = number(conn, "page_count")?.saturating_sub(number(conn, "freelist_count")?);
        let bytes = pages.saturating_mul(number(conn, "page_size")?);
        let bytes = u64::try_from(bytes).unwrap_or(0);
        if bytes <= self.max_size && bytes.saturating_add(log_size(path)) > self.max_size {
            conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
        }
        Ok(bytes > self.max_size)
    }
}

/// When the newest request came.
fn newest(conn: &Connection) -> rusqlite::Result<Option<UnixMillis>> {
    let at: Option<i64> = conn.query_row("SELECT max(at) FROM requests", [], |row| row.get(0))?;
    Ok(at.map(UnixMillis))
}

/// The oldest requests from before `limit`. A request that still runs is not old.
fn oldest(conn: &Connection, limit: i64) -> rusqlite::Result<Vec<i64>> {
    conn.prepare_cached(
        "SELECT id FROM requests WHERE at < ?1 AND outcome IS NOT NULL ORDER BY at LIMIT ?2",
    )?
    .query_map(params![limit, STEP], |row| row.get(0))?
    .collect()
}

fn has_stale_transitions(conn: &Connection, limit: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM (SELECT at FROM transitions ORDER BY id LIMIT 1)
         WHERE at < ?1)",
    )?
    .query_row([limit], |row| row.get(0))
}

fn has_stale_minutes(conn: &Connection, limit: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached("SELECT EXISTS (SELECT 1 FROM minutes WHERE at < ?1)")?
        .query_row([limit], |row| row.get(0))
}

/// Whether there are rungs whose health was not written for long, or overrides and orders that
/// ended long ago. These tables are small.
fn has_stale_kept(conn: &Connection, limit: i64) -> rusqlite::Result<bool> {
    conn.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM health WHERE at < ?1)
         OR EXISTS (SELECT 1 FROM overrides WHERE ended < ?1)
         OR EXISTS (SELECT 1 FROM orders WHERE ended < ?1)",
    )?
    .query_row([limit], |row| row.get(0))
}

/// Shrinks the file by one step; returns whether another step is useful.
fn give_back(conn: &Connection) -> rusqlite::Result<bool> {
    if number(conn, "freelist_count")? <= SPARE_PAGES {
        return Ok(false);
    }
    conn.execute_batch(&format!("PRAGMA incremental_vacuum({GIVE_BACK})"))?;
    Ok(number(conn, "freelist_count")? > SPARE_PAGES)
}

fn number(conn: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    conn.pragma_query_value(None, pragma, |row| row.get(0))
}
