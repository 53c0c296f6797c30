//! How long a change lasts.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::str::FromStr;
use std::time::Duration;

/// How long a change lasts: a time such as `15m`, or `endless`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ttl {
    /// So long, 1 s to [`Ttl::LONGEST`].
    For(Duration),
    /// Until somebody ends it; never meant by accident, so it has to be said.
    Endless,
}

/// Text that is no [`Ttl`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotATtl(&'static str);

impl Ttl {
    /// An override's, unless said otherwise.
    pub const OVERRIDE: Self = Self::For(Duration::from_mins(15));
    /// An order's, unless said otherwise.
    pub const ORDER: Self = Self::For(Duration::from_hours(4));
    /// What lasts longer than this has to be called endless.
    pub const LONGEST: Duration = Duration::from_hours(24);
    const SHORTEST: Duration = Duration::from_secs(1);
    const ENDLESS: &'static str = "endless";

    /// The time; `None`: endless.
    #[must_use]
    pub const fn span(self) -> Option<Duration> {
        match self {
            Self::For(span) => Some(span),
            Self::Endless => None,
        }
    }
}

impl std::fmt::Display for NotATtl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NotATtl {}

impl std::fmt::Display for Ttl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::For(span) => write!(f, "{}", humantime::format_duration(*span)),
            Self::Endless => f.write_str(Self::ENDLESS),
        }
    }
}

impl FromStr for Ttl {
    type Err = NotATtl;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == Self::ENDLESS {
            return Ok(Self::Endless);
        }
        let span = humantime::parse_duration(text)
            .map_err(|_| NotATtl("a ttl is a time such as \"15m\" or \"4h\", or \"endless\""))?;
        if span > Self::LONGEST {
            return Err(NotATtl("a ttl of more than a day has to be said: \"endless\""));
        }
        if span < Self::SHORTEST {
            return Err(NotATtl("a ttl is at least \"1s\""));
        }
        Ok(Self::For(span))
    }
}

impl Serialize for Ttl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Ttl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_refuses_what_is_too_long_or_too_short() {
        for text in ["1s", "15m", "4h", "1day", "endless"] {
            assert_eq!(text.parse::<Ttl>().unwrap().to_string(), text);
        }
        assert_eq!("24h".parse(), Ok(Ttl::For(Ttl::LONGEST)));
        for wrong in ["", "15", "-1m", "25h", "0s", "999ms", "Endless", "forever"] {
            assert!(wrong.parse::<Ttl>().is_err(), "{wrong}");
        }
    }
}
