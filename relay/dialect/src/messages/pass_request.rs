//! Writes a request for a rung that speaks messages itself: as the client wrote it.
//!
//! Only what must change is read, and every value that stays keeps its bytes. These things change:
//! the model's name, `stream`, what `target` asks for, and what another provider's answer left in
//! the history: its signatures, blank texts and odd ids. This provider would refuse all of those.

mod history;
mod text;

use crate::common::fields::{Fields, Writer, push_array, push_string};
use crate::messages::object::Object;
use crate::messages::write_request::fit_budget;
use crate::neutral::{Signed, Target, Upstream, again_prompt, lowered, schema_prompt};
use serde_json::value::RawValue;
use text::{text, text_block};

/// The body for `target`.
#[must_use]
pub fn pass_request(fields: &Fields, target: &Target<'_>) -> Upstream {
    let body = Object::of_fields(fields);
    let mut edits = Edits::default();
    edits.set("model", string(target.model));
    edits.set("stream", "true".to_owned());
    if edit_messages(&body, target, &mut edits) {
        edits.leave_out_thinking();
    }
    edit_system(&body, target, &mut edits);
    if target.degrade.parallel_tools {
        one_tool_at_a_time(&body, &mut edits);
    }
    if target.degrade.max_output {
        lower_max_tokens(&body, target, &mut edits);
    }
    let room = fields.iter().map(|(key, value)| key.len() + value.get().len() + 4).sum();
    edits.write(fields, Vec::with_capacity(room))
}

/// The new values of fields.
#[derive(Default)]
struct Edits {
    /// A field's new value; `None`: the field is removed.
    fields: Vec<(&'static str, Option<String>)>,
    left_out: Vec<&'static str>,
}

impl Edits {
    fn set(&mut self, key: &'static str, json: String) {
        self.fields.push((key, Some(json)));
    }

    fn take_out(&mut self, key: &'static str) {
        self.fields.push((key, None));
    }

    fn leave_out_thinking(&mut self) {
        self.take_out("thinking");
        self.left_out.push("thinking");
    }

