//! Resolves references to items of earlier answers, and keeps those items.
//!
//! Some SDKs send the id of an item instead of the item, and expect the provider to have kept it.
//! If the relay wrote an item for another dialect's answer, only the relay can know it.

use crate::common::fields::{Fields, push_array};
use crate::common::json::{elements, string_inner};
use crate::common::reject::Reject;
use crate::spec::Followed;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The beginnings of the item ids that this relay makes.
const OWN: &[&str] = &["rs_req_", "msg_req_", "fc_req_", "ctc_req_"];

/// Whether this relay made the item with this id.
pub(crate) fn is_own(id: &str) -> bool {
    OWN.iter().any(|start| id.starts_with(start))
}

/// The beginning of the answer ids that this relay makes.
const OWN_ANSWER: &str = "resp_req_";

/// The most bytes of kept items that one request may refer to.
const MOST_FOLLOWED: usize = 16 << 20;

/// A longer conversation is not kept, in bytes.
const MOST_KEPT: usize = 1 << 20;

/// The key of an answer among the kept items: no item has such an id.
fn place_of(answer: &str) -> String {
    format!("answer:{answer}")
}

/// What the client can do about a reference that cannot be resolved.
pub(crate) const UNKNOWN: &str = "the item is kept elsewhere, or no longer here. Send the items \
                                  themselves instead of references to them; most SDKs do with \
                                  'store': false";

/// A request's input with items in place of references.
#[derive(Debug, Default)]
struct Found {
    /// Only the items that this relay made were put in: for a rung of this dialect, which may know
    /// the others. `None`: there was none.
    pub(crate) own: Option<Box<RawValue>>,
    /// All known items were put in. `None`: none is known.
    pub(crate) all: Option<Box<RawValue>>,
    /// This relay made the previous answer, and it is in `own` as well.
    pub(crate) previous_is_own: bool,
}

/// The kept conversation up to the answer that a request follows.
struct Before {
    items: String,
    is_own: bool,
}

