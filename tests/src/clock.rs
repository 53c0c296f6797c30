//! The tests' one clock, and how late is too late.
//!
//! A relay's clock may fire up to 150 ms late and never early. A slow machine
//! is allowed more lateness through `BELAY_TEST_SLOWNESS`, but never earliness:
//! that would hide a real fault.

use std::future::Future;
use std::time::{Duration, Instant, SystemTime};

/// How late a relay's clock may fire on an idle machine.
const TOLERANCE: Duration = Duration::from_millis(150);
/// How long anything may take that has no limit of its own.
const LIMIT: Duration = Duration::from_secs(20);

/// The time.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the tests measure the relay's clock with their own")]
pub fn now() -> Instant {
    Instant::now()
}

/// The time since 1970, as journals and HTTP dates have it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "what the relay dates is compared with it")]
pub fn unix() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the year is after 1970")
}

/// Milliseconds.
#[must_use]
pub const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The machine's slowness: a factor on every allowance, 1 where not set.
#[must_use]
pub fn slowness() -> f64 {
    std::env::var("BELAY_TEST_SLOWNESS")
        .ok()
        .and_then(|text| text.parse::<f64>().ok())
        .map_or(1.0, |factor| factor.max(1.0))
}

/// An allowance on this machine.
#[must_use]
pub fn allow(span: Duration) -> Duration {
    span.mul_f64(slowness())
}

/// Fails unless a clock that was due after `due` fired then or a little later.
#[track_caller]
pub fn assert_fired(what: &str, took: Duration, due: Duration) {
    assert!(took >= due, "{what}: fired after {took:?}, {:?} early", due - took);
    let latest = due + allow(TOLERANCE);
    assert!(took <= latest, "{what}: fired after {took:?}, due at {due:?}, latest {latest:?}");
}

/// Fails if `took` is more than `most` on this machine.
#[track_caller]
pub fn assert_within(what: &str, took: Duration, most: Duration) {
    let most = allow(most);
    assert!(took <= most, "{what}: took {took:?}, allowed {most:?}");
}

/// Waits for `work`; panics, naming `what`, where it takes unreasonably long.
pub async fn within<T>(what: &str, work: impl Future<Output = T>) -> T {
    let limit = allow(LIMIT);
    match tokio::time::timeout(limit, work).await {
        Ok(done) => done,
        Err(_) => panic!("waited {limit:?} in vain for {what}"),
    }
}

/// Waits until `probe` gives something; panics, naming `what`, where it never does.
pub async fn eventually<T>(what: &str, mut probe: impl AsyncFnMut() -> Option<T>) -> T {
    within(what, async {
        loop {
            if let Some(found) = probe().await {
                return found;
            }
            tokio::time::sleep(ms(10)).await;
        }
    })
    .await
}
