//! Writes a responses client's request for a rung that speaks responses: the client's own bytes,
//! without the fields that the relay sets itself.

use crate::common::fields::{Fields, Writer, push_array, push_string};
use crate::common::json::string_inner;
use crate::common::needs::asks_for_schema;
use crate::common::openai::{limit, one_tool, paragraphs, strings};
use crate::common::values::member;
use crate::neutral::{Signed, Target, Upstream, again_prompt, schema_prompt};
use crate::responses::references::is_own;
use serde_json::value::RawValue;

/// The body for a rung. It always asks for a stream and has the rung's own model name. Everything
/// else stays as the client wrote it, except the changes that `target` asks for.
#[must_use]
pub fn pass_request(fields: &Fields, target: &Target<'_>) -> Upstream {
    let room = fields.iter().map(|(key, value)| key.len() + value.get().len() + 4).sum();
    let mut writer = Writer::new(Vec::with_capacity(room));
    let one_tool = one_tool(fields, target.degrade);
    let schema = degraded_schema(fields, target);
    let is_retold = target.system.is_some() || schema.is_some();
    let mut parallel_written = false;
    if is_retold {
        let instructions = instructions(fields, schema, target);
        if !instructions.is_empty() {
            writer.string("instructions", &instructions);
        }
    }
    for (key, value) in fields.iter() {
        match key {
            "model" => writer.string(key, target.model),
            "stream" => {}
            "instructions" if is_retold => {}
            "input" if target.system.is_some() || target.again.is_some() || has_own(value) => {
                input(value, target, writer.key(key));
            }
            "text" if schema.is_some() => {
                if let Some(rest) = without_format(value) {
                    writer.key(key).extend_from_slice(&rest);
                }
            }
            "parallel_tool_calls" if one_tool => {
                parallel_written = true;
                writer.raw(key, "false");
            }
            "max_output_tokens" => match limit(value, target) {
                Some(most) => writer.raw(key, &most.to_string()),
                None => writer.raw(key, value.get()),
            },
            _ => writer.raw(key, value.get()),
        }
    }
    if one_tool && !parallel_written {
        writer.raw("parallel_tool_calls", "false");
    }
    writer.raw("stream", "true");
    Upstream { body: writer.finish(), ..Upstream::default() }
}

/// The schema that has to go into the instructions.
fn degraded_schema<'f>(fields: &'f Fields, target: &Target<'_>) -> Option<&'f RawValue> {
    let text = fields.get("text").filter(|_| target.degrade.json_schema)?;
    let format = member(text, "format").filter(|format| asks_for_schema(format.get()))?;
    member(format, "schema")
}

fn instructions(fields: &Fields, schema: Option<&RawValue>, target: &Target<'_>) -> String {
    let client: Option<String> =
        fields.text("instructions").and_then(|raw| serde_json::from_str(raw).ok());
    let first = target.system.map(str::to_owned).or(client).unwrap_or_default();
    let second = schema.map(schema_prompt).unwrap_or_default();
    paragraphs([first.as_str(), second.as_str()]).into_owned()
}

/// `text` without its format; `None`: nothing is left of it.
fn without_format(text: &RawValue) -> Option<Vec<u8>> {
    let members: Fields = serde_json::from_str(text.get()).unwrap_or_default();
    let mut writer = Writer::new(Vec::new());
    let mut kept = false;
    for (key, value) in members.iter().filter(|(key, _)| *key != "format") {
        kept = true;
        writer.raw(key, value.get());
    }
    kept.then(|| writer.finish())
}

