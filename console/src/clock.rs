//! The console's only clock, and where fresh ids come from.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in milliseconds since 1970.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the only place of the console that reads a clock")]
pub fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Now, as a log has it.
#[must_use]
pub fn stamp() -> String {
    shared::UnixMillis(now()).to_string()
}

/// Seconds that local time is ahead of UTC.
#[must_use]
pub fn local_offset() -> i64 {
    i64::from(jiff::Zoned::now().offset().seconds())
}

/// An id for a change: it sorts by age and says that the console made it.
#[must_use]
pub fn fresh_id() -> String {
    format!("con_{:012x}{:08x}", now(), fastrand::u32(..))
}

#[cfg(test)]
mod tests {
    /// Without jiff's own data a name in `TZ` would be taken for UTC.
    #[test]
    fn a_zone_that_is_named_is_known() {
        let tokyo = jiff::tz::TimeZone::get("Asia/Tokyo").unwrap();
        assert_eq!(tokyo.to_offset(jiff::Timestamp::UNIX_EPOCH).seconds(), 9 * 3_600);
    }
}
