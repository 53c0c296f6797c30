//! Writes turns as chat messages.

use crate::common::openai::{ATTACHED_BY_MODEL, Url, file_name, paragraphs, result_text, url};
use crate::neutral::{Part, Request, Role, Turn, Unsupported};
use serde::Serialize;
use std::borrow::Cow;

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(crate) enum Message<'a> {
    System {
        content: Cow<'a, str>,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        /// `null` beside calls: some providers refuse an empty text.
        content: Option<Cow<'a, str>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        refusal: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: Cow<'a, str>,
    },
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
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl<'a> },
    InputAudio { input_audio: Sound<'a> },
    File { file: Document<'a> },
}

#[derive(Serialize)]
pub(crate) struct ImageUrl<'a> {
    url: Url<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct Sound<'a> {
    data: &'a str,
    format: &'a str,
}

#[derive(Serialize)]
pub(crate) struct Document<'a> {
    file_data: Url<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
}

#[derive(Serialize)]
pub(crate) struct Call<'a> {
    id: &'a str,
    r#type: &'static str,
    function: Called<'a>,
}

#[derive(Serialize)]
pub(crate) struct Called<'a> {
    name: &'a str,
    arguments: &'a str,
}

pub(crate) fn write(request: &Request) -> Result<Vec<Message<'_>>, Unsupported> {
    let mut messages = Vec::new();
    let system = paragraphs(request.system.iter().map(String::as_str));
    if !system.is_empty() {
        messages.push(Message::System { content: system });
    }
    for turn in &request.turns {
        match turn.role {
            Role::User => user(turn, &mut messages)?,
            Role::Assistant => assistant(turn, &mut messages)?,
        }
    }
    Ok(messages)
}

/// Results come first, since they must directly follow their calls. A `tool` message has only text,
/// so everything else that a tool returned follows in the user's message, under the call's id. So
/// the model sees all of it.
fn user<'a>(turn: &'a Turn, messages: &mut Vec<Message<'a>>) -> Result<(), Unsupported> {
    let mut pieces = Vec::new();
    for part in &turn.parts {
        let Part::Result { id, parts, is_error } = part else { continue };
        let mut content = result_text(parts, *is_error);
        let attached: Vec<Piece<'_>> = parts
            .iter()
            .filter(|part| !matches!(part, Part::Text(_)))
            .map(piece)
            .collect::<Result<_, _>>()?;
        if !attached.is_empty() {
            let note = "What the tool gave beside text is in the next message.";
            content = paragraphs([&*content, note]).into_owned().into();
            let text = format!("From the tool call {id}:").into();
            pieces.push(Piece::Text { text });
            pieces.extend(attached);
        }
        messages.push(Message::Tool { tool_call_id: id, content });
    }
    for part in &turn.parts {
        match part {
            Part::Result { .. } => {}
            Part::Text(text) if text.is_empty() => {}
            part => pieces.push(piece(part)?),
        }
    }
    let is_nothing =
        pieces.is_empty() && turn.parts.iter().any(|part| matches!(part, Part::Result { .. }));
    let content = match &mut pieces[..] {
        [Piece::Text { text }] => Content::Text(std::mem::take(text)),
        many if many.iter().all(|piece| matches!(piece, Piece::Text { .. })) => {
            let texts = many.iter().filter_map(|piece| match piece {
                Piece::Text { text } => Some(&**text),
                _ => None,
            });
            Content::Text(paragraphs(texts).into_owned().into())
        }
        _ => Content::Parts(pieces),
    };
    if !is_nothing {
        messages.push(Message::User { content });
    }
    Ok(())
}

fn piece(part: &Part) -> Result<Piece<'_>, Unsupported> {
    Ok(match part {
        Part::Text(text) | Part::Refusal(text) => Piece::Text { text: text.into() },
        Part::Image(image) => Piece::ImageUrl {
            image_url: ImageUrl {
                url: url(&image.source, "an image")?,
                detail: image.detail.as_deref(),
            },
        },
        Part::Audio(audio) => {
            Piece::InputAudio { input_audio: Sound { data: &audio.data, format: &audio.format } }
        }
        Part::File(file) => {
            let file_data = url(&file.source, "a file")?;
            // OpenAI accepts documents only as data.
            if !file_data.is_data() {
                return Err(Unsupported { field: "a file by its address".to_owned() });
            }
            Piece::File { file: Document { file_data, filename: file_name(file) } }
        }
        Part::Reasoning { .. } | Part::Redacted(_) | Part::Call { .. } | Part::Result { .. } => {
            return Err(Unsupported { field: "a tool call in the user's turn".to_owned() });
        }
    })
}

/// Reasoning is left out: chat has no field for it that all providers accept back, and its
/// signature is of no use to another provider.
fn assistant<'a>(turn: &'a Turn, messages: &mut Vec<Message<'a>>) -> Result<(), Unsupported> {
    let mut texts = Vec::new();
    let mut refusal: Option<String> = None;
    let mut tool_calls = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => texts.push(text.as_str()),
            Part::Refusal(text) => refusal.get_or_insert_default().push_str(text),
            Part::Call { id, name, arguments, .. } => tool_calls.push(Call {
                id,
                r#type: "function",
                function: Called { name, arguments },
            }),
            Part::Reasoning { .. } | Part::Redacted(_) => {}
            Part::Image(_) | Part::File(_) | Part::Audio(_) | Part::Result { .. } => {
                return Err(Unsupported { field: ATTACHED_BY_MODEL.to_owned() });
            }
        }
    }
    let content = (!texts.is_empty()).then(|| paragraphs(texts));
    if content.is_some() || refusal.is_some() || !tool_calls.is_empty() {
        messages.push(Message::Assistant { content, refusal, tool_calls });
    }
    Ok(())
}
