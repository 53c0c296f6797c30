//! How long this worker has stood still.
//!
//! A worker is one thread with many tasks. While one task holds the thread, or the machine
//! gives the thread no time, nothing that the others wait for is seen: a provider's answer
//! lies in the socket, a deadline passes unnoticed. That time is no evidence about a provider,
//! so it is measured, and reported to the policy core ([`Input::StoodStill`]).
//!
//! A worker that never runs again cannot say so itself: [`watch_workers`] runs elsewhere and says
//! it for those whose beat is long overdue.
//!
//! [`beat`] sleeps for a short time, over and over. Where it wakes up late the worker stood
//! still, and where it is overdue the worker stands still at this moment: so a task that
//! runs first after a pause sees the pause as well, although `beat` has not run yet.
//!
//! [`Input::StoodStill`]: policy::Input::StoodStill

use super::hub::Hub;
use crate::wall;
use parking_lot::Mutex;
use policy::Time;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often a worker records that it runs.
const BEAT: Duration = Duration::from_millis(20);
/// A shorter pause is normal: timers count milliseconds, and threads share their cores.
const LEAST: Duration = Duration::from_millis(50);
/// A pause of this length is logged.
const LOGGED: Duration = Duration::from_millis(250);
/// A worker whose beat is overdue for so long does not run.
const STANDS: Duration = Duration::from_secs(2);

/// When the next beat of each worker is due.
static DUE: Mutex<Vec<Weak<AtomicU64>>> = Mutex::new(Vec::new());

thread_local! {
    static HEART: Cell<Heart> = const { Cell::new(Heart::NEW) };
}

/// What is known of this worker's pauses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Heart {
    /// When the next beat is due; `None`: this thread has none.
    due: Option<Time>,
    /// All pauses together.
    total: Duration,
    /// The end of the last one.
    until: Time,
}

impl Heart {
    const NEW: Self = Self { due: None, total: Duration::ZERO, until: Time(0) };

    /// The same at `now`, a pause that goes on included.
    fn at(self, now: Time) -> Self {
        let overdue = self.due.map_or(Duration::ZERO, |due| now.since(due));
        if overdue < LEAST {
            return self;
        }
        // It may have begun right after the last beat.
        let span = overdue.saturating_add(BEAT);
        Self { total: self.total.saturating_add(span), until: now, ..self }
    }
}

/// Pauses of this worker since they were read last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pause {
    /// How long they took together.
    pub(super) span: Duration,
    /// When the last of them ended.
    pub(super) until: Time,
}

/// Tells one listener of each pause once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pauses {
    heard: Duration,
}

impl Pauses {
    /// From `now` on.
    pub(super) fn from(now: Time) -> Self {
        Self { heard: HEART.get().at(now).total }
    }

    /// What has come since it was last asked.
    pub(super) fn since(&mut self, now: Time) -> Option<Pause> {
        let heart = HEART.get().at(now);
        let span = heart.total.saturating_sub(self.heard);
        self.heard = heart.total;
        (!span.is_zero()).then_some(Pause { span, until: heart.until })
    }
}

/// How many workers do not run at `now`.
pub(super) fn standing_still(now: Time) -> usize {
    let mut all = DUE.lock();
    all.retain(|due| due.strong_count() > 0);
    let due = all.iter().filter_map(Weak::upgrade);
    due.filter(|due| now.since(Time(due.load(Ordering::Relaxed))) >= STANDS).count()
}

/// Logs when workers stop running, as long as they cannot do it themselves.
pub async fn watch_workers() {
    let mut known = 0;
    loop {
        tokio::time::sleep(STANDS / 2).await;
        let workers = standing_still(wall::now());
        if workers > known {
            tracing::error!(
                workers,
                "workers have not run for {STANDS:?}: their requests wait. Restart the relay if this lasts"
            );
        }
        known = workers;
    }
}

/// Counts this worker's pauses until the worker ends.
pub async fn beat(relay: Arc<Hub>) {
    let next = Arc::new(AtomicU64::new(wall::now().0));
    DUE.lock().push(Arc::downgrade(&next));
    loop {
        let due = wall::now().plus(BEAT);
        next.store(due.0, Ordering::Relaxed);
        HEART.set(Heart { due: Some(due), ..HEART.get() });
        tokio::time::sleep_until(wall::instant(due)).await;
        let (before, after) = (HEART.get(), HEART.get().at(wall::now()));
        HEART.set(after);
        let span = after.total.saturating_sub(before.total);
        if !span.is_zero() {
            relay.metrics.stood_still(span);
        }
        if span >= LOGGED {
            tracing::warn!(
                ms = span.as_millis(),
                "a worker stood still: its requests waited, and no provider is blamed for that \
                 time. Either the machine gave the relay no time, or a request took too much of it"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_worker_whose_beat_is_long_overdue_is_counted_until_it_runs_or_ends() {
        let due = Time::from_millis(1_000);
        let beat = Arc::new(AtomicU64::new(due.0));
        DUE.lock().push(Arc::downgrade(&beat));
        for (late, count) in [(0, 0), (1_999, 0), (2_000, 1)] {
            assert_eq!(standing_still(due.plus(ms(late))), count, "{late} ms late");
        }
        beat.store(due.plus(ms(2_000)).0, Ordering::Relaxed);
        assert_eq!(standing_still(due.plus(ms(2_000))), 0, "it has run");
        drop(beat);
        assert_eq!(standing_still(due.plus(ms(9_000))), 0, "it has ended");
    }

    #[test]
    fn a_pause_is_seen_while_it_lasts_and_counted_once() {
        let due = Time::from_millis(1_000);
        let heart = Heart { due: Some(due), ..Heart::NEW };
        for (late, total) in [(0, 0), (49, 0), (50, 70), (400, 420)] {
            let seen = heart.at(due.plus(ms(late)));
            assert_eq!(seen.total, ms(total), "{late} ms late");
            assert_eq!(seen.until, if total == 0 { Time(0) } else { due.plus(ms(late)) });
        }
        assert_eq!(Heart::NEW.at(due), Heart::NEW, "nobody counts on this thread");

        HEART.set(heart);
        let mut pauses = Pauses::from(due);
        assert_eq!(pauses.since(due), None);
        let (first, second) = (due.plus(ms(100)), due.plus(ms(250)));
        assert_eq!(pauses.since(first), Some(Pause { span: ms(120), until: first }));
        assert_eq!(pauses.since(first), None);
        assert_eq!(pauses.since(second), Some(Pause { span: ms(150), until: second }));
        // The beat comes late, and the next one in time: nothing is counted twice.
        HEART.set(Heart { due: Some(second.plus(BEAT)), ..heart.at(second) });
        assert_eq!(pauses.since(second.plus(BEAT)), None);
        assert_eq!(Pauses::from(second).since(second), None, "what was before is not told");
    }
}
