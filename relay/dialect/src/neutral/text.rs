//! Text as it is between the quotes of a JSON string.
//!
//! Every dialect has its texts in JSON strings, so a text need not be decoded and encoded again
//! between dialects: it is copied in its escaped form. That costs almost nothing per token, and
//! even a character whose two escaped halves came in two events stays whole.

use crate::common::json::{is_bare, string_inner, string_len};
use serde::de::{Deserializer as _, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Text, escaped as in JSON. Invariant: with quotes around it, it is a JSON string.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    /// The text of a raw JSON value; `None`: it is not a string.
    #[must_use]
    pub fn of_raw(raw: &'a RawValue) -> Option<Self> {
        string_inner(raw.get()).map(|inner| Self(Cow::Borrowed(inner)))
    }

    /// The text of a value; empty if it is missing or not a string.
    #[must_use]
    pub fn of(raw: Option<&'a RawValue>) -> Self {
        raw.and_then(Self::of_raw).unwrap_or_default()
    }

    /// JSON that should be in a string. If it is not, the raw JSON is taken as the text.
    pub(crate) fn json(raw: Option<&'a RawValue>) -> Self {
        match raw {
            Some(raw) if is_bare(raw.get()) => Self::plain(raw.get()),
            raw => Self::of(raw),
        }
    }

    /// Text that is already escaped, such as the result of [`Self::escaped`].
    pub(crate) const fn of_escaped(escaped: &'a str) -> Self {
        Self(Cow::Borrowed(escaped))
    }

    /// Escapes plain text.
    #[must_use]
    pub fn plain(text: &str) -> Text<'static> {
        let mut quoted = serde_json::to_string(text).unwrap_or_default();
        quoted.pop();
        if !quoted.is_empty() {
            quoted.remove(0);
        }
        Text(Cow::Owned(quoted))
    }

    /// The escaped text, as between the quotes.
    #[must_use]
    pub fn escaped(&self) -> &str {
        &self.0
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many bytes the decoded text has.
    #[must_use]
    pub fn len(&self) -> u64 {
        if memchr::memchr(b'\\', self.0.as_bytes()).is_none() {
            return self.0.len() as u64;
        }
        string_len(&format!("\"{}\"", self.0))
    }

    /// The decoded text; half a character becomes U+FFFD.
    #[must_use]
    pub fn decoded(&self) -> Cow<'_, str> {
        decode(&self.0)
    }

    /// The same text, not borrowed.
    #[must_use]
    pub fn into_owned(self) -> Text<'static> {
        Text(Cow::Owned(self.0.into_owned()))
    }
}

/// Decodes `escaped`; see [`Text`].
#[must_use]
pub fn decode(escaped: &str) -> Cow<'_, str> {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string")
        }
        // serde gives only the bytes of a string with half a character.
        fn visit_bytes<E>(self, bytes: &[u8]) -> Result<String, E> {
            Ok(String::from_utf8_lossy(bytes).into_owned())
        }
    }
    if memchr::memchr(b'\\', escaped.as_bytes()).is_none() {
        return Cow::Borrowed(escaped);
    }
    let quoted = format!("\"{escaped}\"");
    let mut json = serde_json::Deserializer::from_str(&quoted);
    Cow::Owned(json.deserialize_bytes(Bytes).unwrap_or_default())
}

/// Without the text: an answer must not appear in a log.
impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} bytes)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_it_stands_for() {
        for plain in ["", "a", "\"quoted\"\n", "é 🌍 \u{2028}", "back\\slash"] {
            let text = Text::plain(plain);
            assert_eq!(text.decoded(), plain);
            assert_eq!(text.len(), plain.len() as u64);
            assert_eq!(text.is_empty(), plain.is_empty());
        }
        let raw: &RawValue = serde_json::from_str(r#""\ud83c\udf0d\u00e9""#).unwrap();
        assert_eq!(Text::of_raw(raw).unwrap().decoded(), "🌍é");
    }

    #[test]
    fn half_a_character_costs_that_character_alone() {
        let raw: &RawValue = serde_json::from_str(r#""a\ud83cb""#).unwrap();
        let decoded = Text::of_raw(raw).unwrap().decoded().into_owned();
        assert!(decoded.starts_with('a') && decoded.ends_with('b'), "{decoded}");
        assert!(decoded.contains('\u{fffd}'));
    }

    #[test]
    fn nothing_of_it_is_printed() {
        assert_eq!(format!("{:?}", Text::plain("secret")), "Text(6 bytes)");
    }
}
