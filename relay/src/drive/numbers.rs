//! The numbers by which the core knows what has a name, which it only compares, and moments as
//! the live numbers count them.

use crate::live;
use policy::Time;
use shared::Dialect;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// The number by which the core knows a dialect.
pub(super) fn dialect_number(dialect: Dialect) -> u8 {
    let place = Dialect::ALL.iter().position(|one| *one == dialect);
    place.and_then(|place| u8::try_from(place).ok()).unwrap_or(0)
}

/// The numbers by which the core distinguishes models and clients.
pub(super) fn number_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}

/// The same moment for the live numbers, which count in milliseconds.
pub(super) const fn live_at(now: Time) -> live::At {
    now.0 / 1000
}
