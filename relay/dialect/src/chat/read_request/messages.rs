//! Reads chat messages into turns.

use crate::common::members::{Members, Rule, Value};
use crate::common::openai::{
    CACHE_MARK, audio, content_of, file, free_arguments, gemini_proof, image,
};
use crate::common::reject::Reject;
use crate::neutral::{Part, Request, Role, Signed};
use shared::Dialect;

/// What is done with a message's other fields.
const MESSAGE: &[Rule] = &[
    CACHE_MARK,
    // The name of one of several speakers. Other dialects cannot express it, and answer
    // nevertheless.
    Rule::wish("name"),
    // Fields of an answer that clients send back.
    Rule::harmless_at("annotations", &["[]"]),
    Rule::harmless_at("tool_calls", &["[]"]),
    PARSED,
];

/// The tool's name of a result is also in its call.
const RESULT: &[Rule] = &[CACHE_MARK, Rule::harmless("name")];

const CALL: &[Rule] = &[Rule::harmless("index")];

/// OpenAI's SDKs add what they have parsed to an answer, and it is sent back with it.
const PARSED: Rule = Rule::harmless("parsed");

const FUNCTION: &[Rule] = &[Rule::harmless("parsed_arguments")];

const PART: &[Rule] = &[CACHE_MARK];

/// Fields that only order the pieces of reasoning.
const DETAIL: &[Rule] = &[Rule::harmless("id"), Rule::harmless("format"), Rule::harmless("index")];

pub(crate) fn read(message: &Value<'_>, request: &mut Request) -> Result<(), Reject> {
    let mut members = message.members()?;
    match members.required("role")?.as_str() {
        "system" | "developer" => system(&mut members, request)?,
        "user" => {
            let mut parts = content(&mut members, request)?;
            if parts.is_empty() {
                // Without this turn the turn before it would end the conversation.
                parts.push(Part::Text(String::new()));
            }
            parts.into_iter().for_each(|part| request.push(Role::User, part));
        }
        "assistant" => assistant(&mut members, request)?,
        "tool" => {
            let id = members.required("tool_call_id")?;
            let parts = content(&mut members, request)?;
            request.push(Role::User, Part::Result { id, parts, is_error: false });
            members.finish(RESULT, request);
            return Ok(());
        }
        _ => {
            request.unsupported.push(members.at("role"));
            return Ok(());
        }
    }
    members.finish(MESSAGE, request);
    Ok(())
}

fn system(members: &mut Members<'_>, request: &mut Request) -> Result<(), Reject> {
    let path = members.at("content");
    for part in content(members, request)? {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => request.system.push(text),
            _ => request.unsupported.push(path.clone()),
        }
    }
    Ok(())
}

/// Reads a message's content: a text, or a list of parts.
fn content(members: &mut Members<'_>, request: &mut Request) -> Result<Vec<Part>, Reject> {
    let Some(value) = members.take("content") else { return Ok(Vec::new()) };
    content_of(&value, request, part)
}

fn part(value: &Value<'_>, request: &mut Request) -> Result<Option<Part>, Reject> {
    let mut members = value.members()?;
    let part = match members.required("type")?.as_str() {
        "text" => Some(Part::Text(members.required("text")?)),
        "refusal" => Some(Part::Refusal(members.required("refusal")?)),
        "image_url" => picture(&mut members, request)?,
        "input_audio" => audio(&mut members, request)?,
        "file" => document(&mut members, request)?,
        "thinking" => Some(mistral_thinking(&mut members, request)?),
        _ => {
            request.unsupported.push(members.at("type"));
            return Ok(None);
        }
    };
    members.finish(PART, request);
    Ok(part)
}

fn picture(members: &mut Members<'_>, request: &mut Request) -> Result<Option<Part>, Reject> {
    let missing = Reject::missing(&members.at("image_url"), "an object with a url");
    let value = members.take("image_url").ok_or(missing)?;
    if value.is_string() {
        // Mistral's form.
        return Ok(image(&value.string()?, value.path(), None, request));
    }
    let mut inner = value.members()?;
    let (url, detail) = (inner.required("url")?, inner.string("detail")?);
    let part = image(&url, &inner.at("url"), detail, request);
    inner.finish(&[], request);
    Ok(part)
}

fn document(members: &mut Members<'_>, request: &mut Request) -> Result<Option<Part>, Reject> {
    let missing = Reject::missing(&members.at("file"), "an object with file_data");
    let mut inner = members.object("file")?.ok_or(missing)?;
    let name = inner.string("filename")?;
    let data = inner.string("file_data")?;
    let part = data.and_then(|url| file(&url, &inner.at("file_data"), name, request));
    // A `file_id` is left to be unsupported: only its own provider can find it.
    inner.finish(&[], request);
    Ok(part)
}

fn mistral_thinking(members: &mut Members<'_>, request: &mut Request) -> Result<Part, Reject> {
    let mut all = String::new();
    for piece in members.list("thinking")? {
        let mut inner = piece.members()?;
        if inner.required("type")? == "text" {
            all.push_str(&inner.required("text")?);
        } else {
            request.unsupported.push(inner.at("type"));
        }
        inner.finish(&[], request);
    }
    members.take("closed");
    Ok(Part::Reasoning { text: all, signed: None })
}

