//! A JSON object of a request, and its place in the request.
//!
//! Every error must name its place, so each object knows its path. Values are borrowed from the
//! client's text: a picture of megabytes is copied once, when it is read.

use crate::common::fields::Fields;
use crate::common::reject::Reject;
use crate::common::values::count_of;
use crate::messages::known_fields::Rule;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// Errors quote a name that a client made up only up to this length, in bytes.
const LONGEST_NAME: usize = 64;

/// An object, borrowed from the request's text.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    path: String,
    members: Members<'a>,
}

#[derive(Debug)]
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Object<'a> {
    /// The request's own fields.
    pub(crate) fn of_fields(fields: &'a Fields) -> Self {
        let members = fields.iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Self { path: String::new(), members: Members(members) }
    }

    /// Reads the object at `path`.
    pub(crate) fn read(path: String, raw: &'a RawValue) -> Result<Self, Reject> {
        match serde_json::from_str(raw.get()) {
            Ok(members) => Ok(Self { path, members }),
            Err(_) => Err(Reject::wrong_type(&path, "an object")),
        }
    }

    pub(crate) const fn is_root(&self) -> bool {
        self.path.is_empty()
    }

    /// The path of the value of `key`.
    pub(crate) fn path_of(&self, key: &str) -> String {
        if self.is_root() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The value of `key`; of duplicates the last one, and `null` counts as none.
    pub(crate) fn get(&self, key: &str) -> Option<&'a RawValue> {
        let of_key = self.members.0.iter().rev().find(|(name, _)| name == key);
        of_key.map(|(_, value)| *value).filter(|value| value.get() != "null")
    }

    /// Keys and values in the order in which they were written.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.members.0.iter().map(|(key, value)| (key.as_str(), *value))
    }

    /// Adds to `unsupported` the path of every field that `table` does not cover.
    pub(crate) fn name_unsupported(&self, table: &[(&str, Rule)], unsupported: &mut Vec<String>) {
        for (key, value) in self.iter().filter(|(_, value)| value.get() != "null") {
            let fine = match table.iter().find(|(name, _)| *name == key) {
                Some((_, Rule::Read | Rule::Harmless)) => true,
                Some((_, Rule::HarmlessIf(spelled))) => means(value, spelled),
                None => false,
            };
            if !fine {
                let end = key.floor_char_boundary(LONGEST_NAME);
                unsupported.push(self.path_of(key.get(..end).unwrap_or_default()));
            }
        }
    }

    pub(crate) fn wrong_type(&self, key: &str, wanted: &str) -> Reject {
        Reject::wrong_type(&self.path_of(key), wanted)
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<String>, Reject> {
        self.value(key, "a string")
    }

    pub(crate) fn required_text(&self, key: &str) -> Result<String, Reject> {
        self.text(key)?.ok_or_else(|| self.wrong_type(key, "a string"))
    }

    pub(crate) fn texts(&self, key: &str) -> Result<Vec<String>, Reject> {
        Ok(self.value(key, "an array of strings")?.unwrap_or_default())
    }

    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, Reject> {
        self.value(key, "a number")
    }

    pub(crate) fn whole(&self, key: &str) -> Result<Option<u64>, Reject> {
        let count = |raw: &RawValue| {
            count_of(raw.get()).ok_or_else(|| self.wrong_type(key, "a whole number, 0 or more"))
        };
        self.get(key).map(count).transpose()
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, Reject> {
        self.value(key, "true or false")
    }

    pub(crate) fn object(&self, key: &str) -> Result<Option<Self>, Reject> {
        self.get(key).map(|raw| Self::read(self.path_of(key), raw)).transpose()
    }

    pub(crate) fn required_object(&self, key: &str) -> Result<Self, Reject> {
        self.object(key)?.ok_or_else(|| self.wrong_type(key, "an object"))
    }

    pub(crate) fn array(&self, key: &str) -> Result<Option<Vec<&'a RawValue>>, Reject> {
        self.value(key, "an array")
    }

    fn value<T: Deserialize<'a>>(&self, key: &str, wanted: &str) -> Result<Option<T>, Reject> {
        let read = |raw: &'a RawValue| serde_json::from_str(raw.get());
        self.get(key).map(read).transpose().map_err(|_| self.wrong_type(key, wanted))
    }
}

/// Whether `raw` is the same JSON value as `spelled`, whatever its white space.
fn means(raw: &RawValue, spelled: &str) -> bool {
    let value = serde_json::from_str::<Value>(raw.get());
    value.is_ok_and(|value| serde_json::from_str::<Value>(spelled).is_ok_and(|same| same == value))
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}
