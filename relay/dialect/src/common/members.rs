//! Reads a client's JSON object without losing a member.
//!
//! A reader of requests takes the members that it knows. The rest is compared with a table of
//! rules, and a member without a rule is unsupported. So a field that is newer than this relay can
//! keep a request from a rung of another dialect, but it can never be lost silently.

use crate::common::fields::Fields;
use crate::common::reject::Reject;
use crate::common::values::count_of;
use crate::neutral::Request;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Errors quote a name that a client made up only up to this length, in bytes.
const LONGEST_NAME: usize = 64;

/// What is done with a field that no reader takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rule {
    field: &'static str,
    /// The values to which the rule applies, without white space; empty: all values.
    values: &'static [&'static str],
    /// The field is reported as left out.
    wish: bool,
}

impl Rule {
    /// For a field without which the answer is the same, whatever its value.
    pub(crate) const fn harmless(field: &'static str) -> Self {
        Self { field, values: &[], wish: false }
    }

    /// For a field that changes nothing with these values; with others it is unsupported.
    pub(crate) const fn harmless_at(field: &'static str, values: &'static [&'static str]) -> Self {
        Self { field, values, wish: false }
    }

    /// For a field without which the answer is still an answer to what was asked.
    pub(crate) const fn wish(field: &'static str) -> Self {
        Self { field, values: &[], wish: true }
    }

    fn covers(&self, value: &RawValue) -> bool {
        let same = |listed: &&str| {
            value.get().bytes().filter(|b| !b.is_ascii_whitespace()).eq(listed.bytes())
        };
        self.values.is_empty() || self.values.iter().any(same)
    }
}

/// A value and its place.
#[derive(Clone)]
pub(crate) struct Value<'a> {
    path: String,
    raw: &'a RawValue,
}

/// The members of an object that were not taken yet.
pub(crate) struct Members<'a> {
    path: String,
    items: Vec<(Cow<'a, str>, &'a RawValue)>,
}

impl<'a> Value<'a> {
    /// Its place, such as `messages[0].content`.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn is_string(&self) -> bool {
        self.raw.get().starts_with('"')
    }

    pub(crate) fn is_list(&self) -> bool {
        self.raw.get().starts_with('[')
    }

    pub(crate) fn string(&self) -> Result<String, Reject> {
        self.as_a("a string")
    }

    pub(crate) fn flag(&self) -> Result<bool, Reject> {
        self.as_a("true or false")
    }

    pub(crate) fn count(&self) -> Result<u64, Reject> {
        let wrong = || Reject::wrong_type(&self.path, "a whole number, 0 or more");
        count_of(self.raw.get()).ok_or_else(wrong)
    }

    pub(crate) fn integer(&self) -> Result<i64, Reject> {
        self.as_a("a whole number")
    }

    pub(crate) fn number(&self) -> Result<f64, Reject> {
        self.as_a("a number")
    }

    /// Its elements.
    pub(crate) fn list(&self) -> Result<Vec<Self>, Reject> {
        let items: Vec<&'a RawValue> = self.as_a("an array")?;
        let at = |(n, raw)| Self { path: format!("{}[{n}]", self.path), raw };
        Ok(items.into_iter().enumerate().map(at).collect())
    }

    /// Its members.
    pub(crate) fn members(&self) -> Result<Members<'a>, Reject> {
        let Pairs(items) = self.as_a("an object")?;
        Ok(Members { path: self.path.clone(), items })
    }

    /// The raw JSON, which is passed on unchanged.
    pub(crate) fn json_object(&self) -> Result<Box<RawValue>, Reject> {
        if !self.raw.get().starts_with('{') {
            return Err(Reject::wrong_type(&self.path, "an object"));
        }
        Ok(self.raw.to_owned())
    }

    fn as_a<T: Deserialize<'a>>(&self, wanted: &str) -> Result<T, Reject> {
        serde_json::from_str(self.raw.get()).map_err(|_| Reject::wrong_type(&self.path, wanted))
    }
}

impl<'a> Members<'a> {
    /// The members of a whole request.
    pub(crate) fn of(fields: &'a Fields) -> Self {
        let items = fields.iter().map(|(key, value)| (Cow::Borrowed(key), value)).collect();
        Self { path: String::new(), items }
    }

    /// The path of `key`.
    pub(crate) fn at(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Takes a member; `null` counts as none. Of duplicates the last one counts.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value<'a>> {
        let mut found = None;
        self.items.retain(|(name, raw)| {
            let hit = name == key;
            if hit {
                found = Some(*raw);
            }
            !hit
        });
        let raw = found.filter(|raw| raw.get() != "null")?;
        Some(Value { path: self.at(key), raw })
    }

