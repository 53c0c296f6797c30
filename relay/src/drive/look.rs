//! How everything stands, for whoever watches: computed when asked, or four times a
//! second while somebody has the feed open, and not at all otherwise.

mod machine;
mod states;
#[cfg(test)]
mod tests;

pub(super) use machine::Machine;
pub(super) use states::Looked;

use super::facts::Facts;
use super::relay::{Drain, Relay};
use crate::feed::Listener;
use crate::wall;
use journal::ReadError;
use policy::Time;
use shared::admin::board::{DrainState, FleetState, JournalState, RelayState};
use shared::admin::{Board, FeedKind, LadderState, RungState, Tick, You};
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::time::MissedTickBehavior;

/// Watchers are told of changes this often at the most.
const LOOK: Duration = Duration::from_millis(250);
/// So many looks make a second.
const LOOKS_A_SECOND: u32 = 4;
/// What is usual is read from the journal this often at the most.
const USUAL_EVERY: Duration = Duration::from_secs(120);
/// A disk that does not answer holds a watcher up for so long.
const DISK: Duration = Duration::from_secs(2);

/// Everything that moves, and the number of the last event that it contains.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    seq: u64,
    rungs: Vec<RungState>,
    ladders: Vec<LadderState>,
}

impl Relay {
    /// How everything stands now. Whoever goes on with the feed after its `seq` misses
    /// nothing.
    #[must_use]
    pub fn board(&self, you: You) -> Board {
        let Seen { seq, rungs, ladders } = self.seen(wall::now());
        let facts = Facts::of(&self.in_force());
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
                boot: self.feed.boot().to_owned(),
                started_at: self.started,
                you,
                operators: self.feed.present(),
                config: self.config_state(),
                journal: self.journal_state(),
                // One relay alone, which is always well.
                fleet: FleetState { ok: true, ..FleetState::default() },
                drain: self.drain_state(),
                streams: self.running() as u64,
                waiting: self.live.waiting(),
                rss_bytes: self.machine.rss(),
            },
        }
    }

    /// What was seen a moment ago, while somebody watches: many who ask for the board must
    /// not make watchers be told more often than they are promised.
    fn seen(&self, now: Time) -> Seen {
        let looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let last = looked.last.as_ref().filter(|(at, _)| now.since(*at) < LOOK);
        let last = last.filter(|_| self.feed.is_watched()).map(|(_, seen)| seen.clone());
        drop(looked);
        last.unwrap_or_else(|| self.look(now))
    }

    /// Looks, and tells the feed what has changed since somebody looked last.
    fn look(&self, now: Time) -> Seen {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        self.feed.looked();
        let before = self.feed.seq();
        let all = states::all(self, now, &looked);
        states::tell(self, &mut looked, &all);
        // What happened while it was looked at may be missing in it: then from before.
        let is_whole = !self.feed.has_happened_since(before);
        let seq = if is_whole { self.feed.seq() } else { before };
        let seen = Seen { seq, rungs: all.rungs, ladders: all.ladders };
        looked.last = Some((now, seen.clone()));
        seen
    }

    /// What was told is no longer about these rungs and ladders: whoever watches starts
    /// anew.
    pub(super) fn forget_looks(&self) {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.forget();
        self.feed.start_over();
    }

    fn tick(&self) {
        self.feed.set(
            FeedKind::Tick,
            0,
            &Tick {
                at: wall::unix(),
                streams: self.running() as u64,
                waiting: self.live.waiting(),
                journal: self.journal_state(),
                drain: self.drain_state(),
                rss_bytes: self.machine.rss(),
            },
        );
    }

    fn journal_state(&self) -> JournalState {
        let health = self.journal.health();
        JournalState {
            ok: health.ok,
            queue: health.queue as u64,
            lost: health.lost,
            lag_ms: health.lag_ms,
            disk_free_bytes: self.machine.disk_free(),
            error: health.error,
        }
    }

    fn drain_state(&self) -> DrainState {
        let on = self.drain() != Drain::Serving;
        let streams = if on { self.running() as u64 } else { 0 };
        DrainState { on, streams, until_at: self.drain_ends() }
    }

    /// Reads what only the disk and the system know; for whoever is about to look.
    pub async fn prepare(self: &Arc<Self>) {
        let relay = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            relay.machine.read(|| {
                relay.machine.look(&relay.in_force().config.journal.path);
                relay.read_usual();
            });
        });
        // Late is unknown: the board has the last that was read.
        let _late_or_failed = tokio::time::timeout(DISK, reading).await;
    }

    /// Attempts a second in a rung's busiest minute of the last day, as last read; `None`:
    /// unknown.
    pub(super) fn peak_of(&self, rung: &str) -> Option<f64> {
        let looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.usual.peaks.get(rung).copied()
    }

    /// What is usual at this hour, if that was not read a moment ago.
    fn read_usual(&self) {
        let now = wall::now();
        let due = {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            let is_due = looked.usual_at.is_none_or(|at| now.since(at) >= USUAL_EVERY);
            looked.usual_at = if is_due { Some(now) } else { looked.usual_at };
            is_due
        };
        if !due {
            return;
        }
        match self.journal.reader().usual(wall::unix()) {
            Ok(usual) => {
                let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
                looked.usual = usual;
            }
            Err(ReadError::NoFile(_)) => {}
            Err(error) => tracing::debug!(%error, "what is usual could not be read"),
        }
    }
}

/// Computes for watchers while there are any, until the relay's last moment.
pub async fn watch(relay: Arc<Relay>) {
    loop {
        tokio::select! {
            () = relay.until(Drain::Cut) => return,
            () = relay.feed.until_watched() => {}
        }
        let mut looks = tokio::time::interval(LOOK);
        // After a gap there is no use in looking twice.
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut count: u32 = 0;
        while relay.feed.is_watched() && relay.drain() != Drain::Cut {
            looks.tick().await;
            if count.is_multiple_of(LOOKS_A_SECOND) {
                tokio::spawn(prepare(Arc::clone(&relay)));
                relay.tick();
            }
            let _told = relay.look(wall::now());
            relay.feed.flush_requests();
            count = count.wrapping_add(1);
        }
    }
}

async fn prepare(relay: Arc<Relay>) {
    relay.prepare().await;
}

/// What a listener is sent next.
pub async fn next(listener: &mut Listener, relay: &Relay, you: &You) -> bytes::Bytes {
    listener.next(|| relay.board(you.clone())).await
}
