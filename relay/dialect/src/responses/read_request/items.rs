//! Reads input items of responses into turns.

use crate::common::members::{Members, Rule, Value};
use crate::common::openai::{
    CACHE_MARK, audio, content_of, file, free_arguments, gemini_proof, image,
};
use crate::common::reject::Reject;
use crate::neutral::{Part, Request, Role, Signed};
use crate::responses::read_request::tools::{self, qualified};
use crate::responses::references::UNKNOWN;
use shared::Dialect;

/// Members of an answer's items that clients send back, and what OpenAI's SDK for JavaScript adds
/// to them.
const ITEM: &[Rule] = &[
    Rule::harmless("id"),
    Rule::harmless("status"),
    Rule::harmless("phase"),
    Rule::harmless("parsed_arguments"),
    CACHE_MARK,
];

/// Members that only tell who adds more tools.
const LATE_TOOLS: &[Rule] = &[
    Rule::harmless("id"),
    Rule::harmless("role"),
    Rule::harmless("status"),
    Rule::harmless("call_id"),
    Rule::harmless("execution"),
];

const PART: &[Rule] = &[
    CACHE_MARK,
    Rule::harmless_at("annotations", &["[]"]),
    Rule::harmless_at("logprobs", &["[]"]),
    Rule::harmless("parsed"),
];