    pub(crate) fn string(&mut self, key: &str) -> Result<Option<String>, Reject> {
        self.take(key).map(|value| value.string()).transpose()
    }

    pub(crate) fn required(&mut self, key: &str) -> Result<String, Reject> {
        let found = self.string(key)?;
        found.ok_or_else(|| Reject::missing(&self.at(key), "a string"))
    }

    pub(crate) fn flag(&mut self, key: &str) -> Result<Option<bool>, Reject> {
        self.take(key).map(|value| value.flag()).transpose()
    }

    pub(crate) fn count(&mut self, key: &str) -> Result<Option<u64>, Reject> {
        self.take(key).map(|value| value.count()).transpose()
    }

    /// Takes a limit. Some clients send a negative number for no limit.
    pub(crate) fn limit(&mut self, key: &str) -> Result<Option<u64>, Reject> {
        let value = self.take(key);
        let value = value.filter(|value| !value.number().is_ok_and(|number| number < 0.0));
        value.map(|value| value.count()).transpose()
    }

    pub(crate) fn number(&mut self, key: &str) -> Result<Option<f64>, Reject> {
        self.take(key).map(|value| value.number()).transpose()
    }

    /// Takes the elements of a list; empty if there is no list.
    pub(crate) fn list(&mut self, key: &str) -> Result<Vec<Value<'a>>, Reject> {
        self.take(key).map_or(Ok(Vec::new()), |value| value.list())
    }

    pub(crate) fn object(&mut self, key: &str) -> Result<Option<Members<'a>>, Reject> {
        self.take(key).map(|value| value.members()).transpose()
    }

    /// Applies `rules` to the members that were not taken. What no rule covers is unsupported.
    pub(crate) fn finish(self, rules: &[Rule], request: &mut Request) {
        for (key, value) in &self.items {
            if value.get() == "null" {
                continue;
            }
            match rules.iter().find(|rule| rule.field == key.as_ref() && rule.covers(value)) {
                Some(Rule { wish: true, field, .. }) => {
                    if !request.left_out.contains(field) {
                        request.left_out.push(field);
                    }
                }
                Some(_) => {}
                None => request.unsupported.push(self.at(short(key))),
            }
        }
    }
}

fn short(name: &str) -> &str {
    name.get(..name.floor_char_boundary(LONGEST_NAME)).unwrap_or(name)
}

/// Members in the order in which they were written.
pub(crate) struct Pairs<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de> Deserialize<'de> for Pairs<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<'de>, A::Error> {
                let mut items = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    items.push((Cow::Owned(key), value));
                }
                Ok(Pairs(items))
            }
        }
        deserializer.deserialize_map(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &[Rule] =
        &[Rule::harmless("note"), Rule::harmless_at("n", &["1", "[1,2]"]), Rule::wish("mood")];

    fn judged(json: &str) -> Request {
        let fields: Fields = serde_json::from_str(json).unwrap();
        let mut request = Request::default();
        Members::of(&fields).finish(RULES, &mut request);
        request
    }

    #[test]
    fn what_no_table_knows_is_foreign_and_a_null_is_nothing() {
        for (json, unsupported, left_out) in [
            (r#"{"note":{"a":1},"n":1}"#, vec![], vec![]),
            (r#"{"n":[1, 2]}"#, vec![], vec![]),
            (r#"{"n":2}"#, vec!["n"], vec![]),
            (r#"{"n":null,"x":null}"#, vec![], vec![]),
            (r#"{"mood":"glad"}"#, vec![], vec!["mood"]),
            (r#"{"x":false,"y":0}"#, vec!["x", "y"], vec![]),
        ] {
            let request = judged(json);
            assert_eq!(
                (request.unsupported, request.left_out),
                (unsupported.iter().map(|f| (*f).to_owned()).collect(), left_out),
                "{json}"
            );
        }
        let long = judged(&format!(r#"{{"{}":1}}"#, "é".repeat(500)));
        assert_eq!(long.unsupported, ["é".repeat(32)]);
    }

    #[test]
    fn a_wrong_type_is_told_with_its_path_and_never_its_value() {
        let fields: Fields = serde_json::from_str(r#"{"a":[{"b":"secret"}]}"#).unwrap();
        let list = Members::of(&fields).list("a").unwrap();
        let mut first = list[0].members().unwrap();
        let reject = first.count("b").unwrap_err();
        assert_eq!(reject.param.as_deref(), Some("a[0].b"));
        assert!(!reject.message.contains("secret"));
        assert!(first.take("b").is_none(), "what is taken is gone");
        let reject = first.required("c").unwrap_err();
        assert_eq!(reject.param.as_deref(), Some("a[0].c"));
    }
}
