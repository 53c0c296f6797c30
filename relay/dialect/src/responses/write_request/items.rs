//! Writes turns as input items of responses.

use crate::common::openai::{ATTACHED_BY_MODEL, Url, file_name, result_text, url};
use crate::neutral::{Part, Request, Role, Signed, Turn, Unsupported};
use serde::Serialize;
use shared::Dialect;
use std::borrow::Cow;

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Item<'a> {
    Message { role: &'static str, content: Content<'a> },
    FunctionCall { call_id: &'a str, name: &'a str, arguments: &'a str },
    FunctionCallOutput { call_id: &'a str, output: Content<'a> },
    Reasoning { summary: Vec<Piece<'a>>, encrypted_content: &'a str },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Piece<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Piece<'a> {
    InputText {
        text: &'a str,
    },
    SummaryText {
        text: &'a str,
    },
    Refusal {
        refusal: &'a str,
    },
    InputImage {
        image_url: Url<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        detail: Option<&'a str>,
    },
    InputFile {
        #[serde(skip_serializing_if = "Option::is_none")]
        filename: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_data: Option<Url<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        file_url: Option<Url<'a>>,
    },
}

pub(crate) fn write(request: &Request) -> Result<Vec<Item<'_>>, Unsupported> {
    let mut items = Vec::new();
    for turn in &request.turns {
        match turn.role {
            Role::User => user(turn, &mut items)?,
            Role::Assistant => assistant(turn, &mut items)?,
        }
    }
    let ends_with_user = request.turns.last().is_some_and(|turn| turn.role == Role::User);
    if ends_with_user && items.last().is_some_and(is_models) {
        return Err(Unsupported {
            field: "a last message of the user's without a word".to_owned(),
        });
    }
    Ok(items)
}

const fn is_models(item: &Item<'_>) -> bool {
    match item {
        Item::Message { role, .. } => matches!(role.as_bytes(), b"assistant"),
        Item::FunctionCall { .. } | Item::Reasoning { .. } => true,
        Item::FunctionCallOutput { .. } => false,
    }
}

/// A system prompt as the only item of the input.
pub(crate) const fn system(text: Cow<'_, str>) -> Item<'_> {
    Item::Message { role: "system", content: Content::Text(text) }
}

/// Results come first, since they must directly follow their calls.
fn user<'a>(turn: &'a Turn, items: &mut Vec<Item<'a>>) -> Result<(), Unsupported> {
    let mut pieces = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Result { id, parts, is_error } => {
                let output = output(parts, *is_error)?;
                items.push(Item::FunctionCallOutput { call_id: id, output });
            }
            Part::Text(text) if text.is_empty() => {}
            part => pieces.push(piece(part)?),
        }
    }
    if !pieces.is_empty() {
        let content = Content::Parts(pieces);
        items.push(Item::Message { role: "user", content });
    }
    Ok(())
}

fn output(parts: &[Part], is_error: bool) -> Result<Content<'_>, Unsupported> {
    if is_error || parts.iter().all(|part| matches!(part, Part::Text(_))) {
        let attached = parts.iter().find(|part| !matches!(part, Part::Text(_)));
        if attached.is_some() {
            let field = "an attachment in the result of a tool that failed".to_owned();
            return Err(Unsupported { field });
        }
        return Ok(Content::Text(result_text(parts, is_error)));
    }
    Ok(Content::Parts(parts.iter().map(piece).collect::<Result<_, _>>()?))
}

fn piece(part: &Part) -> Result<Piece<'_>, Unsupported> {
    Ok(match part {
        Part::Text(text) | Part::Refusal(text) => Piece::InputText { text },
        Part::Image(image) => Piece::InputImage {
            image_url: url(&image.source, "an image")?,
            detail: image.detail.as_deref(),
        },
        Part::File(file) => {
            let url = url(&file.source, "a file")?;
            let is_data = url.is_data();
            let (file_data, file_url) = if is_data { (Some(url), None) } else { (None, Some(url)) };
            Piece::InputFile { filename: file_name(file), file_data, file_url }
        }
        Part::Audio(_) => return Err(Unsupported { field: "input_audio".to_owned() }),
        Part::Reasoning { .. } | Part::Redacted(_) | Part::Call { .. } | Part::Result { .. } => {
            return Err(Unsupported { field: "a tool call in the user's turn".to_owned() });
        }
    })
}

/// Reasoning is sent only with its signature, and only to the dialect that made it: without a
/// signature it is refused, and signatures of others are of no use.
fn assistant<'a>(turn: &'a Turn, items: &mut Vec<Item<'a>>) -> Result<(), Unsupported> {
    let own = |signed: &&Signed| signed.by == Dialect::OpenaiResponses;
    for part in &turn.parts {
        match part {
            Part::Text(text) if text.is_empty() => {}
            // As a text, because a list of output parts must have the id under which it is stored.
            Part::Text(text) => {
                let content = Content::Text(text.into());
                items.push(Item::Message { role: "assistant", content });
            }
            Part::Refusal(refusal) => {
                let content = Content::Parts(vec![Piece::Refusal { refusal }]);
                items.push(Item::Message { role: "assistant", content });
            }
            Part::Call { id, name, arguments, .. } => {
                items.push(Item::FunctionCall { call_id: id, name, arguments });
            }
            Part::Reasoning { text, signed } => {
                if let Some(signed) = signed.as_ref().filter(own) {
                    let summary = vec![Piece::SummaryText { text }];
                    items.push(Item::Reasoning { summary, encrypted_content: &signed.data });
                }
            }
            Part::Redacted(signed) => {
                if own(&signed) {
                    let encrypted_content = &signed.data;
                    items.push(Item::Reasoning { summary: Vec::new(), encrypted_content });
                }
            }
            Part::Image(_) | Part::File(_) | Part::Audio(_) | Part::Result { .. } => {
                return Err(Unsupported { field: ATTACHED_BY_MODEL.to_owned() });
            }
        }
    }
    Ok(())
}