    fn write(mut self, fields: &Fields, into: Vec<u8>) -> Upstream {
        let mut writer = Writer::new(into);
        for (key, value) in fields.iter() {
            match self.fields.iter().position(|(name, _)| *name == key) {
                None => writer.raw(key, value.get()),
                Some(at) => {
                    if let (_, Some(json)) = self.fields.remove(at) {
                        writer.raw(key, &json);
                    }
                }
            }
        }
        for (key, value) in self.fields {
            if let Some(json) = value {
                writer.raw(key, &json);
            }
        }
        Upstream { body: writer.finish(), left_out: self.left_out, ..Upstream::default() }
    }
}

/// Writes the messages again if one of them must change. Returns whether a signature is missing now
/// without which the provider refuses to reason.
fn edit_messages(body: &Object<'_>, target: &Target<'_>, edits: &mut Edits) -> bool {
    let Some(raw) = body.get("messages") else { return false };
    let may_hold_proofs = raw.get().contains("thinking\"");
    let Ok(Some(list)) = body.array("messages") else { return false };
    let mended = history::mended(&list);
    let mut changed = mended.is_some();
    if !changed && !may_hold_proofs && target.system.is_none() && target.again.is_none() {
        return false;
    }
    let list = match &mended {
        Some(mended) => mended.iter().map(AsRef::as_ref).collect(),
        None => list,
    };
    let mut lost_a_proof = false;
    let mut kept = Vec::with_capacity(list.len());
    for raw in list {
        let Ok(message) = Object::read(String::new(), raw) else {
            kept.push(raw.get().to_owned());
            continue;
        };
        let role = message.text("role").ok().flatten();
        if target.system.is_some() && role.as_deref() == Some("system") {
            changed = true;
            continue;
        }
        let rewritten = may_hold_proofs.then(|| without_foreign_proofs(&message)).flatten();
        if role.as_deref() == Some("assistant") {
            // Only the last of the model's turns must begin with its reasoning.
            lost_a_proof = rewritten.as_ref().is_some_and(|message| message.calls_unproven);
        }
        match rewritten {
            None => kept.push(raw.get().to_owned()),
            Some(message) => {
                changed = true;
                kept.extend(message.json);
            }
        }
    }
    if let Some(again) = target.again {
        changed = true;
        if !again.answer.trim().is_empty() {
            kept.push(plain_message("assistant", again.answer.trim_end()));
        }
        kept.push(plain_message("user", &again_prompt(again.problem)));
    }
    if changed {
        let mut out = Vec::new();
        push_array(kept.iter().map(String::as_str), &mut out);
        edits.set("messages", text(out));
    }
    lost_a_proof && thinks_by_budget(body)
}

/// A message without the signatures of other providers.
struct Rewritten {
    /// `None`: nothing is left of it.
    json: Option<String>,
    /// It calls tools, and there is no reasoning of this provider before the calls.
    calls_unproven: bool,
}

/// Removes signatures of other providers; `None`: the message may stay as it is.
fn without_foreign_proofs(message: &Object<'_>) -> Option<Rewritten> {
    let blocks: Vec<&RawValue> = message.array("content").ok()??;
    let before = blocks.len();
    let mut calls_unproven = false;
    let mut proven = false;
    let mut kept = Vec::with_capacity(before);
    for raw in blocks {
        match kind_of(raw) {
            Kind::Foreign => continue,
            Kind::Proof => proven = true,
            Kind::Call => calls_unproven |= !proven,
            Kind::Other => {}
        }
        kept.push(raw.get());
    }
    if kept.len() == before {
        return None;
    }
    let json = (!kept.is_empty()).then(|| {
        let mut writer = Writer::new(Vec::new());
        for (key, value) in message.iter() {
            if key == "content" {
                push_array(kept.iter().copied(), writer.key(key));
            } else {
                writer.raw(key, value.get());
            }
        }
        text(writer.finish())
    });
    Some(Rewritten { json, calls_unproven })
}

enum Kind {
    Foreign,
    Proof,
    Call,
    Other,
}

fn kind_of(raw: &RawValue) -> Kind {
    let Ok(block) = Object::read(String::new(), raw) else { return Kind::Other };
    let text = |key| block.text(key).ok().flatten().unwrap_or_default();
    let key = match text("type").as_str() {
        "thinking" => "signature",
        "redacted_thinking" => "data",
        "tool_use" => return Kind::Call,
        _ => return Kind::Other,
    };
    let proof = text(key);
    if proof.is_empty() || Signed::is_marked(&proof) { Kind::Foreign } else { Kind::Proof }
}

/// Whether the request has a budget for reasoning. With a budget the provider requires its
/// signatures; with adaptive reasoning it does not.
fn thinks_by_budget(body: &Object<'_>) -> bool {
    let thinking = body.object("thinking").ok().flatten();
    let kind = thinking.and_then(|thinking| thinking.text("type").ok()?);
    kind.as_deref() == Some("enabled")
}

/// Sets the rung's system prompt instead of the client's, and adds the schema that the rung has no
/// field for.
fn edit_system(body: &Object<'_>, target: &Target<'_>, edits: &mut Edits) {
    let schema = target.degrade.json_schema.then(|| take_schema(body, edits)).flatten();
    let mut blocks: Vec<String> = match (target.system, body.get("system")) {
        (None, _) if schema.is_none() => return,
        (Some(""), _) | (None, None) => Vec::new(),
        (Some(system), _) => vec![text_block(&string(system))],
        (None, Some(raw)) if raw.get().starts_with('"') => match raw.get() {
            "\"\"" => Vec::new(),
            words => vec![text_block(words)],
        },
        (None, Some(_)) => {
            let list = body.array("system").ok().flatten().unwrap_or_default();
            list.into_iter().map(|raw| raw.get().to_owned()).collect()
        }
    };
    blocks.extend(schema.map(|schema| text_block(&string(&schema_prompt(&schema)))));
    if blocks.is_empty() {
        edits.take_out("system");
        return;
    }
    let mut out = Vec::new();
    push_array(blocks.iter().map(String::as_str), &mut out);
    edits.set("system", text(out));
}

/// Removes the fields that ask for a schema, and returns the schema.
fn take_schema(body: &Object<'_>, edits: &mut Edits) -> Option<Box<RawValue>> {
    let config = body.object("output_config").ok().flatten();
    let within = config.as_ref().and_then(|config| config.object("format").ok()?);
    let format = within.or_else(|| body.object("output_format").ok()?)?;
    let schema = format.get("schema")?.to_owned();
    edits.take_out("output_format");
    if let Some(config) = config {
        let mut writer = Writer::new(Vec::new());
        for (key, value) in config.iter().filter(|(key, _)| *key != "format") {
            writer.raw(key, value.get());
        }
        match text(writer.finish()) {
            nothing if nothing == "{}" => edits.take_out("output_config"),
            rest => edits.set("output_config", rest),
        }
    }
    Some(schema)
}

fn one_tool_at_a_time(body: &Object<'_>, edits: &mut Edits) {
    let has_tools = body.array("tools").is_ok_and(|tools| tools.is_some_and(|t| !t.is_empty()));
    if !has_tools {
        return;
    }
    let mut writer = Writer::new(Vec::new());
    match body.object("tool_choice") {
        Ok(None) => writer.string("type", "auto"),
        Ok(Some(choice)) if choice.text("type").ok().flatten().as_deref() != Some("none") => {
            for (key, value) in choice.iter().filter(|(key, _)| *key != OFF) {
                writer.raw(key, value.get());
            }
        }
        _ => return,
    }
    writer.raw(OFF, "true");
    edits.set("tool_choice", text(writer.finish()));
}

const OFF: &str = "disable_parallel_tool_use";

/// Lowers the limit if the rung gives less than the client asked for. A budget must stay below the
/// limit, so it is lowered, too.
fn lower_max_tokens(body: &Object<'_>, target: &Target<'_>, edits: &mut Edits) {
    let asked = body.whole("max_tokens").ok().flatten();
    let Some(most) = lowered(asked, target.max_output).filter(|most| Some(*most) != asked) else {
        return;
    };
    edits.set("max_tokens", most.to_string());
    let thinking = body.object("thinking").ok().flatten();
    let Some(thinking) = thinking.filter(|_| edits.left_out.is_empty()) else { return };
    let Some(budget) = thinking.whole("budget_tokens").ok().flatten() else { return };
    match fit_budget(budget, most) {
        Some(same) if same == budget => {}
        None => edits.leave_out_thinking(),
        Some(less) => {
            let mut writer = Writer::new(Vec::new());
            for (key, value) in thinking.iter().filter(|(key, _)| *key != "budget_tokens") {
                writer.raw(key, value.get());
            }
            writer.raw("budget_tokens", &less.to_string());
            edits.set("thinking", text(writer.finish()));
        }
    }
}

fn string(words: &str) -> String {
    let mut out = Vec::new();
    push_string(words, &mut out);
    text(out)
}

fn plain_message(role: &str, words: &str) -> String {
    let mut writer = Writer::new(Vec::new());
    writer.string("role", role);
    writer.string("content", words);
    text(writer.finish())
}
