//! Finds and changes texts at given places of a JSON document. Every other byte stays unchanged.

use crate::common::fields::{Writer, push_array};
use crate::common::members::Pairs;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A place in a document, relative to the value that holds it.
#[derive(Debug)]
pub(crate) enum Spot {
    /// The name of a tool.
    Name,
    /// The id of a call.
    Id,
    /// Within these members of an object.
    In(&'static [(&'static str, Self)]),
    /// Within each element of a list.
    Each(&'static Self),
}

/// The text at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found<'t> {
    Name(&'t str),
    Id(&'t str),
}

/// A member of a request that may hold names or ids, a text, and the place in the member. Without
/// that text the member holds none: searching for it is faster than reading the member.
pub(crate) type Part = (&'static str, &'static str, Spot);

/// Calls `change` for every text at `spot` in `raw`. The text that `change` returns replaces it.
/// `None`: nothing was changed.
pub(crate) fn edit(
    raw: &str,
    spot: &Spot,
    change: &mut dyn FnMut(Found<'_>) -> Option<String>,
) -> Option<String> {
    match spot {
        Spot::Name | Spot::Id => {
            if !raw.starts_with('"') {
                return None;
            }
            let text: Cow<'_, str> = serde_json::from_str(raw).ok()?;
            let is_id = matches!(spot, Spot::Id);
            let changed = change(if is_id { Found::Id(&text) } else { Found::Name(&text) })?;
            serde_json::to_string(&changed).ok()
        }
        Spot::In(within) => {
            let Pairs(pairs) = serde_json::from_str(raw).ok()?;
            let mut changed = false;
            let mut written = Vec::with_capacity(pairs.len());
            for (key, value) in pairs {
                let spot = within.iter().find(|(name, _)| *name == key);
                let new = spot.and_then(|(_, spot)| edit(value.get(), spot, change));
                changed |= new.is_some();
                written.push((key, new.map_or(Cow::Borrowed(value.get()), Cow::Owned)));
            }
            changed.then(|| {
                let mut writer = Writer::new(Vec::with_capacity(raw.len()));
                written.iter().for_each(|(key, value)| writer.raw(key, value));
                text(writer.finish())
            })
        }
        Spot::Each(spot) => {
            let list: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
            let mut changed = false;
            let mut written = Vec::with_capacity(list.len());
            for value in list {
                let new = edit(value.get(), spot, change);
                changed |= new.is_some();
                written.push(new.map_or(Cow::Borrowed(value.get()), Cow::Owned));
            }
            changed.then(|| {
                let mut out = Vec::with_capacity(raw.len());
                push_array(written.iter().map(AsRef::as_ref), &mut out);
                text(out)
            })
        }
    }
}

/// JSON that was made from text is valid text.
fn text(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: Spot = Spot::In(&[("id", Spot::Id), ("f", Spot::In(&[("name", Spot::Name)]))]);
    const CALLS: Spot = Spot::In(&[("calls", Spot::Each(&CALL))]);

    #[test]
    fn only_the_texts_at_the_places_change() {
        for (before, after) in [
            (
                r#"{"n": 1.0,"calls":[{"id":"A","x":"A"},{"f":{"name":"A","k":["A"]}}]}"#,
                Some(
                    r#"{"n":1.0,"calls":[{"id":"id A","x":"A"},{"f":{"name":"name A","k":["A"]}}]}"#,
                ),
            ),
            (r#"{"calls":[{"id":"\u0041"}]}"#, Some(r#"{"calls":[{"id":"id A"}]}"#)),
            (r#"{"calls":[{"id":7,"f":null},"A",null]}"#, None),
            (r#"{"calls":{"id":"A"}}"#, None),
            (r#"{"id":"A"}"#, None),
            (r#"["A"]"#, None),
            (r#"{"calls":[{"id":"B"}]}"#, None),
            ("no JSON", None),
        ] {
            let changed = edit(before, &CALLS, &mut |found| match found {
                Found::Name("A") => Some("name A".to_owned()),
                Found::Id("A") => Some("id A".to_owned()),
                _ => None,
            });
            assert_eq!(changed.as_deref(), after, "{before}");
        }
    }
}
