//! Writes the conversation in a form that Gemini accepts.

use crate::gemini::write_request::body::{
    Call, Content, FileData, InlineData, Part, Response, Returned,
};
use crate::neutral::{self, Request, Role, Signed, Source, Unsupported};
use serde_json::value::RawValue;
use shared::Dialect;
use std::collections::{HashMap, VecDeque};

/// The beginning of the ids that this relay makes for calls to which Gemini gave none.
const RELAYS_OWN: &str = "call_";

/// The value that Google allows in place of the signature of a call that none of its models made.
const FOREIGN: &str = "skip_thought_signature_validator";

/// Older models, which accept a turn whose first call has no signature.
const LENIENT: &[&str] = &["gemini-1", "gemini-2"];

/// Whether `model` is one of these older models.
pub(crate) fn is_old(model: &str) -> bool {
    LENIENT.iter().any(|old| model.contains(old))
}

/// Media types by the ending of a file's name: Gemini requires a media type.
const ENDINGS: &[(&str, &str)] = &[
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("heic", "image/heic"),
    ("heif", "image/heif"),
    ("pdf", "application/pdf"),
    ("txt", "text/plain"),
    ("md", "text/markdown"),
    ("html", "text/html"),
    ("csv", "text/csv"),
    ("xml", "text/xml"),
];

/// Media types of audio, by chat's word for the format.
const SOUNDS: &[(&str, &str)] = &[
    ("wav", "audio/wav"),
    ("mp3", "audio/mpeg"),
    ("flac", "audio/flac"),
    ("aac", "audio/aac"),
    ("ogg", "audio/ogg"),
];

/// Writes the turns of `request` for `model`.
pub(crate) fn write<'a>(
    request: &'a Request,
    model: &str,
) -> Result<Vec<Content<'a>>, Unsupported> {
    let is_strict = model.contains("gemini-") && !is_old(model);
    let mut calls = Calls::default();
    let mut contents: Vec<Content<'_>> = Vec::with_capacity(request.turns.len());
    for turn in &request.turns {
        let (role, parts) = match turn.role {
            Role::User => ("user", user_parts(&turn.parts, &mut calls)?),
            Role::Assistant => ("model", model_parts(&turn.parts, &mut calls)?),
        };
        match contents.last_mut() {
            _ if parts.is_empty() => {}
            Some(last) if last.role == Some(role) => last.parts.extend(parts),
            _ => contents.push(Content { role: Some(role), parts }),
        }
    }
    if contents.is_empty() {
        return unable("a conversation without a word");
    }
    let ends_with_user = request.turns.last().is_some_and(|turn| turn.role == Role::User);
    if ends_with_user && contents.last().is_some_and(|last| last.role == Some("model")) {
        return unable("a last message of the user's without a word");
    }
    for content in &mut contents {
        // The sort is stable: responses come first, and everything else keeps its order.
        content.parts.sort_by_key(|part| {
            content.role == Some("user") && !matches!(part, Part::Response { .. })
        });
        if is_strict {
            vouch(content);
        }
    }
    Ok(contents)
}

/// Makes Gemini accept the first call of a turn if another provider's model made it, or if the
/// client lost its signature.
fn vouch(content: &mut Content<'_>) {
    let first = content.parts.iter_mut().find_map(|part| match part {
        Part::Call { thought_signature, .. } => Some(thought_signature),
        _ => None,
    });
    if let Some(signature) = first {
        signature.get_or_insert(FOREIGN);
    }
}

/// The names of the tools that were called, by their calls' ids: a result is matched by the tool's
/// name.
#[derive(Default)]
struct Calls<'a> {
    named: HashMap<&'a str, &'a str>,
    /// The names for calls without an id, whose results come in the calls' order.
    nameless: VecDeque<&'a str>,
}

impl<'a> Calls<'a> {
    fn add(&mut self, id: &'a str, name: &'a str) {
        if id.is_empty() {
            self.nameless.push_back(name);
        } else {
            self.named.insert(id, name);
        }
    }

    fn name(&mut self, id: &str) -> Option<&'a str> {
        if id.is_empty() { self.nameless.pop_front() } else { self.named.get(id).copied() }
    }
}

