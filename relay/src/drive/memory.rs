//! What outlives the relay: from the board into the journal, and back at the start.
//!
//! A rung's row is written when its breaker or its hold changes, and otherwise,
//! if what is known of it has moved, once a minute and at the orderly end. So a
//! kill costs a minute of a reference and never a cool-down or a hold. Handing a
//! row over does not wait; it is done under the board's lock, so that the newest row of a rung is
//! the last one written.

use crate::config::{ProviderConfig, RungConfig};
use crate::wall;
use journal::{HealthRecord, HoldRecord, Journal};
use parking_lot::{Mutex, MutexGuard};
use policy::{
    Board, Reference, Remembered, RememberedBreaker, RememberedHold, RememberedState, RungIndex,
    Time,
};
use sha2::{Digest as _, Sha256};
use shared::{BreakerState, UnixMillis};
use std::sync::Arc;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// What moves slowly is written this often at the most.
const SELDOM: Duration = Duration::from_secs(60);
/// What does not move is written this often, so that its row is not taken for a stray one.
const ALIVE: Duration = Duration::from_hours(24);

/// Who a rung is, beyond its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) name: Arc<str>,
    /// Of the provider, its address, and the model: with another one, what was learned
    /// under this name is about another rung.
    pub(super) fingerprint: Arc<str>,
    /// Of the key and the headers: with another one, a refused account may be mended.
    pub(super) key_tag: Arc<str>,
}

impl Identity {
    /// `account` is [`account`] of its provider.
    pub(super) fn new(name: Arc<str>, fingerprint: Arc<str>, account: &str) -> Self {
        // Four digits distinguish two keys and reveal none.
        let key_tag = account.chars().take(4).collect::<String>().into();
        Self { name, fingerprint, key_tag }
    }
}

/// What is in the journal already.
#[derive(Debug)]
struct Written {
    what: Remembered,
    /// When; `None`: in an earlier life, or never.
    at: Option<Time>,
}

/// A place on the board.
#[derive(Debug)]
struct Slot {
    /// The rung at this place; `None`: it was removed, and is not written any more.
    rung: Option<Identity>,
    written: Option<Written>,
}

/// Which rungs there are, and what the journal knows of them.
#[derive(Debug)]
pub(super) struct Memory {
    started: Time,
    slots: Mutex<Vec<Slot>>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { started: wall::now(), slots: Mutex::default() }
    }
}

impl Memory {
    fn slots(&self) -> MutexGuard<'_, Vec<Slot>> {
        self.slots.lock()
    }

    /// From here on these are the rungs, at these places.
    pub(super) fn reshape(&self, rungs: Vec<(RungIndex, Identity)>) {
        let mut slots = self.slots();
        slots.iter_mut().for_each(|slot| slot.rung = None);
        for (at, rung) in rungs {
            while slots.len() <= at.0 {
                slots.push(Slot { rung: None, written: None });
            }
            if let Some(slot) = slots.get_mut(at.0) {
                slot.rung = Some(rung);
            }
        }
    }

    /// The rung of this name, with its place.
    pub(super) fn find(&self, name: &str) -> Option<(RungIndex, Identity)> {
        self.slots().iter().enumerate().find_map(|(index, slot)| {
            let rung = slot.rung.as_ref().filter(|rung| &*rung.name == name)?;
            Some((RungIndex(index), rung.clone()))
        })
    }

    /// Writes these rungs, whose breaker or hold has changed.
    pub(super) fn changed(&self, now: Time, board: &Board, rungs: &[RungIndex], journal: &Journal) {
        self.write(now, board, journal, |rung, _, _| rungs.contains(&rung));
    }

    /// Writes what has moved since it was last written, if that was long ago.
    pub(super) fn write_due(&self, now: Time, board: &Board, journal: &Journal) {
        self.write(now, board, journal, |_, moved, at| {
            let at_all = now.since(at.unwrap_or(self.started));
            (moved && at.is_none_or(|at| now.since(at) >= SELDOM)) || at_all >= ALIVE
        });
    }

    /// Writes whatever has moved: there is no later.
    pub(super) fn finish(&self, now: Time, board: &Board, journal: &Journal) {
        self.write(now, board, journal, |_, moved, _| moved);
    }

    /// The board's state is already in the journal: it came from there.
    pub(super) fn is_as_written(&self, board: &Board) {
        for (index, slot) in self.slots().iter_mut().enumerate() {
            let what = board.remember(RungIndex(index));
            slot.written = what.map(|what| Written { what, at: None });
        }
    }

    /// `due` is asked with the rung, whether it has moved, and when it was last written.
    fn write(
        &self,
        now: Time,
        board: &Board,
        journal: &Journal,
        due: impl Fn(RungIndex, bool, Option<Time>) -> bool,
    ) {
        for (index, Slot { rung: identity, written }) in self.slots().iter_mut().enumerate() {
            let rung = RungIndex(index);
            let Some((identity, what)) = identity.as_ref().zip(board.remember(rung)) else {
                continue;
            };
            let moved = written.as_ref().is_none_or(|written| written.what != what);
            // A first reference is due at once: without it a restart is blind to slowness.
            let knew = |written: &Written| written.what.reference.is_some();
            let is_first = what.reference.is_some() && !written.as_ref().is_some_and(knew);
            let at = written.as_ref().and_then(|written| written.at).filter(|_| !is_first);
            // What a full queue did not take is still due.
            if due(rung, moved, at) && journal.keep(record(identity, now, &what)) {
                *written = Some(Written { what, at: Some(now) });
            }
        }
    }
}

