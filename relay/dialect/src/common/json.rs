//! Reads JSON into typed objects. No unexpected value stops it.
//!
//! Providers send `null`, a string or nothing in place of an object. Derived structs would fail on
//! that, and the stream would be taken for broken. Here only bad JSON is an error: a value of
//! another shape is skipped. Nothing is allocated except for keys with escapes, which no provider
//! sends.

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Reads the fields of one JSON object.
pub(crate) trait Object {
    /// An object begins (not a `null` or another value in its place).
    fn begin(&mut self) {}

    /// Reads the value of `key` from `map`. Must read exactly one value.
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;

    /// The object has ended.
    fn end(&mut self) {}
}

/// Fills an [`Object`] if the value is an object.
pub(crate) struct One<'o, T>(pub(crate) &'o mut T);

/// Fills an [`Object`] once for each object of an array.
pub(crate) struct Each<'o, T>(pub(crate) &'o mut T);

/// Reads a value and drops it.
pub(crate) fn skip<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value::<IgnoredAny>().map(|IgnoredAny| ())
}

macro_rules! scalars_are_nothing {
    () => {
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("any JSON")
        }
        fn visit_unit<E>(self) -> Result<(), E> {
            Ok(())
        }
        fn visit_bool<E>(self, _: bool) -> Result<(), E> {
            Ok(())
        }
        fn visit_i64<E>(self, _: i64) -> Result<(), E> {
            Ok(())
        }
        fn visit_u64<E>(self, _: u64) -> Result<(), E> {
            Ok(())
        }
        fn visit_f64<E>(self, _: f64) -> Result<(), E> {
            Ok(())
        }
        fn visit_str<E>(self, _: &str) -> Result<(), E> {
            Ok(())
        }
    };
}

impl<'de, T: Object> DeserializeSeed<'de> for One<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Object> Visitor<'de> for One<'_, T> {
    type Value = ();
    scalars_are_nothing!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        self.0.begin();
        while let Some(Key(key)) = map.next_key()? {
            self.0.field(&key, &mut map)?;
        }
        self.0.end();
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(IgnoredAny) = seq.next_element()? {}
        Ok(())
    }
}

impl<'de, T: Object> DeserializeSeed<'de> for Each<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Object> Visitor<'de> for Each<'_, T> {
    type Value = ();
    scalars_are_nothing!();

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((IgnoredAny, IgnoredAny)) = map.next_entry()? {}
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(()) = seq.next_element_seed(One(&mut *self.0))? {}
        Ok(())
    }
}

/// An object's key, borrowed where it has no escapes.
pub(crate) struct Key<'de>(Cow<'de, str>);

impl Key<'_> {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }
            fn visit_borrowed_str<E>(self, key: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(key)))
            }
            fn visit_str<E>(self, key: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(key.to_owned())))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

/// Bytes of text in a raw JSON string; 0 for any other value.
///
/// The string is measured, not decoded: the code that runs for every token does not need the text.
pub(crate) fn string_len(raw: &str) -> u64 {
    let Some(inner) = string_inner(raw) else { return 0 };
    let mut rest = inner.as_bytes();
    let mut len = rest.len();
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let escape = rest.get(at + 1).copied().unwrap_or_default();
        let (written, meant) = if escape == b'u' { (6, unicode_len(rest, at)) } else { (2, 1) };
        len = len.saturating_sub(written).saturating_add(meant);
        rest = rest.get(at + written..).unwrap_or_default();
    }
    len as u64
}