pub(crate) fn read(items: &[Value<'_>], request: &mut Request) -> Result<(), Reject> {
    // A signature of Gemini belongs to the call after it.
    let mut proof = None;
    let mut before_last = request.system.len();
    for item in items {
        let known = request.system.len();
        let mut members = item.members()?;
        let kind = members.string("type")?;
        match kind.as_deref() {
            None | Some("message") => message(&mut members, request)?,
            Some("function_call" | "custom_tool_call") => {
                let part = call(&mut members, proof.take(), request)?;
                request.push(Role::Assistant, part);
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                let part = result(&mut members, request)?;
                request.push(Role::User, part);
            }
            Some("reasoning") => match reasoning(&mut members, request)? {
                Some(Part::Redacted(signed)) if signed.by == Dialect::Gemini => {
                    proof = Some(signed);
                }
                Some(part) => request.push(Role::Assistant, part),
                None => {}
            },
            // Tools that were added later, or that the model searched for, are tools like all
            // others.
            Some("additional_tools" | "tool_search_output") => {
                tools::read_all(&members.list("tools")?, request)?;
                members.finish(LATE_TOOLS, request);
                continue;
            }
            // The provider's search is left out; the model's answer after it is kept.
            Some(kind @ ("web_search_call" | "tool_search_call")) => {
                request.left_out.extend(tools::spare(kind));
                continue;
            }
            Some("item_reference") => {
                request.unsupported.push(format!("{}: {UNKNOWN}", members.at("type")));
                continue;
            }
            Some(_) => {
                // Items of the provider's own tools.
                request.unsupported.push(members.at("type"));
                continue;
            }
        }
        members.finish(ITEM, request);
        if request.system.len() == known {
            before_last = known;
        }
    }
    request.end_with_system(before_last);
    Ok(())
}

fn message(members: &mut Members<'_>, request: &mut Request) -> Result<(), Reject> {
    let path = members.at("content");
    let role = members.required("role")?;
    let parts = match members.take("content") {
        Some(value) => content_of(&value, request, part)?,
        None => Vec::new(),
    };
    match role.as_str() {
        // Without this turn the turn before it would end the conversation.
        "user" if parts.is_empty() => request.push(Role::User, Part::Text(String::new())),
        "user" => parts.into_iter().for_each(|part| request.push(Role::User, part)),
        "system" | "developer" => {
            for part in parts {
                match part {
                    Part::Text(text) if text.is_empty() => {}
                    Part::Text(text) => request.system.push(text),
                    _ => request.unsupported.push(path.clone()),
                }
            }
        }
        "assistant" => {
            for part in parts {
                match part {
                    Part::Text(text) if text.is_empty() => {}
                    Part::Text(_) | Part::Refusal(_) => request.push(Role::Assistant, part),
                    _ => request.unsupported.push(path.clone()),
                }
            }
        }
        _ => request.unsupported.push(members.at("role")),
    }
    Ok(())
}

fn part(value: &Value<'_>, request: &mut Request) -> Result<Option<Part>, Reject> {
    let mut members = value.members()?;
    let part = match members.required("type")?.as_str() {
        "input_text" | "output_text" | "text" => Some(Part::Text(members.required("text")?)),
        "refusal" => Some(Part::Refusal(members.required("refusal")?)),
        "input_image" => picture(&mut members, request)?,
        "input_file" => document(&mut members, request)?,
        "input_audio" => audio(&mut members, request)?,
        _ => {
            request.unsupported.push(members.at("type"));
            return Ok(None);
        }
    };
    // A `file_id` is left to be unsupported: only its own provider can find it.
    members.finish(PART, request);
    Ok(part)
}

fn picture(members: &mut Members<'_>, request: &mut Request) -> Result<Option<Part>, Reject> {
    let detail = members.string("detail")?;
    let Some(url) = members.string("image_url")? else { return Ok(None) };
    Ok(image(&url, &members.at("image_url"), detail, request))
}

fn document(members: &mut Members<'_>, request: &mut Request) -> Result<Option<Part>, Reject> {
    let name = members.string("filename")?;
    if let Some(url) = members.string("file_url")? {
        return Ok(file(&url, &members.at("file_url"), name, request));
    }
    let Some(data) = members.string("file_data")? else { return Ok(None) };
    Ok(file(&data, &members.at("file_data"), name, request))
}

fn call(
    members: &mut Members<'_>,
    proof: Option<Signed>,
    request: &mut Request,
) -> Result<Part, Reject> {
    let id = members.required("call_id")?;
    let name = members.required("name")?;
    let name = qualified(&members.string("namespace")?.unwrap_or_default(), name);
    let arguments = match members.string("input")? {
        Some(text) => free_arguments(&text),
        None => {
            let arguments = members.string("arguments")?.filter(|json| !json.trim().is_empty());
            arguments.unwrap_or_else(|| "{}".to_owned())
        }
    };
    let signed = gemini_proof(members, request)?.or(proof);
    Ok(Part::Call { id, name, arguments, signed })
}

fn result(members: &mut Members<'_>, request: &mut Request) -> Result<Part, Reject> {
    let id = members.required("call_id")?;
    let parts = match members.take("output") {
        Some(value) => content_of(&value, request, part)?,
        None => Vec::new(),
    };
    Ok(Part::Result { id, parts, is_error: false })
}

/// Reads reasoning. If it has a text, it is that text with its signature; else only its provider
/// can read it.
fn reasoning(members: &mut Members<'_>, request: &mut Request) -> Result<Option<Part>, Reject> {
    let mut text = String::new();
    for (list, kind) in [("content", "reasoning_text"), ("summary", "summary_text")] {
        for value in members.list(list)? {
            let mut inner = value.members()?;
            if inner.required("type")? != kind {
                request.unsupported.push(inner.at("type"));
                continue;
            }
            let piece = inner.required("text")?;
            inner.finish(&[], request);
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str(&piece);
        }
        if !text.is_empty() {
            // The full text includes everything that is in its summary.
            members.take("summary");
            break;
        }
    }
    let signed = members.string("encrypted_content")?.filter(|data| !data.is_empty());
    let signed = signed.map(|data| Signed::read(Dialect::OpenaiResponses, &data));
    Ok(match (text.is_empty(), signed) {
        (true, None) => None,
        (true, Some(signed)) => Some(Part::Redacted(signed)),
        (false, signed) => Some(Part::Reasoning { text, signed }),
    })
}
