//! A responses client's request for a rung that speaks responses: the client's bytes, less
//! what is the relay's own.

use crate::dialect::fields::{Fields, Writer, push_array, push_string};
use crate::dialect::neutral::{Target, Upstream, again_prompt, schema_prompt};
use crate::dialect::request::openai::{limit, one_tool, paragraphs, strings};
use crate::dialect::request::{asks_for_schema, member};
use serde_json::value::RawValue;

/// The body for a rung: always a stream, under the rung's own model name, everything else
/// as the client wrote it but for what `target` asks to be different.
#[must_use]
pub fn pass_through(fields: &Fields, target: &Target<'_>) -> Upstream {
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
            "input" if target.system.is_some() || target.again.is_some() => {
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
    Upstream { body: writer.finish(), left_out: Vec::new() }
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
    paragraphs([first.as_str(), second.as_str()])
}

/// `text` without its format; `None`: nothing is left.
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

/// The client's input without its system prompts, if the rung has one of its own, and with
/// a question asked again.
fn input(client: &RawValue, target: &Target<'_>, out: &mut Vec<u8>) {
    let items: Option<Vec<&RawValue>> = serde_json::from_str(client.get()).ok();
    let is_text = items.is_none();
    if is_text && target.again.is_none() {
        out.extend_from_slice(client.get().as_bytes());
        return;
    }
    let mut all: Vec<String> = match items {
        Some(items) => items.iter().map(|item| item.get().to_owned()).collect(),
        None => vec![asked(client)],
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

/// An input that is a text, as an item.
fn asked(text: &RawValue) -> String {
    let mut writer = Writer::new(Vec::new());
    push_string("user", writer.key("role"));
    writer.raw("content", text.get());
    String::from_utf8(writer.finish()).unwrap_or_default()
}

fn is_system(item: &str) -> bool {
    let members: Fields = serde_json::from_str(item).unwrap_or_default();
    matches!(members.text("role"), Some("\"system\"" | "\"developer\""))
}
