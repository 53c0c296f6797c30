//! Request ids.
//!
//! A request's id is a 63-bit number whose upper part is the time, so that ids sort by age and the
//! journal's rows are appended, never inserted. Outside the journal it is written as `req_` and 13
//! characters of Crockford's base 32, which can be read aloud over a phone.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const PREFIX: &str = "req_";
const DIGITS: u32 = 13;

/// One request's id; everything that belongs to the request carries it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(u64);

/// The error for a text that is no request id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotARequestId;

impl std::fmt::Display for NotARequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a request id is 'req_' and 13 letters or digits, such as req_01hgw2bbg0000")
    }
}

impl std::error::Error for NotARequestId {}

impl RequestId {
    /// An id from its number; the top bit is dropped, since SQLite's integers are signed.
    #[must_use]
    pub const fn from_number(number: u64) -> Self {
        Self(number & (u64::MAX >> 1))
    }

    /// Its number, as journaled. Never negative.
    #[must_use]
    pub const fn number(self) -> i64 {
        self.0.cast_signed()
    }
}

impl std::fmt::Display for RequestId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(PREFIX)?;
        for digit in (0..DIGITS).rev() {
            let index = usize::try_from((self.0 >> (digit * 5)) & 31).unwrap_or(0);
            let letter = ALPHABET.get(index).copied().unwrap_or(b'0');
            write!(f, "{}", char::from(letter))?;
        }
        Ok(())
    }
}

impl std::str::FromStr for RequestId {
    type Err = NotARequestId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix(PREFIX).ok_or(NotARequestId)?;
        if digits.len() != DIGITS as usize {
            return Err(NotARequestId);
        }
        let mut number: u64 = 0;
        for byte in digits.bytes() {
            let value = ALPHABET
                .iter()
                .position(|&letter| letter == byte.to_ascii_lowercase())
                .ok_or(NotARequestId)?;
            number = number.checked_mul(32).ok_or(NotARequestId)? | value as u64;
        }
        if number > u64::MAX >> 1 {
            return Err(NotARequestId);
        }
        Ok(Self(number))
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes_and_keeps_the_order() {
        let ids = [0, 1, 31, 32, 1 << 40, u64::MAX >> 1].map(RequestId::from_number);
        for id in ids {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for pair in ids.windows(2) {
            assert!(pair[0].to_string() < pair[1].to_string());
        }
        for wrong in ["", "req_", "req_zzzzzzzzzzzzz", "req_0000000000u00", "0000000000000"] {
            assert_eq!(wrong.parse::<RequestId>(), Err(NotARequestId), "{wrong}");
        }
    }
}