fn hash(label: &str, parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in [label].iter().chain(parts) {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A rung's identity beyond its name: with another one, its health is another rung's.
pub(super) fn fingerprint(provider: &ProviderConfig, rung: &RungConfig) -> Arc<str> {
    let dialect = format!("{:?}", provider.dialect);
    let region = rung.region.as_deref().unwrap_or_default();
    let parts = [provider.name.as_str(), &dialect, &provider.base_url, &rung.model, region];
    hash("rung", &parts).chars().take(16).collect::<String>().into()
}

/// Tells a provider's account from the same one under another key or other headers.
/// Never leaves the process.
pub(super) fn account(provider: &ProviderConfig) -> String {
    let key = provider.api_key.as_ref().map_or("", |key| key.expose());
    let headers = provider.headers.iter().flat_map(|(name, value)| [name.as_str(), value]);
    let parts: Vec<&str> = std::iter::once(key).chain(headers).collect();
    hash("key", &parts)
}

/// Four digits distinguish two keys and reveal none.
pub(super) fn key_tag(account: &str) -> Arc<str> {
    account.chars().take(4).collect::<String>().into()
}

fn record(identity: &Identity, now: Time, what: &Remembered) -> HealthRecord {
    let unix = |at| wall::unix_of(now, at);
    let breaker = &what.breaker;
    let (state, until) = match breaker.state {
        RememberedState::Closed => (BreakerState::Closed, None),
        RememberedState::Open { until } => (BreakerState::Open, Some(unix(until))),
        RememberedState::HalfOpen => (BreakerState::HalfOpen, None),
    };
    let Identity { name, fingerprint, key_tag } = identity.clone();
    HealthRecord {
        rung: name,
        at: wall::unix(),
        fingerprint,
        key_tag,
        state: state.to_string(),
        cause: breaker.opened_by.map(|why| why.as_str().to_owned()),
        until,
        weight: breaker.weight,
        cooldown: breaker.cooldown,
        by_streams: breaker.by_streams,
        away_since: breaker.away_since.map(unix),
        trouble_since: breaker.trouble_since.map(unix),
        hold: what.hold.map(|hold| HoldRecord {
            until: unix(hold.until),
            doublings: hold.doublings,
            guessed: hold.guessed,
        }),
        reference: what.reference.map(|reference| (reference.p95, reference.usual)),
        finishes: what.finishes,
    }
}

/// A row in this process's time; `None` if it makes no sense.
pub(super) fn remembered(row: &HealthRecord, now: Time, today: UnixMillis) -> Option<Remembered> {
    // A clock that was put back meanwhile must not make anything last longer.
    let time = |at| wall::time_of(now, today.max(row.at), at);
    let state = match (row.state.parse().ok()?, row.until) {
        (BreakerState::Closed, _) => RememberedState::Closed,
        (BreakerState::Open, Some(until)) => RememberedState::Open { until: time(until) },
        (BreakerState::HalfOpen, _) => RememberedState::HalfOpen,
        (BreakerState::Open, None) => return None,
    };
    Some(Remembered {
        reference: row.reference.map(|(p95, usual)| Reference { p95, usual }),
        hold: row.hold.map(|hold| RememberedHold {
            until: time(hold.until),
            doublings: hold.doublings,
            guessed: hold.guessed,
        }),
        breaker: RememberedBreaker {
            state,
            weight: row.weight,
            cooldown: row.cooldown,
            by_streams: row.by_streams,
            away_since: row.away_since.map(time),
            trouble_since: row.trouble_since.map(time),
            opened_by: row.cause.as_deref().and_then(|word| word.parse().ok()),
        },
        finishes: row.finishes,
    })
}