fn assistant(members: &mut Members<'_>, request: &mut Request) -> Result<(), Reject> {
    for part in reasoning(members, request)? {
        request.push(Role::Assistant, part);
    }
    let path = members.at("content");
    for part in content(members, request)? {
        match part {
            // `content: ""` beside calls means the same as null; other providers refuse an empty
            // text.
            Part::Text(text) if text.is_empty() => {}
            Part::Text(_) | Part::Refusal(_) | Part::Reasoning { .. } => {
                request.push(Role::Assistant, part);
            }
            _ => request.unsupported.push(path.clone()),
        }
    }
    if let Some(text) = members.string("refusal")? {
        request.push(Role::Assistant, Part::Refusal(text));
    }
    for value in members.list("tool_calls")? {
        if let Some(part) = call(&value, request)? {
            request.push(Role::Assistant, part);
        }
    }
    Ok(())
}

fn call(value: &Value<'_>, request: &mut Request) -> Result<Option<Part>, Reject> {
    let mut members = value.members()?;
    let kind = members.string("type")?;
    if kind.as_deref() == Some("custom") {
        return custom_call(members, request).map(Some);
    }
    if !matches!(kind.as_deref(), None | Some("" | "function")) {
        request.unsupported.push(members.at("type"));
        return Ok(None);
    }
    let id = members.required("id")?;
    let missing = Reject::missing(&members.at("function"), "an object with name and arguments");
    let mut function = members.object("function")?.ok_or(missing)?;
    let name = function.required("name")?;
    let arguments = function.string("arguments")?.filter(|json| !json.trim().is_empty());
    let arguments = arguments.unwrap_or_else(|| "{}".to_owned());
    let signed = gemini_proof(&mut members, request)?;
    function.finish(FUNCTION, request);
    members.finish(CALL, request);
    Ok(Some(Part::Call { id, name, arguments, signed }))
}

/// A call whose input was free text.
fn custom_call(mut members: Members<'_>, request: &mut Request) -> Result<Part, Reject> {
    let id = members.required("id")?;
    let missing = Reject::missing(&members.at("custom"), "an object with name and input");
    let mut custom = members.object("custom")?.ok_or(missing)?;
    let name = custom.required("name")?;
    let arguments = free_arguments(&custom.string("input")?.unwrap_or_default());
    let signed = gemini_proof(&mut members, request)?;
    custom.finish(FUNCTION, request);
    members.finish(CALL, request);
    Ok(Part::Call { id, name, arguments, signed })
}

/// Reads reasoning that is sent back to a provider: as a text in one of two fields, and as
/// `reasoning_details`, which have the signatures. A text that is in both is read once.
fn reasoning(members: &mut Members<'_>, request: &mut Request) -> Result<Vec<Part>, Reject> {
    let other = members.string("reasoning")?;
    let plain = members.string("reasoning_content")?.or(other).filter(|text| !text.is_empty());
    let mut parts = Vec::new();
    let mut last = None;
    for value in members.list("reasoning_details")? {
        let mut detail = value.members()?;
        let index = detail.count("index")?;
        let part = match detail.required("type")?.as_str() {
            "reasoning.text" => Part::Reasoning {
                text: detail.string("text")?.unwrap_or_default(),
                signed: proof(detail.string("signature")?),
            },
            "reasoning.summary" => Part::Reasoning {
                text: detail.string("summary")?.unwrap_or_default(),
                signed: None,
            },
            "reasoning.encrypted" => match proof(Some(detail.required("data")?)) {
                Some(signed) => Part::Redacted(signed),
                None => continue,
            },
            _ => {
                request.unsupported.push(detail.at("type"));
                continue;
            }
        };
        detail.finish(DETAIL, request);
        add(part, index.is_some() && last == index, &mut parts);
        last = index;
    }
    let is_told = |part: &Part| matches!(part, Part::Reasoning { text, .. } if !text.is_empty());
    if let Some(plain) = plain.filter(|_| !parts.iter().any(is_told)) {
        match parts.iter_mut().find_map(|part| match part {
            Part::Reasoning { text, .. } => Some(text),
            _ => None,
        }) {
            Some(text) => *text = plain,
            None => parts.insert(0, Part::Reasoning { text: plain, signed: None }),
        }
    }
    Ok(parts)
}

/// Adds a piece. Clients that collect a stream send its pieces back under one index.
fn add(part: Part, continues: bool, parts: &mut Vec<Part>) {
    match (part, parts.last_mut()) {
        (
            Part::Reasoning { text, signed },
            Some(Part::Reasoning { text: all, signed: none @ None }),
        ) if continues => {
            all.push_str(&text);
            *none = signed;
        }
        (part, _) => parts.push(part),
    }
}

fn proof(text: Option<String>) -> Option<Signed> {
    let text = text.filter(|text| !text.is_empty())?;
    Some(Signed::read(Dialect::OpenaiChat, &text))
}