fn model_parts<'a>(
    parts: &'a [neutral::Part],
    calls: &mut Calls<'a>,
) -> Result<Vec<Part<'a>>, Unsupported> {
    let gemini = |signed: &'a Signed| (signed.by == Dialect::Gemini).then_some(&*signed.data);
    let mut out = Vec::with_capacity(parts.len());
    let mut before = None;
    for part in parts {
        // If a client's dialect has no place for a call's signature, the signature is before the
        // call.
        let proof_before = before.take();
        match part {
            neutral::Part::Text(text) | neutral::Part::Refusal(text) => out.extend(text_part(text)),
            // Gemini does not accept reasoning back; it only asks for the signatures of calls.
            neutral::Part::Reasoning { .. } => {}
            neutral::Part::Redacted(signed) => before = gemini(signed),
            neutral::Part::Call { id, name, arguments, signed } => {
                calls.add(id, name);
                let function_call = Call { id: own_id(id), name, args: args(arguments)? };
                let thought_signature = signed.as_ref().and_then(gemini).or(proof_before);
                out.push(Part::Call { function_call, thought_signature });
            }
            neutral::Part::Image(_)
            | neutral::Part::File(_)
            | neutral::Part::Audio(_)
            | neutral::Part::Result { .. } => {
                return unable("an image, file or sound in an assistant's turn");
            }
        }
    }
    Ok(out)
}

fn user_parts<'a>(
    parts: &'a [neutral::Part],
    calls: &mut Calls<'a>,
) -> Result<Vec<Part<'a>>, Unsupported> {
    let mut out = Vec::with_capacity(parts.len());
    for part in parts {
        let neutral::Part::Result { id, parts, is_error } = part else {
            out.extend(shown(part)?);
            continue;
        };
        let Some(name) = calls.name(id) else {
            return unable("a tool's result without its call");
        };
        let mut words = Vec::new();
        let mut attached = Vec::new();
        for part in parts {
            match part {
                neutral::Part::Text(text) | neutral::Part::Refusal(text) => words.push(&**text),
                other => attached.extend(shown(other)?),
            }
        }
        let response = returned(words.join("\n"), *is_error);
        let function_response = Response { id: own_id(id), name, response };
        out.push(Part::Response { function_response });
        out.append(&mut attached);
    }
    Ok(out)
}

/// A part that the model is shown: text, a picture, a document, audio.
fn shown(part: &neutral::Part) -> Result<Option<Part<'_>>, Unsupported> {
    match part {
        neutral::Part::Text(text) | neutral::Part::Refusal(text) => Ok(text_part(text)),
        neutral::Part::Image(image) => data(&image.source).map(Some),
        neutral::Part::File(file) => data(&file.source).map(Some),
        neutral::Part::Audio(audio) => match find(SOUNDS, &audio.format) {
            Some(mime_type) => Ok(Some(Part::InlineData {
                inline_data: InlineData { mime_type, data: &audio.data },
            })),
            None => unable("sound in a format without a known media type"),
        },
        neutral::Part::Reasoning { .. } | neutral::Part::Redacted(_) => Ok(None),
        neutral::Part::Call { .. } | neutral::Part::Result { .. } => {
            unable("a tool call in a user's turn")
        }
    }
}

fn text_part(text: &str) -> Option<Part<'_>> {
    (!text.is_empty()).then_some(Part::Text { text })
}

fn data(source: &Source) -> Result<Part<'_>, Unsupported> {
    match source {
        Source::Base64 { media_type, data } => {
            Ok(Part::InlineData { inline_data: InlineData { mime_type: media_type, data } })
        }
        Source::Url(url) => match media_type(url) {
            Some(mime_type) => {
                Ok(Part::FileData { file_data: FileData { file_uri: url, mime_type } })
            }
            None => unable("an address whose ending tells no media type"),
        },
        Source::Id(_) => unable("a file by another provider's id"),
    }
}

fn media_type(url: &str) -> Option<&'static str> {
    let (_, rest) = url.split_once("://")?;
    let (_, path) = rest.split(['?', '#']).next()?.split_once('/')?;
    let (_, ending) = path.rsplit_once('.')?;
    find(ENDINGS, ending)
}

fn find(table: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, found)| *found)
}

/// An id that may be Gemini's own. Gemini does not know ids that the relay made.
fn own_id(id: &str) -> Option<&str> {
    (!id.is_empty() && !id.starts_with(RELAYS_OWN)).then_some(id)
}

/// A call's arguments, as they were written.
fn args(arguments: &str) -> Result<&RawValue, Unsupported> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    match serde_json::from_str::<&RawValue>(arguments) {
        Ok(raw) if raw.get().starts_with('{') => Ok(raw),
        _ => unable("tool call arguments that are no JSON object"),
    }
}

fn returned(text: String, is_error: bool) -> Returned {
    if is_error {
        return Returned::Error { error: text };
    }
    match serde_json::from_str::<&RawValue>(&text) {
        Ok(raw) if raw.get().starts_with('{') => Returned::Object(raw.to_owned()),
        _ => Returned::Result { result: text },
    }
}

fn unable<T>(what: &str) -> Result<T, Unsupported> {
    Err(Unsupported { field: format!("gemini: {what}") })
}
