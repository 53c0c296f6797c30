//! Corrects a history that the relay itself wrote, so that Anthropic accepts it.
//!
//! The client's history holds an answer of another dialect's provider as the relay wrote it. It may
//! have texts of only white space, and ids of calls with characters that Anthropic refuses. The
//! client cannot know that, so here they are changed in the same way as for a client of another
//! dialect. A history without them is not changed.

use crate::common::fields::{Writer, push_array, push_string};
use crate::messages::object::Object;
use crate::messages::pass_request::text::{text, text_block};
use crate::messages::write_request::Ids;
use serde_json::value::RawValue;

/// The messages with the corrections; `None`: nothing had to change.
pub(crate) fn mended(messages: &[&RawValue]) -> Option<Vec<Box<RawValue>>> {
    let turns: Vec<Turn<'_>> = messages.iter().map(|raw| Turn::read(raw)).collect();
    let mut ids = Ids::default();
    let mut changed = false;
    let mut kept: Vec<(&str, String)> = Vec::with_capacity(turns.len());
    // A message was removed here, so its neighbours become one.
    let mut joins = false;
    for turn in &turns {
        let written = turn.write(&mut ids);
        changed |= !matches!(written, Written::Same);
        let json = match written {
            Written::Same => turn.raw.get().to_owned(),
            Written::Anew(json) => json,
            Written::Nothing => {
                joins = true;
                continue;
            }
        };
        let before = kept.last().filter(|(role, _)| joins && *role == turn.role);
        let whole = before.and_then(|(_, last)| joined(last, &json));
        match (whole, kept.last_mut()) {
            (Some(whole), Some((_, last))) => *last = whole,
            _ => kept.push((&turn.role, json)),
        }
        joins = false;
    }
    if !changed {
        return None;
    }
    kept.into_iter().map(|(_, json)| RawValue::from_string(json).ok()).collect()
}

struct Turn<'a> {
    raw: &'a RawValue,
    role: String,
    message: Option<Object<'a>>,
    /// `None`: the content is not a list.
    blocks: Option<Vec<Block<'a>>>,
}

struct Block<'a> {
    raw: &'a RawValue,
    kind: Kind,
}

enum Kind {
    /// A text of only white space.
    Blank,
    /// A call's id.
    Call(String),
    /// The id of a result's call.
    Result(String),
    Other,
}

enum Written {
    Same,
    Anew(String),
    Nothing,
}

impl<'a> Turn<'a> {
    fn read(raw: &'a RawValue) -> Self {
        let message = Object::read(String::new(), raw).ok();
        let role = message.as_ref().and_then(|message| message.text("role").ok()?);
        let blocks = message.as_ref().and_then(|message| message.array("content").ok()?);
        let blocks = blocks.map(|blocks| blocks.into_iter().map(Block::read).collect());
        Self { raw, role: role.unwrap_or_default(), message, blocks }
    }

    fn write<'t>(&'t self, ids: &mut Ids<'t>) -> Written {
        let Some(message) = &self.message else { return Written::Same };
        let is_models = self.role == "assistant";
        let Some(blocks) = &self.blocks else {
            let words = message.text("content").ok().flatten();
            let is_blank = words.is_some_and(|words| words.trim().is_empty());
            // A user's message comes from the user; if it is wrong, the provider says so.
            return if is_models && is_blank { Written::Nothing } else { Written::Same };
        };
        let mut changed = false;
        let mut kept = Vec::with_capacity(blocks.len());
        for block in blocks {
            let (key, old, new) = match &block.kind {
                Kind::Blank => {
                    changed = true;
                    continue;
                }
                Kind::Call(id) => ("id", id, ids.of_call(id)),
                Kind::Result(id) => ("tool_use_id", id, ids.of_result(id)),
                Kind::Other => {
                    kept.push(block.raw.get().to_owned());
                    continue;
                }
            };
            if *old == new {
                kept.push(block.raw.get().to_owned());
            } else {
                changed = true;
                kept.push(with_id(block.raw, key, &new));
            }
        }
        match (changed, kept.is_empty()) {
            (false, _) => Written::Same,
            (true, true) if is_models => Written::Nothing,
            (true, true) => Written::Same,
            (true, false) => Written::Anew(with_content(message, &kept)),
        }
    }
}

impl<'a> Block<'a> {
    fn read(raw: &'a RawValue) -> Self {
        let block = Object::read(String::new(), raw).ok();
        let text = |key| block.as_ref().and_then(|block| block.text(key).ok()?);
        let kind = match text("type").as_deref() {
            Some("text") if text("text").is_some_and(|text| text.trim().is_empty()) => Kind::Blank,
            Some("tool_use") => text("id").map_or(Kind::Other, Kind::Call),
            Some("tool_result") => text("tool_use_id").map_or(Kind::Other, Kind::Result),
            _ => Kind::Other,
        };
        Self { raw, kind }
    }
}

