//! A client's connection, as far as its request has to do with it.

use policy::Time;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What the connection's IO knows about its client.
#[derive(Debug, Default)]
pub struct Peer {
    stalled: AtomicBool,
    /// When its running stream ends at the latest, in the core's microseconds; 0: not known.
    ends: AtomicU64,
    address: Option<IpAddr>,
}

impl Peer {
    /// A client with this address.
    #[must_use]
    pub fn at(address: Option<IpAddr>) -> Self {
        Self { address, ..Self::default() }
    }

    /// Where it called from, if that is known.
    #[must_use]
    pub const fn address(&self) -> Option<IpAddr> {
        self.address
    }

    /// Its stream ends at `at`, whether it reads or not. The driver cannot see to that
    /// itself: it is not asked for more while what it gave is not taken.
    pub fn set_ends(&self, at: Time) {
        self.ends.store(at.0, Ordering::Relaxed);
    }

    /// How long a write to it may be stuck from `now` on, `limit` at the most. What is written
    /// after its stream's end (the error that says so) has its own time.
    #[must_use]
    pub fn patience(&self, now: Time, limit: Duration) -> Duration {
        let left = Time(self.ends.load(Ordering::Relaxed)).since(now);
        if left.is_zero() { limit } else { limit.min(left) }
    }

    /// The client stopped reading and was dropped for it.
    pub fn set_stalled(&self) {
        self.stalled.store(true, Ordering::Relaxed);
    }

    /// Whether the client was dropped because it had stopped reading.
    #[must_use]
    pub fn is_stalled(&self) -> bool {
        self.stalled.load(Ordering::Relaxed)
    }
}
