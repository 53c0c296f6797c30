//! Turns as messages of chat.

use crate::dialect::neutral::{Part, Request, Role, Turn, Unable};
use crate::dialect::request::openai::{ATTACHED_BY_MODEL, file_name, paragraphs, result_text, url};
use serde::Serialize;

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub(super) enum Message {
    System {
        content: String,
    },
    User {
        content: Content,
    },
    Assistant {
        /// `null` beside calls: an empty text is refused by some.
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        refusal: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Call>,
    },
    Tool {
        tool_call_id: String,
        content: String,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Piece>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Piece {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
    InputAudio { input_audio: Sound },
    File { file: Document },
}

#[derive(Serialize)]
pub(super) struct ImageUrl {
    url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Sound {
    data: String,
    format: String,
}

#[derive(Serialize)]
pub(super) struct Document {
    file_data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Call {
    id: String,
    r#type: &'static str,
    function: Called,
}

#[derive(Serialize)]
pub(super) struct Called {
    name: String,
    arguments: String,
}

pub(super) fn write(request: &Request) -> Result<Vec<Message>, Unable> {
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

/// Results come first, since they must follow their calls at once. A `tool` message has
/// text alone, so what else a tool gave follows in the user's message, under the call's id:
/// that way the model sees all of it.
fn user(turn: &Turn, messages: &mut Vec<Message>) -> Result<(), Unable> {
    let mut pieces = Vec::new();
    for part in &turn.parts {
        let Part::Result { id, parts, is_error } = part else { continue };
        let mut content = result_text(parts, *is_error);
        let attached: Vec<Piece> = parts
            .iter()
            .filter(|part| !matches!(part, Part::Text(_)))
            .map(piece)
            .collect::<Result<_, _>>()?;
        if !attached.is_empty() {
            let note = "What the tool gave beside text is in the next message.";
            content = paragraphs([content.as_str(), note]);
            pieces.push(Piece::Text { text: format!("From the tool call {id}:") });
            pieces.extend(attached);
        }
        messages.push(Message::Tool { tool_call_id: id.clone(), content });
    }
    for part in &turn.parts {
        match part {
            Part::Result { .. } => {}
            Part::Text(text) if text.is_empty() => {}
            part => pieces.push(piece(part)?),
        }
    }
    let texts: Option<Vec<&str>> = pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let is_nothing =
        pieces.is_empty() && turn.parts.iter().any(|part| matches!(part, Part::Result { .. }));
    let content = match texts {
        Some(texts) => Content::Text(paragraphs(texts)),
        None => Content::Parts(pieces),
    };
    if !is_nothing {
        messages.push(Message::User { content });
    }
    Ok(())
}

fn piece(part: &Part) -> Result<Piece, Unable> {
    Ok(match part {
        Part::Text(text) | Part::Refusal(text) => Piece::Text { text: text.clone() },
        Part::Image(image) => Piece::ImageUrl {
            image_url: ImageUrl {
                url: url(&image.source, "an image")?,
                detail: image.detail.clone(),
            },
        },
        Part::Audio(audio) => Piece::InputAudio {
            input_audio: Sound { data: audio.data.clone(), format: audio.format.clone() },
        },
        Part::File(file) => {
            let file_data = url(&file.source, "a file")?;
            // OpenAI takes documents as data alone.
            if !file_data.starts_with("data:") {
                return Err(Unable { feature: "a file by its address".to_owned() });
            }
            Piece::File { file: Document { file_data, filename: file_name(file) } }
        }
        Part::Reasoning { .. } | Part::Redacted(_) | Part::Call { .. } | Part::Result { .. } => {
            return Err(Unable { feature: "a tool call in the user's turn".to_owned() });
        }
    })
}

/// Reasoning stays behind: chat has no word for it that everybody takes back, and its proof
/// is of no use to another provider.
fn assistant(turn: &Turn, messages: &mut Vec<Message>) -> Result<(), Unable> {
    let mut texts = Vec::new();
    let mut refusal: Option<String> = None;
    let mut tool_calls = Vec::new();
    for part in &turn.parts {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => texts.push(text.as_str()),
            Part::Refusal(text) => refusal.get_or_insert_default().push_str(text),
            Part::Call { id, name, arguments, .. } => tool_calls.push(Call {
                id: id.clone(),
                r#type: "function",
                function: Called { name: name.clone(), arguments: arguments.clone() },
            }),
            Part::Reasoning { .. } | Part::Redacted(_) => {}
            Part::Image(_) | Part::File(_) | Part::Audio(_) | Part::Result { .. } => {
                return Err(Unable { feature: ATTACHED_BY_MODEL.to_owned() });
            }
        }
    }
    let content = (!texts.is_empty()).then(|| paragraphs(texts));
    if content.is_some() || refusal.is_some() || !tool_calls.is_empty() {
        messages.push(Message::Assistant { content, refusal, tool_calls });
    }
    Ok(())
}
