//! Snapshots of the board for watchers: made on request, and four times a second while the feed is
//! read.

mod states;
#[cfg(test)]
mod tests;

use super::config_state::config_state;
use super::facts::Facts;
use super::hub::Hub;
use super::signals::Drain;
use super::snapshot_cache::Snapshot;
use crate::feed::Listener;
use crate::wall;
use journal::ReadError;
use policy::Time;
use shared::admin::board::{DrainState, FleetState, JournalState, RelayState};
use shared::admin::{Board, FeedKind, Tick, You};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// The shortest time between two snapshots for watchers.
const INTERVAL: Duration = Duration::from_millis(250);
/// How many of them make a second.
const PER_SECOND: u32 = 4;
/// The shortest time between two reads of usual figures from the journal.
const USUAL_EVERY: Duration = Duration::from_secs(120);
/// How long a watcher waits at most for a disk that does not answer.
const DISK: Duration = Duration::from_secs(2);

/// The board as it is now. A reader that goes on with the feed after its `seq` misses nothing.
#[must_use]
pub fn board(hub: &Hub, you: You) -> Board {
    let Snapshot { seq, rungs, ladders } = recent(hub, wall::now());
    let facts = Facts::of(&hub.in_force());
    Board {
        seq,
        at: wall::unix(),
        ladders,
        rungs,
        providers: facts.providers,
        relay: RelayState {
            name: facts.name,
            env: facts.env,
            protected: facts.protected,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            boot: hub.feed.boot().to_owned(),
            started_at: hub.started,
            you,
            operators: hub.feed.present(),
            config: config_state(hub),
            journal: journal_state(hub),
            // One relay alone, which is always well.
            fleet: FleetState { ok: true, ..FleetState::default() },
            drain: drain_state(hub),
            streams: hub.load.running() as u64,
            waiting: hub.live.waiting(),
            rss_bytes: hub.machine.rss(),
        },
    }
}

/// The last snapshot, if it is young enough and the feed is read: requests for the board must not
/// make watchers get changes more often than promised.
fn recent(hub: &Hub, now: Time) -> Snapshot {
    let cache = hub.snapshot_cache.lock();
    let last = cache.last.as_ref().filter(|(at, _)| now.since(*at) < INTERVAL);
    let last = last.filter(|_| hub.feed.is_watched()).map(|(_, seen)| seen.clone());
    drop(cache);
    last.unwrap_or_else(|| refresh(hub, now))
}

/// Makes a snapshot, and publishes to the feed what has changed since the last one.
fn refresh(hub: &Hub, now: Time) -> Snapshot {
    let mut cache = hub.snapshot_cache.lock();
    hub.feed.count_snapshot();
    let before = hub.feed.seq();
    let all = states::all(hub, now, &cache);
    states::publish(hub, &mut cache, &all);
    // Events during the snapshot may be missing in it: then its number is the one before.
    let is_whole = !hub.feed.has_happened_since(before);
    let seq = if is_whole { hub.feed.seq() } else { before };
    let seen = Snapshot { seq, rungs: all.rungs, ladders: all.ladders };
    cache.last = Some((now, seen.clone()));
    seen
}

/// Rungs and ladders are others now: watchers start again from a new snapshot.
pub(super) fn start_over(hub: &Hub) {
    let mut cache = hub.snapshot_cache.lock();
    cache.forget();
    hub.feed.start_over();
}

fn tick(hub: &Hub) {
    hub.feed.set(
        FeedKind::Tick,
        0,
        &Tick {
            at: wall::unix(),
            streams: hub.load.running() as u64,
            waiting: hub.live.waiting(),
            journal: journal_state(hub),
            drain: drain_state(hub),
            rss_bytes: hub.machine.rss(),
        },
    );
}

fn journal_state(hub: &Hub) -> JournalState {
    let health = hub.journal.health();
    JournalState {
        ok: health.ok,
        queue: health.queue as u64,
        lost: health.lost,
        lag_ms: health.lag_ms,
        disk_free_bytes: hub.machine.disk_free(),
        error: health.error,
    }
}

fn drain_state(hub: &Hub) -> DrainState {
    let on = hub.signals.drain() != Drain::Serving;
    let streams = if on { hub.load.running() as u64 } else { 0 };
    DrainState { on, streams, until_at: hub.signals.drain_ends() }
}

/// Reads what only the disk and the system know, before a snapshot.
pub async fn prepare(hub: &Arc<Hub>) {
    let hub = Arc::clone(hub);
    let reading = tokio::task::spawn_blocking(move || {
        hub.machine.read(|| {
            hub.machine.measure(&hub.in_force().config.journal.path);
            read_usual(&hub);
        });
    });
    // Late is unknown: the board has the last that was read.
    let _late_or_failed = tokio::time::timeout(DISK, reading).await;
}

/// Attempts a second in a rung's busiest minute of the last day, as last read; `None`:
/// unknown.
pub(super) fn peak_of(hub: &Hub, rung: &str) -> Option<f64> {
    let cache = hub.snapshot_cache.lock();
    cache.usual.peaks.get(rung).copied()
}

/// What is usual at this hour, if that was not read a moment ago.
fn read_usual(hub: &Hub) {
    let now = wall::now();
    let due = {
        let mut cache = hub.snapshot_cache.lock();
        let is_due = cache.usual_at.is_none_or(|at| now.since(at) >= USUAL_EVERY);
        cache.usual_at = if is_due { Some(now) } else { cache.usual_at };
        is_due
    };
    if !due {
        return;
    }
    match hub.journal.reader().usual(wall::unix()) {
        Ok(usual) => {
            let mut cache = hub.snapshot_cache.lock();
            cache.usual = usual;
        }
        Err(ReadError::NoFile(_)) => {}
        Err(error) => tracing::debug!(%error, "what is usual could not be read"),
    }
}

/// Computes for watchers while there are any, until the relay's last moment.
pub async fn watch(relay: Arc<Hub>) {
    loop {
        tokio::select! {
            () = relay.signals.until(Drain::Cut) => return,
            () = relay.feed.until_watched() => {}
        }
        let mut looks = tokio::time::interval(INTERVAL);
        // After a gap there is no use in looking twice.
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut count: u32 = 0;
        while relay.feed.is_watched() && relay.signals.drain() != Drain::Cut {
            looks.tick().await;
            if count.is_multiple_of(PER_SECOND) {
                let preparing = Arc::clone(&relay);
                tokio::spawn(async move { prepare(&preparing).await });
                tick(&relay);
            }
            let _seen = refresh(&relay, wall::now());
            relay.feed.flush_requests();
            count = count.wrapping_add(1);
        }
    }
}

/// What a listener is sent next.
pub async fn next(listener: &mut Listener, relay: &Hub, you: &You) -> bytes::Bytes {
    listener.next(|| board(relay, you.clone())).await
}
