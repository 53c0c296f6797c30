//! The bench's only clock: nanoseconds since the process began, the same for mock and client.

use std::sync::OnceLock;
use std::time::Instant;

/// Nanoseconds since the first call.
#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark measures real time; here, and only here"
)]
pub(crate) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let spent = START.get_or_init(Instant::now).elapsed();
    u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX)
}
