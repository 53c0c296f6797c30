//! Wall-clock time as it is journaled and sent: milliseconds since 1970, UTC.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::time::{Duration, UNIX_EPOCH};

/// Milliseconds since 1970-01-01 UTC. Written as RFC 3339 with milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct UnixMillis(pub i64);

/// 9999-12-31T23:59:59.999Z.
const LAST: i64 = 253_402_300_799_999;

impl UnixMillis {
    /// This moment plus `span`.
    #[must_use]
    pub fn plus(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl std::fmt::Display for UnixMillis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A year beyond 9999 cannot be written; the last moment of 9999 is written.
        let since = Duration::from_millis(u64::try_from(self.0.min(LAST)).unwrap_or(0));
        let at = UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH);
        write!(f, "{}", humantime::format_rfc3339_millis(at))
    }
}

impl std::str::FromStr for UnixMillis {
    type Err = humantime::TimestampError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let at = humantime::parse_rfc3339_weak(text)?;
        let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
        Ok(Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Serialize for UnixMillis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for UnixMillis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let at = UnixMillis(1_764_456_440_123);
        assert_eq!(at.to_string(), "2025-11-29T22:47:20.123Z");
        assert_eq!(at.to_string().parse(), Ok(at));
        assert_eq!(UnixMillis(i64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
        assert_eq!(UnixMillis(-1).to_string(), "1970-01-01T00:00:00.000Z");
    }
}
