//! Writes the conversation in a form that Anthropic accepts.

use crate::messages::write_request::base64::decode_text;
use crate::messages::write_request::body::{Block, Message, Source};
use crate::messages::write_request::ids::Ids;
use crate::neutral::{self, File, Image, Part, Request, Role, Signed, Unsupported};
use serde_json::value::RawValue;
use shared::Dialect;
use std::borrow::Cow;

/// The types of pictures that Anthropic accepts.
const PICTURES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// The conversation so far.
pub(crate) struct History<'a> {
    /// Turns in order, the user's first.
    pub(crate) messages: Vec<Message<'a>>,
    /// The model's text before the user's first message, as a text for the system prompt. The first
    /// message must be the user's, and the relay must not invent one.
    pub(crate) opening: Option<String>,
    /// Anthropic would accept thinking after this history. It refuses if the model's last turn
    /// calls tools, or is to be continued, and there is no signed reasoning before that.
    pub(crate) may_think: bool,
}

/// Writes the turns of `request`.
pub(crate) fn write(request: &Request) -> Result<History<'_>, Unsupported> {
    let mut ids = Ids::default();
    let mut messages: Vec<Message<'_>> = Vec::with_capacity(request.turns.len());
    for turn in &request.turns {
        let blocks = match turn.role {
            Role::User => user_blocks(&turn.parts, &mut ids)?,
            Role::Assistant => assistant_blocks(&turn.parts, &mut ids)?,
        };
        let role = if turn.role == Role::User { "user" } else { "assistant" };
        match messages.last_mut() {
            _ if blocks.is_empty() => {}
            Some(last) if last.role == role => last.content.extend(blocks),
            _ => messages.push(Message { role, content: blocks }),
        }
    }
    let ends_with_user = request.turns.last().is_some_and(|turn| turn.role == Role::User);
    if ends_with_user && messages.last().is_some_and(|last| last.role == "assistant") {
        return unable("a last message of the user's without a word");
    }
    let opening = take_opening(&mut messages)?;
    for message in messages.iter_mut().filter(|message| message.role == "user") {
        // The sort is stable: results come first, and everything else keeps its order.
        message.content.sort_by_key(|block| !matches!(block, Block::ToolResult { .. }));
    }
    let may_think = may_think(&messages);
    trim_prefill(&mut messages);
    Ok(History { messages, opening, may_think })
}

fn take_opening(messages: &mut Vec<Message<'_>>) -> Result<Option<String>, Unsupported> {
    let mut opening = None;
    if messages.first().is_some_and(|first| first.role == "assistant") {
        let first = messages.remove(0);
        let mut words = "You began this conversation yourself, with these words:".to_owned();
        for block in &first.content {
            let Block::Text { text } = block else {
                return unable("a conversation that begins with a tool call");
            };
            words.push('\n');
            words.push_str(text);
        }
        opening = Some(words);
    }
    if messages.is_empty() {
        return unable("a conversation without a word of the user's");
    }
    Ok(opening)
}

fn may_think(messages: &[Message<'_>]) -> bool {
    let Some(at) = messages.iter().rposition(|message| message.role == "assistant") else {
        return true;
    };
    let is_prefill = at + 1 == messages.len();
    let blocks = messages.get(at).map_or(&[][..], |message| &message.content);
    let is_call = |block: &Block<'_>| matches!(block, Block::ToolUse { .. });
    let call = blocks.iter().position(is_call);
    let before = match call {
        Some(at) => blocks.get(..at).unwrap_or_default(),
        None if is_prefill => blocks,
        None => return true,
    };
    before
        .iter()
        .any(|block| matches!(block, Block::Thinking { .. } | Block::RedactedThinking { .. }))
}

/// Removes white space at the end of an answer that is to be continued: Anthropic refuses it.
fn trim_prefill(messages: &mut [Message<'_>]) {
    if let Some(last) = messages.last_mut().filter(|last| last.role == "assistant")
        && let Some(Block::Text { text }) = last.content.last_mut()
    {
        *text = text.trim_end();
    }
}

fn user_blocks<'a>(parts: &'a [Part], ids: &mut Ids<'a>) -> Result<Vec<Block<'a>>, Unsupported> {
    let mut blocks = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Result { id, parts, is_error } => {
                let mut content = Vec::with_capacity(parts.len());
                for part in parts {
                    content.extend(shown(part)?);
                }
                let tool_use_id = ids.of_result(id);
                blocks.push(Block::ToolResult { tool_use_id, content, is_error: *is_error });
            }
            other => blocks.extend(shown(other)?),
        }
    }
    Ok(blocks)
}