/// The conversation that a request continues, if it is kept.
fn before(
    fields: &Fields,
    find: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Before>, Reject> {
    const PARAM: &str = "previous_response_id";
    let id: Option<String> = fields.text(PARAM).and_then(|raw| serde_json::from_str(raw).ok());
    let Some(id) = id else { return Ok(None) };
    let is_own = id.starts_with(OWN_ANSWER);
    match find(&place_of(&id)) {
        Some(items) => Ok(Some(Before { items, is_own })),
        None if is_own => {
            let message = format!(
                "'{PARAM}' cannot be followed: the answer was asked for with 'store': false, is \
                 not here any longer, or was too large to be kept. Send the items of the \
                 conversation themselves, as most SDKs do with 'store': false."
            );
            Err(Reject::new(PARAM, "previous_response_not_found", message))
        }
        None => Ok(None),
    }
}

/// A request with the items that it refers to put in; `None`: none of them is known.
///
/// # Errors
///
/// An item or answer that this relay made is not kept any more; no provider ever knew it.
pub(crate) fn followed(
    fields: &Fields,
    find: &dyn Fn(&str) -> Option<String>,
) -> Result<Option<Followed>, Reject> {
    let found = follow(fields, find)?;
    let Some(all) = found.all else { return Ok(None) };
    let (mut own, mut full) = (fields.clone(), fields.clone());
    full.set("input".to_owned(), all);
    let without_previous = |fields: &mut Fields| {
        if fields.text("previous_response_id").is_some()
            && let Ok(none) = RawValue::from_string("null".to_owned())
        {
            fields.set("previous_response_id".to_owned(), none);
        }
    };
    // The history is in the input now, and the same id would be looked up again.
    without_previous(&mut full);
    if let Some(items) = found.own {
        own.set("input".to_owned(), items);
    }
    if found.previous_is_own {
        without_previous(&mut own);
    }
    Ok(Some(Followed { full, own }))
}

/// Puts items in place of references. `find` returns an item by its id.
///
/// # Errors
///
/// An item or answer that this relay made is not kept any more; no provider ever knew it.
fn follow(fields: &Fields, find: &dyn Fn(&str) -> Option<String>) -> Result<Found, Reject> {
    let before = before(fields, find)?;
    let input = fields.get("input");
    if before.is_none() && !input.is_some_and(|input| may_refer(input.get())) {
        return Ok(Found::default());
    }
    let previous_is_own = before.as_ref().is_some_and(|before| before.is_own);
    let (mut own, mut all) = (Vec::new(), Vec::new());
    let (mut own_changed, mut all_changed) = (previous_is_own, before.is_some());
    let known: Option<&RawValue> =
        before.as_ref().and_then(|before| serde_json::from_str(&before.items).ok());
    for item in elements(known) {
        all.push(Cow::Borrowed(item.get()));
    }
    if previous_is_own {
        own.clone_from(&all);
    }
    let mut followed = before.as_ref().map_or(0, |before| before.items.len());
    let asked = input_items(input);
    for (n, here) in asked.into_iter().enumerate() {
        let Some(id) = reference(&here) else {
            own.push(here.clone());
            all.push(here);
            continue;
        };
        match (find(&id), is_own(&id)) {
            (Some(item), is_own) => {
                followed = followed.saturating_add(item.len());
                if followed > MOST_FOLLOWED {
                    let message = "The items that 'input' refers to are too large together. Send \
                                   fewer, or the items themselves.";
                    return Err(Reject::new("input", "items_too_large", message));
                }
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
    Ok(Found {
        own: own_changed.then(|| written(own)).flatten(),
        all: all_changed.then(|| written(all)).flatten(),
        previous_is_own,
    })
}

/// The whole conversation as one list. It is copied and not read, because this happens beside other
/// streams. `None`: it is too large to be kept.
fn conversation(input: Option<&RawValue>, output: &[&RawValue]) -> Option<String> {
    let asked = input.map(RawValue::get).unwrap_or_default();
    if asked.len() > MOST_KEPT {
        return None;
    }
    let items = asked.strip_prefix('[').and_then(|items| items.strip_suffix(']'));
    let asked = match items {
        Some(items) => Cow::Borrowed(items.trim_ascii()),
        None if asked.starts_with('"') => Cow::Owned(users(asked)),
        None => Cow::Borrowed(""),
    };
    let output = output.iter().map(|item| item.get());
    let all = std::iter::once(asked.as_ref()).filter(|items| !items.is_empty()).chain(output);
    let mut list = Vec::new();
    push_array(all, &mut list);
    String::from_utf8(list).ok()
}

/// A text as an item of the user.
fn users(text: &str) -> String {
    format!(r#"{{"role":"user","content":{text}}}"#)
}

/// A request's input as items: a text becomes an item of the user.
fn input_items(input: Option<&RawValue>) -> Vec<Cow<'_, str>> {
    match input {
        Some(text) if text.get().starts_with('"') => {
            vec![Cow::Owned(users(text.get()))]
        }
        input => elements(input).into_iter().map(|item| Cow::Borrowed(item.get())).collect(),
    }
}

fn may_refer(input: &str) -> bool {
    memchr::memmem::find(input.as_bytes(), b"item_reference").is_some()
}

/// The id that an item refers to; `None`: it is an item itself.
fn reference(item: &str) -> Option<String> {
    if !may_refer(item) {
        return None;
    }
    let members: Fields = serde_json::from_str(item).ok()?;
    let is_one = members.text("type").and_then(string_inner) == Some("item_reference");
    serde_json::from_str(members.text("id").filter(|_| is_one)?).ok()
}

/// What is kept of `answer`, which is a whole answer or the last event of a stream: its items under
/// their ids, and under the answer's id the whole conversation, with the input of the request of
/// these `fields`.
#[must_use]
pub(crate) fn kept(fields: &Fields, answer: &[u8]) -> Vec<(String, String)> {
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
    let output = elements(response.get("output"));
    let mut kept: Vec<(String, String)> = output.iter().copied().filter_map(with_id).collect();
    let id = response.text("id").and_then(|raw| serde_json::from_str::<String>(raw).ok());
    // If it follows an answer that is not kept here, the conversation is not known.
    let id = id.filter(|_| fields.text("previous_response_id").is_none());
    if let Some((id, all)) = id.zip(conversation(fields.get("input"), &output)) {
        kept.push((place_of(&id), all));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(input: &str) -> Result<Found, Reject> {
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
            let all = r#"[{"role":"user","content":"x"},{"id":"a","n":1.0},{"n":2},{"id":"b"}]"#;
            let wanted =
                [("a", r#"{"id":"a","n":1.0}"#), ("b", r#"{"id":"b"}"#), ("answer:r", all)]
                    .map(|(id, item)| (id.to_owned(), item.to_owned()));
            let asked = |json: &str| serde_json::from_str::<Fields>(json).unwrap();
            assert_eq!(kept(&asked(r#"{"input":"x"}"#), answer.as_bytes()), wanted);
            let elsewhere = asked(r#"{"input":"x","previous_response_id":"theirs"}"#);
            assert_eq!(kept(&elsewhere, answer.as_bytes()), wanted[..2]);
        }
        assert!(kept(&Fields::default(), b"no JSON").is_empty());
    }
}
