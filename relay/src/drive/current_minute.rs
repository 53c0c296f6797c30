//! The minute whose counts are being gathered.

use shared::UnixMillis;
use std::sync::atomic::AtomicI64;

/// A minute in milliseconds.
const MINUTE: i64 = 60_000;

/// The minute whose counts are being gathered, in milliseconds since 1970.
#[derive(Debug)]
pub(super) struct CurrentMinute(pub(super) AtomicI64);

impl CurrentMinute {
    pub(super) const fn since(at: UnixMillis) -> Self {
        Self(AtomicI64::new(minute_of(at)))
    }
}

pub(super) const fn minute_of(at: UnixMillis) -> i64 {
    at.0.div_euclid(MINUTE).saturating_mul(MINUTE)
}
