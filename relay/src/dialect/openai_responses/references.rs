//! References to items of earlier answers, and the items themselves.
//!
//! Some SDKs send the id of an item instead of the item, and count on the provider to have
//! kept it. What this relay told in a provider's stead only it can know.

use crate::dialect::fields::{Fields, push_array};
use crate::dialect::json::{elements, string_inner};
use crate::dialect::request::Reject;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// How the ids begin that this relay makes.
const OWN: &[&str] = &["rs_req_", "msg_req_", "fc_req_", "ctc_req_"];

/// Whether this relay made the item of this id.
pub(super) fn is_own(id: &str) -> bool {
    OWN.iter().any(|start| id.starts_with(start))
}

/// What to do about a reference that nobody can follow.
pub(super) const UNKNOWN: &str = "the item is kept elsewhere, or no longer here. Send the items \
                                  themselves instead of references to them; most SDKs do with \
                                  'store': false";

/// A request's input with items in the place of references.
#[derive(Debug, Default)]
pub(in crate::dialect) struct Followed {
    /// Those that this relay made are there, and no others: for a rung of this dialect, which
    /// may know the rest. `None`: there was none.
    pub(in crate::dialect) own: Option<Box<RawValue>>,
    /// All that are known are there. `None`: none is.
    pub(in crate::dialect) all: Option<Box<RawValue>>,
}

/// Puts items, as `find` has them by their ids, into the place of references.
///
/// # Errors
///
/// One that this relay made is not known any more: no provider ever knew it.
pub(in crate::dialect) fn follow(
    fields: &Fields,
    find: &dyn Fn(&str) -> Option<String>,
) -> Result<Followed, Reject> {
    let Some(input) = fields.get("input").filter(|input| may_refer(input.get())) else {
        return Ok(Followed::default());
    };
    let (mut own, mut all) = (Vec::new(), Vec::new());
    let (mut own_changed, mut all_changed) = (false, false);
    for (n, item) in elements(Some(input)).into_iter().enumerate() {
        let here = Cow::Borrowed(item.get());
        let Some(id) = reference(item) else {
            own.push(here.clone());
            all.push(here);
            continue;
        };
        match (find(&id), is_own(&id)) {
            (Some(item), is_own) => {
                own_changed |= is_own;
                all_changed = true;
                own.push(if is_own { Cow::Owned(item.clone()) } else { here });
                all.push(Cow::Owned(item));
            }
            (None, true) => {
                let param = format!("input[{n}].id");
                let message = format!("'{param}' cannot be followed: {UNKNOWN}.");
                return Err(Reject::new(&param, "item_not_found", message));
            }
            (None, false) => {
                own.push(here.clone());
                all.push(here);
            }
        }
    }
    let written = |items: Vec<Cow<'_, str>>| {
        let mut out = Vec::new();
        push_array(items.iter().map(AsRef::as_ref), &mut out);
        RawValue::from_string(String::from_utf8(out).unwrap_or_default()).ok()
    };
    Ok(Followed {
        own: own_changed.then(|| written(own)).flatten(),
        all: all_changed.then(|| written(all)).flatten(),
    })
}

fn may_refer(input: &str) -> bool {
    memchr::memmem::find(input.as_bytes(), b"item_reference").is_some()
}

/// The id that an item refers to; `None`: it is an item itself.
fn reference(item: &RawValue) -> Option<String> {
    let members: Fields = serde_json::from_str(item.get()).ok()?;
    let is_one = members.text("type").and_then(string_inner) == Some("item_reference");
    serde_json::from_str(members.text("id").filter(|_| is_one)?).ok()
}

/// The items of a whole answer, or of the last event of a stream, with their ids.
#[must_use]
pub fn items(answer: &[u8]) -> Vec<(String, String)> {
    let text = String::from_utf8_lossy(answer);
    let data = text.lines().find_map(|line| line.strip_prefix("data: "));
    let top: Fields = serde_json::from_str(data.unwrap_or(&text)).unwrap_or_default();
    let response = top.text("response").and_then(|raw| serde_json::from_str(raw).ok());
    let response: Fields = response.unwrap_or(top);
    let with_id = |item: &RawValue| {
        let members: Fields = serde_json::from_str(item.get()).ok()?;
        let id: String = serde_json::from_str(members.text("id")?).ok()?;
        Some((id, item.get().to_owned()))
    };
    elements(response.get("output")).into_iter().filter_map(with_id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(input: &str) -> Result<Followed, Reject> {
        let fields: Fields = serde_json::from_str(&format!(r#"{{"input":{input}}}"#)).unwrap();
        follow(&fields, &|id| {
            matches!(id, "msg_req_1_0" | "msg_abc").then(|| format!(r#"{{"id":"{id}","x":1}}"#))
        })
    }

    #[test]
    fn e6_a_known_reference_becomes_its_item_and_a_providers_own_stays_for_it() {
        const OWN: &str = r#"{"type":"item_reference","id":"msg_req_1_0"}"#;
        const THEIRS: &str = r#"{"type":"item_reference","id":"msg_abc"}"#;
        const STRANGE: &str = r#"{"type":"item_reference","id":"msg_xyz"}"#;
        let item = |id: &str| format!(r#"{{"id":"{id}","x":1}}"#);
        for (input, own, all) in [
            (r#""a text with item_reference in it""#.to_owned(), None, None),
            (r#"[{"role":"user","content":"item_reference"}]"#.to_owned(), None, None),
            (format!("[{STRANGE}]"), None, None),
            (
                format!("[{OWN},{STRANGE}]"),
                Some(format!("[{},{STRANGE}]", item("msg_req_1_0"))),
                Some(format!("[{},{STRANGE}]", item("msg_req_1_0"))),
            ),
            (format!("[{THEIRS}]"), None, Some(format!("[{}]", item("msg_abc")))),
        ] {
            let found = followed(&input).unwrap();
            assert_eq!(found.own.as_deref().map(RawValue::get), own.as_deref(), "{input}");
            assert_eq!(found.all.as_deref().map(RawValue::get), all.as_deref(), "{input}");
        }
        let reject = followed(r#"[7,{"type":"item_reference","id":"rs_req_1_9"}]"#).unwrap_err();
        assert_eq!(reject.param.as_deref(), Some("input[1].id"));
        assert!(reject.message.contains("'store': false"), "{}", reject.message);
    }

    #[test]
    fn items_are_found_in_a_whole_answer_and_in_the_last_event() {
        let response = r#"{"id":"r","output":[{"id":"a","n":1.0},{"n":2},{"id":"b"}]}"#;
        let event = format!("event: x\ndata: {{\"response\":{response}}}\n\n");
        for answer in [response, event.as_str()] {
            let wanted = [("a", r#"{"id":"a","n":1.0}"#), ("b", r#"{"id":"b"}"#)]
                .map(|(id, item)| (id.to_owned(), item.to_owned()));
            assert_eq!(items(answer.as_bytes()), wanted);
        }
        assert!(items(b"no JSON").is_empty());
    }
}