/// How many bytes of UTF-8 the `\uXXXX` at `at` stands for. Half of a surrogate pair counts as two
/// of the four bytes.
fn unicode_len(text: &[u8], at: usize) -> usize {
    match text.get(at + 2..at + 4) {
        Some([b'0', b'0']) if text.get(at + 4).is_some_and(|&digit| digit < b'8') => 1,
        Some([b'0', b'0'..=b'7'])
        | Some([b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F']) => 2,
        _ => 3,
    }
}

/// Reads `12`, and also `12.0`, which servers written in JavaScript or Lua send.
pub(crate) fn count(raw: &str) -> Option<u64> {
    let whole = raw.split_once('.').map_or(raw, |(whole, fraction)| {
        if fraction.bytes().all(|digit| digit == b'0') { whole } else { raw }
    });
    whole.parse().ok()
}

/// Whether a value that should be JSON in a string is the JSON itself: some vendors leave out the
/// string.
pub(crate) fn is_bare(raw: &str) -> bool {
    !raw.starts_with('"') && raw != "null"
}

/// The part between the quotes of a raw JSON string.
pub(crate) fn string_inner(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

/// An index in a list: a whole number, even if a server wrote it in quotes.
pub(crate) fn place(raw: Option<&RawValue>) -> Option<u64> {
    number(raw).or_else(|| word(raw).parse().ok())
}

/// The text of a raw string; empty for a missing or any other value.
pub(crate) fn word(raw: Option<&RawValue>) -> &str {
    raw.and_then(|raw| string_inner(raw.get())).unwrap_or_default()
}

/// A whole number that may be missing.
pub(crate) fn number(raw: Option<&RawValue>) -> Option<u64> {
    raw.and_then(|raw| count(raw.get()))
}

/// The newer value of a count that only grows: a later zero does not replace a known count.
pub(crate) fn newest(later: Option<u64>, known: Option<u64>) -> Option<u64> {
    later.filter(|count| *count > 0).or(known).or(later)
}

/// The members of a raw object that a reader needs; none if the value is not an object.
pub(crate) fn members<'a, T: Deserialize<'a> + Default>(raw: Option<&'a RawValue>) -> T {
    raw.map(RawValue::get)
        .filter(|raw| raw.starts_with('{'))
        .and_then(|raw| serde_json::from_str(raw).ok())
        .unwrap_or_default()
}

/// Declares the members of an object that a reader needs: each one by its name and raw; `None`: it
/// is missing or null. If a member occurs twice, the last one counts, as in every SDK; a derived
/// reader would fail.
macro_rules! raw_members {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $key:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Default)]
        struct $name<'a> {
            $($field: Option<&'a serde_json::value::RawValue>,)+
        }

        impl<'de: 'a, 'a> serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader<'a>(std::marker::PhantomData<&'a ()>);
                impl<'de: 'a, 'a> serde::de::Visitor<'de> for Reader<'a> {
                    type Value = $name<'a>;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$name<'a>, A::Error> {
                        let mut members = $name::default();
                        while let Some(key) = map.next_key::<$crate::common::json::Key<'de>>()? {
                            match key.as_str() {
                                $($key => members.$field = map.next_value()?,)+
                                _ => map.next_value::<serde::de::IgnoredAny>().map(drop)?,
                            }
                        }
                        Ok(members)
                    }
                }
                deserializer.deserialize_map(Reader(std::marker::PhantomData))
            }
        }
    };
}
pub(crate) use raw_members;

/// The elements of a raw array; none of any other value.
pub(crate) fn elements(raw: Option<&RawValue>) -> Vec<&RawValue> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// Whether a raw value is an array with at least one element.
pub(crate) fn is_filled_array(raw: &str) -> bool {
    raw.strip_prefix('[').is_some_and(|rest| !rest.trim_ascii_start().starts_with(']'))
}

/// Whether a raw value is what JavaScript and Python both call true.
pub(crate) fn is_truthy(raw: &str) -> bool {
    match raw.as_bytes().first() {
        None | Some(b'n' | b'f') => false,
        Some(b'"') => raw.len() > 2,
        Some(b'{') => raw.get(1..).is_some_and(|rest| !rest.trim_ascii_start().starts_with('}')),
        Some(b'[') => is_filled_array(raw),
        Some(b't') => true,
        Some(_) => raw.bytes().any(|byte| byte.is_ascii_digit() && byte != b'0'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_is_measured_in_the_bytes_it_stands_for() {
        for text in ["", "a", "\n\t\"\\", "é", "你好", "\u{7f}\u{80}\u{7ff}\u{800}", "🌍x"] {
            let escaped: String = std::iter::once('"'.to_string())
                .chain(text.encode_utf16().map(|unit| format!("\\u{unit:04x}")))
                .chain(std::iter::once('"'.to_string()))
                .collect();
            assert_eq!(string_len(&escaped), text.len() as u64, "{escaped}");
            let plain = serde_json::to_string(text).unwrap();
            assert_eq!(string_len(&plain), text.len() as u64, "{plain}");
        }
        for other in ["null", "[]", "12", "{\"a\":\"b\"}"] {
            assert_eq!(string_len(other), 0);
        }
    }

    #[test]
    fn truth_is_what_the_sdks_take_for_it() {
        for yes in ["true", "1", "\"x\"", "{\"a\":1}", "[0]", "-0.5"] {
            assert!(is_truthy(yes), "{yes}");
        }
        for no in ["null", "false", "0", "0.0", "\"\"", "{ }", "[ ]", "{}"] {
            assert!(!is_truthy(no), "{no}");
        }
    }
}
