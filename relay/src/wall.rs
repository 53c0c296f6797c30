//! The only file that reads the clock or asks for entropy.

use crate::policy::Time;
use shared::{RequestId, UnixMillis};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

static START: OnceLock<Instant> = OnceLock::new();
static LAST_ID: AtomicU64 = AtomicU64::new(0);

/// Bits of a request id below its milliseconds.
const ID_SHIFT: u32 = 21;

#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
fn start() -> Instant {
    *START.get_or_init(Instant::now)
}

/// Now, for the policy core.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn now() -> Time {
    let since = Instant::now().saturating_duration_since(start());
    Time(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

/// The moment at which tokio's timers must fire for the core's `at`.
#[must_use]
pub fn instant(at: Time) -> Instant {
    let start = start();
    start.checked_add(std::time::Duration::from_micros(at.0)).unwrap_or(start)
}

/// The calendar's now.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn unix() -> UnixMillis {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// The calendar's time of the core's `at`, when it is `now`.
#[must_use]
pub fn unix_of(now: Time, at: Time) -> UnixMillis {
    let ago = i64::try_from(now.since(at).as_millis()).unwrap_or(0);
    UnixMillis(unix().0.saturating_sub(ago))
}

/// A generator seeded from the system's entropy.
#[must_use]
pub fn rng() -> fastrand::Rng {
    fastrand::Rng::new()
}

/// A new request id: larger than all before it, and hard to guess.
#[must_use]
pub fn request_id() -> RequestId {
    let millis = u64::try_from(unix().0).unwrap_or(0);
    let fresh = (millis << ID_SHIFT) | fastrand::u64(..1 << ID_SHIFT);
    let last = LAST_ID.fetch_max(fresh, Ordering::Relaxed);
    let id = if fresh > last {
        fresh
    } else {
        LAST_ID.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    };
    RequestId::from_number(id)
}
