//! The only file that reads the clock or asks for entropy.

use policy::Time;
use shared::{RequestId, UnixMillis};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

static START: OnceLock<Instant> = OnceLock::new();
static LAST_ID: AtomicU64 = AtomicU64::new(0);

/// The core's zero lies this long before the start: what is remembered from before a
/// restart, such as since when a rung has been unwell, has a time of its own then.
const EARLIER: Duration = Duration::from_hours(24);

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
    Time::default().plus(EARLIER).plus(Instant::now().saturating_duration_since(start()))
}

/// The moment at which tokio's timers must fire for the core's `at`.
#[must_use]
pub fn instant(at: Time) -> Instant {
    let (start, since) = (start(), at.since(Time::default().plus(EARLIER)));
    start.checked_add(since).unwrap_or(start)
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
    let millis = |span: Duration| i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
    let (ago, ahead) = (millis(now.since(at)), millis(at.since(now)));
    UnixMillis(unix().0.saturating_sub(ago).saturating_add(ahead))
}

/// The core's time of the calendar's `at`, when it is `now` by the one and `today` by the
/// other; what lies too long ago is the core's zero.
#[must_use]
pub fn time_of(now: Time, today: UnixMillis, at: UnixMillis) -> Time {
    policy::operator::Moment { now, today }.time_of(at)
}

/// A generator seeded from the system's entropy.
#[must_use]
pub fn rng() -> fastrand::Rng {
    fastrand::Rng::new()
}

/// A name for this life of the process, unlike that of any other.
#[must_use]
pub fn boot_id() -> String {
    format!("{:x}", request_id().number())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_and_the_core_agree_on_past_and_future() {
        let (now, today) = (now(), unix());
        for millis in [-3_600_000, -1, 0, 1, 60_000, 86_400_000] {
            let at = UnixMillis(today.0 + millis);
            let back = unix_of(now, time_of(now, today, at)).0 - at.0;
            assert!((0..5_000).contains(&back), "{millis}: {back} ms off, and time only moves on");
        }
        assert_eq!(time_of(now, today, UnixMillis(0)), Time::default(), "too long ago");
        assert!(time_of(now, today, UnixMillis(i64::MAX)) > now.plus(EARLIER * 365));
    }
}