fn with_id(block: &RawValue, key: &str, id: &str) -> String {
    let Ok(members) = Object::read(String::new(), block) else { return block.get().to_owned() };
    let mut writer = Writer::new(Vec::new());
    for (name, value) in members.iter() {
        if name == key {
            push_string(id, writer.key(name));
        } else {
            writer.raw(name, value.get());
        }
    }
    text(writer.finish())
}

fn with_content(message: &Object<'_>, blocks: &[String]) -> String {
    let mut writer = Writer::new(Vec::new());
    for (key, value) in message.iter() {
        if key == "content" {
            push_array(blocks.iter().map(String::as_str), writer.key(key));
        } else {
            writer.raw(key, value.get());
        }
    }
    text(writer.finish())
}

/// Joins two messages of one role.
fn joined(first: &str, second: &str) -> Option<String> {
    let read = |json| serde_json::from_str::<&RawValue>(json).ok();
    let first = Object::read(String::new(), read(first)?).ok()?;
    let second = Object::read(String::new(), read(second)?).ok()?;
    let mut blocks = blocks_of(&first);
    blocks.extend(blocks_of(&second));
    Some(with_content(&first, &blocks))
}

fn blocks_of(message: &Object<'_>) -> Vec<String> {
    match message.get("content") {
        Some(words) if words.get().starts_with('"') => vec![text_block(words.get())],
        _ => {
            let list = message.array("content").ok().flatten().unwrap_or_default();
            list.into_iter().map(|raw| raw.get().to_owned()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended_so(messages: &str) -> Option<String> {
        let list: Vec<&RawValue> = serde_json::from_str(messages).unwrap();
        let mended = mended(&list)?;
        let mut out = Vec::new();
        push_array(mended.iter().map(|raw| raw.get()), &mut out);
        Some(text(out))
    }

    #[test]
    fn a_history_that_anthropic_takes_is_not_touched() {
        for messages in [
            r#"[{"role":"user","content":" "},{"role":"assistant","content":"a"}]"#,
            r#"[{"role":"user","content":[{"type":"text","text":""}]}]"#,
            concat!(
                r#"[{"role":"assistant","content":[{"type":"text","text":" a"},"#,
                r#"{"type":"tool_use","id":"toolu_1-A","name":"f","input":{}}]},"#,
                r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1-A"}]}]"#
            ),
            r#"[7,{"role":"user","content":[7]}]"#,
        ] {
            assert_eq!(mended_so(messages), None, "{messages}");
        }
    }

    #[test]
    fn blank_texts_go_and_neighbours_are_merged() {
        let user = r#"{"role":"user", "content":"\u0061"}"#;
        let other = r#"{"role":"user","content":[{"type":"text", "text":"b"}]}"#;
        let merged = r#"[{"role":"user","content":[{"type":"text","text":"\u0061"},{"type":"text", "text":"b"}]}]"#;
        for blank in [r#""\n\n""#, r#"[{"type":"text","text":"\n\n"},{"type":"text","text":""}]"#] {
            let messages = format!(r#"[{user},{{"role":"assistant","content":{blank}}},{other}]"#);
            assert_eq!(mended_so(&messages).as_deref(), Some(merged), "{blank}");
        }
        let call = r#"{"type":"tool_use", "id":"a","name":"f","input":{}}"#;
        let messages = format!(
            r#"[{user},{{"role":"assistant","content":[{{"type":"text","text":"\n"}},{call}]}}]"#
        );
        let expected = format!(r#"[{user},{{"role":"assistant","content":[{call}]}}]"#);
        assert_eq!(mended_so(&messages), Some(expected));
    }

    #[test]
    fn a_call_and_its_result_get_an_id_that_anthropic_takes() {
        let history = |ids: [&str; 3]| {
            let [first, second, third] = ids;
            let result =
                |id: &str| format!(r#"{{"type":"tool_result","tool_use_id":"{id}","n":1.0}}"#);
            let call =
                |id: &str| format!(r#"{{"type":"tool_use","id":"{id}","name":"f","input":{{}}}}"#);
            format!(
                r#"[{{"role":"assistant","content":[{},{}]}},{{"role":"user","content":[{},{}]}},{{"role":"assistant","content":[{}]}},{{"role":"user","content":[{}]}}]"#,
                call(first),
                call(second),
                result(first),
                result(second),
                call(third),
                result(third),
            )
        };
        assert_eq!(
            mended_so(&history(["functions.f:0", "b", "b"])),
            Some(history(["functions_f_0", "b", "b_0"]))
        );
    }
}
