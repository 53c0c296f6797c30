//! A JSON object whose values are left exactly as they were written.
//!
//! The relay changes two or three keys of a request and puts answers together. Everything else must
//! stay as it was: the spelling of numbers, escapes, unknown fields. Reading into a tree and
//! writing it back would change the spelling of numbers, so values stay raw.

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// Keys in order of first appearance, each with its raw value.
///
/// With the index, an object of a million keys is still read in linear time.
#[derive(Debug, Clone, Default)]
pub struct Fields {
    items: Vec<(String, Box<RawValue>)>,
    index: HashMap<String, usize>,
}

impl Fields {
    /// The value of `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        let (_, value) = self.items.get(*self.index.get(key)?)?;
        Some(value)
    }

    /// The text of `key`'s value, with `null` treated as absent.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).map(RawValue::get).filter(|text| *text != "null")
    }

    /// Sets `key`, at its old place if it exists, and returns the value that it replaced.
    pub fn set(&mut self, key: String, value: Box<RawValue>) -> Option<Box<RawValue>> {
        if let Some(slot) = self.index.get(&key).and_then(|&at| self.items.get_mut(at)) {
            return Some(std::mem::replace(&mut slot.1, value));
        }
        self.index.insert(key.clone(), self.items.len());
        self.items.push((key, value));
        None
    }

    /// Keys and raw values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.items.iter().map(|(key, value)| (key.as_str(), value.as_ref()))
    }

    /// Whether there is no key at all.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.items.is_empty()
    }
}

impl IntoIterator for Fields {
    type Item = (String, Box<RawValue>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Fields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Fields::default();
                while let Some((key, value)) = map.next_entry::<String, Box<RawValue>>()? {
                    fields.set(key, value);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

/// Writes one JSON object, member by member.
#[derive(Debug)]
pub struct Writer {
    out: Vec<u8>,
    empty: bool,
}

impl Writer {
    /// Opens an object at the end of `out`.
    #[must_use]
    pub fn new(mut out: Vec<u8>) -> Self {
        out.push(b'{');
        Self { out, empty: true }
    }

    /// Writes the key. The caller must append the value to the result.
    pub fn key(&mut self, key: &str) -> &mut Vec<u8> {
        if !std::mem::replace(&mut self.empty, false) {
            self.out.push(b',');
        }
        push_string(key, &mut self.out);
        self.out.push(b':');
        &mut self.out
    }

    /// Writes a member whose value is already JSON.
    pub fn raw(&mut self, key: &str, json: &str) {
        self.key(key).extend_from_slice(json.as_bytes());
    }

    /// Writes a member whose value is text.
    pub fn string(&mut self, key: &str, text: &str) {
        push_string(text, self.key(key));
    }

    /// Writes a member whose value is text that is already escaped.
    pub fn escaped(&mut self, key: &str, text: &str) {
        let out = self.key(key);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    }

    /// Writes all of `fields`.
    pub fn all(&mut self, fields: &Fields) {
        for (key, value) in fields.iter() {
            self.raw(key, value.get());
        }
    }

    /// Closes the object.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }
}

/// Appends `text` as a JSON string.
pub fn push_string(text: &str, out: &mut Vec<u8>) {
    // Writing text into memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Appends an array of raw values.
pub fn push_array<'a>(values: impl IntoIterator<Item = &'a str>, out: &mut Vec<u8>) {
    out.push(b'[');
    for (n, value) in values.into_iter().enumerate() {
        if n > 0 {
            out.push(b',');
        }
        out.extend_from_slice(value.as_bytes());
    }
    out.push(b']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_spelling_and_the_last_duplicate_wins() {
        let text = r#"{"a": 1.50,"b":[1, 2],"a":1e400,"c":"\u00e9"}"#;
        let fields: Fields = serde_json::from_str(text).unwrap();
        let mut writer = Writer::new(Vec::new());
        writer.all(&fields);
        assert_eq!(
            String::from_utf8(writer.finish()).unwrap(),
            r#"{"a":1e400,"b":[1, 2],"c":"\u00e9"}"#
        );
    }
}