/// Writes the client's input, without its system prompts if the rung has one of its own, and with
/// the question asked again if `target` wants that.
fn input(client: &RawValue, target: &Target<'_>, out: &mut Vec<u8>) {
    let items: Option<Vec<&RawValue>> = serde_json::from_str(client.get()).ok();
    let is_text = items.is_none();
    if is_text && target.again.is_none() {
        out.extend_from_slice(client.get().as_bytes());
        return;
    }
    let mut all: Vec<String> = match items {
        Some(items) => items.iter().filter_map(|item| without_own(item)).collect(),
        None => vec![text_as_item(client)],
    };
    if target.system.is_some() {
        all.retain(|item| !is_system(item));
    }
    if let Some(again) = target.again {
        if !again.answer.trim().is_empty() {
            all.push(strings(&[("role", "assistant"), ("content", again.answer)]));
        }
        all.push(strings(&[("role", "user"), ("content", &again_prompt(again.problem))]));
    }
    push_array(all.iter().map(String::as_str), out);
}

/// The start of every id that the relay makes for an item, after its kind.
const OWN: &str = "_req_";

/// Whether the input may hold something that the relay made.
fn has_own(input: &RawValue) -> bool {
    let finds = |needle: &str| memchr::memmem::find(input.get().as_bytes(), needle.as_bytes());
    finds(OWN).is_some() || finds("\"belay.").is_some()
}

/// An item of the history, without the ids and signatures that the relay wrote for a client whose
/// answer came from another dialect. The provider would look for such ids among its own, not find
/// them, and refuse the whole conversation. `None`: nothing is left of the item.
fn without_own(item: &RawValue) -> Option<String> {
    let members: Fields = serde_json::from_str(item.get()).unwrap_or_default();
    let text = |key: &str| members.text(key).and_then(string_inner).unwrap_or_default();
    let is_own = is_own(text("id"));
    let is_foreign = Signed::is_marked(text("encrypted_content"));
    if text("type") == "reasoning" && (is_own || is_foreign) {
        return None;
    }
    if !is_own {
        return Some(item.get().to_owned());
    }
    let mut writer = Writer::new(Vec::new());
    for (key, value) in members.iter().filter(|(key, _)| *key != "id") {
        writer.raw(key, value.get());
    }
    String::from_utf8(writer.finish()).ok()
}

/// Writes an input that is a text as an item.
fn text_as_item(text: &RawValue) -> String {
    let mut writer = Writer::new(Vec::new());
    push_string("user", writer.key("role"));
    writer.raw("content", text.get());
    String::from_utf8(writer.finish()).unwrap_or_default()
}

fn is_system(item: &str) -> bool {
    let members: Fields = serde_json::from_str(item).unwrap_or_default();
    matches!(members.text("role"), Some("\"system\"" | "\"developer\""))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neutral::Degrade;
    use serde_json::{Value, json};

    fn passed(input: &Value) -> Value {
        let fields: Fields = serde_json::from_str(&json!({"input": input}).to_string()).unwrap();
        let target = Target {
            model: "m",
            max_output: None,
            ask_usage: true,
            system: None,
            degrade: Degrade::default(),
            again: None,
        };
        let body: Value = serde_json::from_slice(&pass_request(&fields, &target).body).unwrap();
        body["input"].clone()
    }

    #[test]
    fn what_the_relay_made_up_does_not_go_back_and_all_else_does() {
        let user = json!({"role": "user", "content": "what is rs_req_1?"});
        let theirs =
            json!({"type": "reasoning", "id": "rs_68", "summary": [], "encrypted_content": "gAAA"});
        let call = json!({"type": "function_call", "id": "fc_req_1_2", "call_id": "call_1", "name": "f", "arguments": "{}"});
        let input = json!([
            user,
            theirs,
            {"type": "reasoning", "id": "rs_req_1_0", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "reasoning", "id": "rs_9", "summary": [], "encrypted_content": "belay.gemini.AA"},
            call,
            {"type": "function_call_output", "call_id": "call_1", "output": "1"},
        ]);
        let mut without_id = call.clone();
        without_id.as_object_mut().unwrap().remove("id");
        let output = json!({"type": "function_call_output", "call_id": "call_1", "output": "1"});
        assert_eq!(passed(&input), json!([user, theirs, without_id, output]));
        assert_eq!(passed(&json!("a text with rs_req_ in it")), "a text with rs_req_ in it");
    }
}
