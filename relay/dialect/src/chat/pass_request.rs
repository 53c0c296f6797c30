//! Writes a chat client's request for a rung that speaks chat: the client's own bytes, without the
//! fields that the relay sets itself.

use crate::common::fields::{Fields, Writer, push_array, push_string};
use crate::common::json::string_inner;
use crate::common::needs::asks_for_schema;
use crate::common::openai::{limit, one_tool, strings};
use crate::common::values::member;
use crate::neutral::{Signed, Target, Upstream, again_prompt, schema_prompt};
use serde_json::value::RawValue;
use std::collections::HashSet;

/// The body for a rung. It always asks for a stream and has the rung's own model name. Everything
/// else stays as the client wrote it, except the changes that `target` asks for.
///
/// `ask_usage` asks for the usage chunk although the client may not have asked. Without it,
/// `include_usage` is sent only if the client itself asked: some providers refuse the field.
#[must_use]
pub fn pass_request(fields: &Fields, target: &Target<'_>) -> Upstream {
    let room = fields.iter().map(|(key, value)| key.len() + value.get().len() + 4).sum();
    let mut writer = Writer::new(Vec::with_capacity(room));
    let one_tool = one_tool(fields, target.degrade);
    let schema = degraded_schema(fields, target);
    let retold = target.system.is_some() || schema.is_some() || target.again.is_some();
    let (mut options_written, mut parallel_written) = (false, false);
    for (key, value) in fields.iter() {
        match key {
            "model" => writer.string(key, target.model),
            "stream" => {}
            "stream_options" => {
                options_written = true;
                if let Some(options) = stream_options(value, target.ask_usage) {
                    writer.key(key).extend_from_slice(&options);
                }
            }
            "messages" if retold || has_marked(value.get()) => {
                messages(value, schema, target, writer.key(key))
            }
            "response_format" if schema.is_some() => {}
            "parallel_tool_calls" if one_tool => {
                parallel_written = true;
                writer.raw(key, "false");
            }
            "max_tokens" | "max_completion_tokens" => match limit(value, target) {
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
    if target.ask_usage && !options_written {
        writer.raw("stream_options", r#"{"include_usage":true}"#);
    }
    Upstream { body: writer.finish(), ..Upstream::default() }
}

/// The schema that has to go into the system prompt.
fn degraded_schema<'f>(fields: &'f Fields, target: &Target<'_>) -> Option<&'f RawValue> {
    let format = fields.get("response_format").filter(|_| target.degrade.json_schema)?;
    if !asks_for_schema(format.get()) {
        return None;
    }
    member(member(format, "json_schema")?, "schema")
}

/// The client's `stream_options` with `include_usage` set, or, if nobody asks for usage, without
/// it. `None`: no option would be left.
fn stream_options(client: &RawValue, ask_usage: bool) -> Option<Vec<u8>> {
    let options: Fields = serde_json::from_str(client.get()).unwrap_or_default();
    if options.text("include_usage") == Some("true") {
        return Some(client.get().as_bytes().to_vec());
    }
    let mut writer = Writer::new(Vec::new());
    let mut kept = ask_usage;
    for (key, value) in options.iter().filter(|(key, _)| *key != "include_usage") {
        kept = true;
        writer.raw(key, value.get());
    }
    if ask_usage {
        writer.raw("include_usage", "true");
    }
    kept.then(|| writer.finish())
}

/// Writes the client's messages, with another system prompt, a schema, or the question asked again.
fn messages(client: &RawValue, schema: Option<&RawValue>, target: &Target<'_>, out: &mut Vec<u8>) {
    let list: Vec<&RawValue> = serde_json::from_str(client.get()).unwrap_or_default();
    let mut all: Vec<String> = list.iter().map(|message| without_marked(message)).collect();
    if let Some(system) = target.system {
        all.retain(|message| !is_system(message));
        if !system.is_empty() {
            all.insert(0, strings(&[("role", "system"), ("content", system)]));
        }
    }
    if let Some(schema) = schema {
        let prompt = schema_prompt(schema);
        // It is added to the first system message, since some templates accept only one.
        match all.first_mut().filter(|message| is_system(message)) {
            Some(message) => *message = with_text(message, &prompt),
            None => all.insert(0, strings(&[("role", "system"), ("content", &prompt)])),
        }
    }
    if let Some(again) = target.again {
        if !again.answer.trim().is_empty() {
            all.push(strings(&[("role", "assistant"), ("content", again.answer)]));
        }
        all.push(strings(&[("role", "user"), ("content", &again_prompt(again.problem))]));
    }
    push_array(all.iter().map(String::as_str), out);
}

/// Whether the messages may hold a signature of another dialect.
fn has_marked(json: &str) -> bool {
    memchr::memmem::find(json.as_bytes(), b"\"belay.").is_some()
}

/// A message without reasoning that another dialect's provider made. This provider would refuse its
/// signature, and without a signature the reasoning is not known to be the model's.
fn without_marked(message: &RawValue) -> String {
    let as_it_is = || message.get().to_owned();
    if !has_marked(message.get()) {
        return as_it_is();
    }
    let members: Fields = serde_json::from_str(message.get()).unwrap_or_default();
    let details = members.text("reasoning_details").and_then(|raw| serde_json::from_str(raw).ok());
    let details: Vec<&RawValue> = details.unwrap_or_default();
    // The pieces of one reasoning have one index, and only the last piece has the signature.
    let index = |detail: &RawValue| member(detail, "index").map(|index| index.get().to_owned());
    let marked: Vec<&RawValue> = details.iter().copied().filter(|it| is_marked(it)).collect();
    if marked.is_empty() || members.text("role") != Some("\"assistant\"") {
        return as_it_is();
    }
    let gone: HashSet<String> = marked.into_iter().filter_map(index).collect();
    let stays = |it: &&RawValue| !is_marked(it) && index(it).is_none_or(|at| !gone.contains(&at));
    let kept: Vec<&str> = details.iter().copied().filter(stays).map(RawValue::get).collect();
    let mut writer = Writer::new(Vec::new());
    for (key, value) in members.iter() {
        match key {
            "reasoning_content" | "reasoning" => {}
            "reasoning_details" if kept.is_empty() => {}
            "reasoning_details" => push_array(kept.iter().copied(), writer.key(key)),
            _ => writer.raw(key, value.get()),
        }
    }
    String::from_utf8(writer.finish()).unwrap_or_default()
}

fn is_marked(detail: &RawValue) -> bool {
    ["signature", "data"].into_iter().any(|key| {
        let proof = member(detail, key).and_then(|raw| string_inner(raw.get()));
        proof.is_some_and(Signed::is_marked)
    })
}

fn is_system(message: &str) -> bool {
    let members: Fields = serde_json::from_str(message).unwrap_or_default();
    matches!(members.text("role"), Some("\"system\"" | "\"developer\""))
}

/// A message with one more paragraph of text.
fn with_text(message: &str, text: &str) -> String {
    let members: Fields = serde_json::from_str(message).unwrap_or_default();
    let mut writer = Writer::new(Vec::new());
    for (key, value) in members.iter() {
        if key != "content" {
            writer.raw(key, value.get());
        }
    }
    let content = members.text("content").unwrap_or("\"\"");
    let parts: Result<Vec<&RawValue>, _> = serde_json::from_str(content);
    match parts {
        Ok(parts) => {
            let added = strings(&[("type", "text"), ("text", text)]);
            let all = parts.iter().map(|part| part.get()).chain([added.as_str()]);
            push_array(all, writer.key("content"));
        }
        Err(_) => {
            let said: String = serde_json::from_str(content).unwrap_or_default();
            let gap = if said.is_empty() { "" } else { "\n\n" };
            push_string(&format!("{said}{gap}{text}"), writer.key("content"));
        }
    }
    String::from_utf8(writer.finish()).unwrap_or_default()
}