fn assistant_blocks<'a>(
    parts: &'a [Part],
    ids: &mut Ids<'a>,
) -> Result<Vec<Block<'a>>, Unsupported> {
    let own = |signed: &&Signed| signed.by == Dialect::AnthropicMessages;
    let mut blocks = Vec::with_capacity(parts.len());
    for part in parts {
        match part {
            Part::Text(text) | Part::Refusal(text) => blocks.extend(text_block(text)),
            // Anthropic refuses reasoning without its own signature, so only reasoning with it is
            // sent.
            Part::Reasoning { text, signed } => {
                let proof = signed.as_ref().filter(own);
                blocks.extend(
                    proof.map(|proof| Block::Thinking { thinking: text, signature: &proof.data }),
                );
            }
            Part::Redacted(signed) => {
                let proof = Some(signed).filter(own);
                blocks.extend(proof.map(|proof| Block::RedactedThinking { data: &proof.data }));
            }
            Part::Call { id, name, arguments, .. } => {
                blocks.push(Block::ToolUse { id: ids.of_call(id), name, input: input(arguments)? });
            }
            Part::Image(_) | Part::File(_) | Part::Audio(_) | Part::Result { .. } => {
                return unable("an image, file or sound in an assistant's turn");
            }
        }
    }
    Ok(blocks)
}

/// A block that the model is shown: text, a picture, a document. `None` for an empty text.
fn shown(part: &Part) -> Result<Option<Block<'_>>, Unsupported> {
    match part {
        Part::Text(text) | Part::Refusal(text) => Ok(text_block(text)),
        Part::Image(image) => Ok(Some(Block::Image { source: picture(image)? })),
        Part::File(file) => {
            Ok(Some(Block::Document { source: document(file)?, title: file.name.as_deref() }))
        }
        Part::Audio(_) => unable("sound"),
        Part::Reasoning { .. } | Part::Redacted(_) => Ok(None),
        Part::Call { .. } | Part::Result { .. } => unable("a tool call in a user's turn"),
    }
}

/// A block of text. Anthropic refuses a text of only white space.
fn text_block(text: &str) -> Option<Block<'_>> {
    (!text.trim().is_empty()).then_some(Block::Text { text })
}

fn picture(image: &Image) -> Result<Source<'_>, Unsupported> {
    match &image.source {
        neutral::Source::Url(url) => Ok(Source::Url { url }),
        neutral::Source::Base64 { media_type, data } => {
            let media_type = if media_type == "image/jpg" { "image/jpeg" } else { media_type };
            if !PICTURES.contains(&media_type) {
                return unable("an image that is no JPEG, PNG, GIF or WebP");
            }
            Ok(Source::Base64 { media_type, data })
        }
        neutral::Source::Id(_) => unable("an image by a provider's id"),
    }
}

fn document(file: &File) -> Result<Source<'_>, Unsupported> {
    match &file.source {
        neutral::Source::Url(url) => Ok(Source::Url { url }),
        neutral::Source::Base64 { media_type, data } if media_type == "application/pdf" => {
            Ok(Source::Base64 { media_type, data })
        }
        neutral::Source::Base64 { media_type, data } if media_type.starts_with("text/") => {
            match decode_text(data) {
                Some(text) => Ok(Source::Text { media_type: "text/plain", data: Cow::Owned(text) }),
                None => unable("a text file that is no base64 of UTF-8"),
            }
        }
        neutral::Source::Base64 { .. } => unable("a file that is neither PDF nor text"),
        neutral::Source::Id(_) => unable("a file by a provider's id"),
    }
}

/// A call's arguments, as they were written.
fn input(arguments: &str) -> Result<&RawValue, Unsupported> {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    match serde_json::from_str::<&RawValue>(arguments) {
        Ok(raw) if raw.get().starts_with('{') => Ok(raw),
        _ => unable("tool call arguments that are no JSON object"),
    }
}

fn unable<T>(what: &str) -> Result<T, Unsupported> {
    Err(Unsupported { field: format!("messages: {what}") })
}
