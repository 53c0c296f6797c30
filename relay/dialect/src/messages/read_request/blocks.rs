//! Reads the content of messages, block by block.

use crate::common::reject::Reject;
use crate::messages::known_fields::{self, of_kind};
use crate::messages::object::Object;
use crate::neutral::{File, Image, Part, Signed, Source};
use serde_json::value::RawValue;
use shared::Dialect;

const OWN: Dialect = Dialect::AnthropicMessages;

/// The blocks that are allowed at each level. Each level allows only blocks of the level before it,
/// so a request cannot make the reader recurse deeper.
const IN_MESSAGE: &[&str] =
    &["text", "image", "document", "tool_use", "tool_result", "thinking", "redacted_thinking"];
const IN_RESULT: &[&str] = &["text", "image", "document"];
const IN_DOCUMENT: &[&str] = &["text", "image"];

/// Reads the content of a message: a string or blocks.
pub(crate) fn content(at: &Object<'_>, unsupported: &mut Vec<String>) -> Result<Vec<Part>, Reject> {
    let Some(raw) = at.get("content") else {
        return Err(at.wrong_type("content", "a string or an array of blocks"));
    };
    parts(at, raw, IN_MESSAGE, unsupported)
}

/// Reads only text: a string or text blocks. Empty if `key` is absent.
pub(crate) fn texts(
    at: &Object<'_>,
    key: &str,
    unsupported: &mut Vec<String>,
) -> Result<Vec<String>, Reject> {
    let Some(raw) = at.get(key) else { return Ok(Vec::new()) };
    if raw.get().starts_with('"') {
        return Ok(vec![at.required_text(key)?]);
    }
    let mut texts = Vec::new();
    for (n, raw) in list(at, key, raw)?.into_iter().enumerate() {
        let block = Object::read(format!("{}[{n}]", at.path_of(key)), raw)?;
        if block.required_text("type")? != "text" {
            unsupported.push(block.path_of("type"));
            continue;
        }
        block.name_unsupported(known_fields::TEXT, unsupported);
        texts.push(block.required_text("text")?);
    }
    Ok(texts)
}

fn list<'a>(at: &Object<'_>, key: &str, raw: &'a RawValue) -> Result<Vec<&'a RawValue>, Reject> {
    serde_json::from_str(raw.get())
        .map_err(|_| at.wrong_type(key, "a string or an array of blocks"))
}

/// Reads the parts of `content`. Only the kinds in `allowed` are supported.
fn parts(
    at: &Object<'_>,
    raw: &RawValue,
    allowed: &[&str],
    unsupported: &mut Vec<String>,
) -> Result<Vec<Part>, Reject> {
    if raw.get().starts_with('"') {
        return Ok(vec![Part::Text(at.required_text("content")?)]);
    }
    let mut parts = Vec::new();
    for (n, raw) in list(at, "content", raw)?.into_iter().enumerate() {
        let block = Object::read(format!("{}[{n}]", at.path_of("content")), raw)?;
        let kind = block.required_text("type")?;
        match of_kind(known_fields::BLOCKS, &kind) {
            Some(table) if allowed.contains(&kind.as_str()) => {
                block.name_unsupported(table, unsupported);
                read_block(&block, &kind, unsupported, &mut parts)?;
            }
            _ => unsupported.push(block.path_of("type")),
        }
    }
    Ok(parts)
}

fn read_block(
    block: &Object<'_>,
    kind: &str,
    unsupported: &mut Vec<String>,
    into: &mut Vec<Part>,
) -> Result<(), Reject> {
    into.push(match kind {
        "text" => Part::Text(block.required_text("text")?),
        "image" => match source(block, unsupported)? {
            Some(source) => Part::Image(Image { source, detail: None }),
            None => return Ok(()),
        },
        "document" => return document(block, unsupported, into),
        "tool_use" => Part::Call {
            id: block.text("id")?.unwrap_or_default(),
            name: block.required_text("name")?,
            arguments: block.get("input").map_or("{}", RawValue::get).to_owned(),
            signed: None,
        },
        "tool_result" => Part::Result {
            id: block.text("tool_use_id")?.unwrap_or_default(),
            parts: match block.get("content") {
                Some(raw) => parts(block, raw, IN_RESULT, unsupported)?,
                None => Vec::new(),
            },
            is_error: block.flag("is_error")?.unwrap_or_default(),
        },
        "thinking" => Part::Reasoning {
            text: block.text("thinking")?.unwrap_or_default(),
            signed: block
                .text("signature")?
                .filter(|proof| !proof.is_empty())
                .map(|proof| Signed::read(OWN, &proof)),
        },
        // The table of blocks has no other kind.
        _ => Part::Redacted(Signed::read(OWN, &block.required_text("data")?)),
    });
    Ok(())
}

/// The source of an image or a document. `None`: no other provider could find it.
fn source(block: &Object<'_>, unsupported: &mut Vec<String>) -> Result<Option<Source>, Reject> {
    let source = block.required_object("source")?;
    let kind = source.required_text("type")?;
    let Some(table) = of_kind(known_fields::SOURCES, &kind) else {
        unsupported.push(source.path_of("type"));
        return Ok(None);
    };
    source.name_unsupported(table, unsupported);
    Ok(match kind.as_str() {
        "base64" => {
            let media_type = source.required_text("media_type")?;
            Some(Source::of_base64(&media_type, source.required_text("data")?))
        }
        "url" => Some(Source::Url(source.required_text("url")?)),
        "file" => Some(Source::Id(source.required_text("file_id")?)),
        _ => {
            unsupported.push(source.path_of("type"));
            None
        }
    })
}

/// Reads a document. A text document becomes text, under its title: every dialect has text.
fn document(
    block: &Object<'_>,
    unsupported: &mut Vec<String>,
    into: &mut Vec<Part>,
) -> Result<(), Reject> {
    let title = block.text("title")?.filter(|title| !title.is_empty());
    if let Some(context) = block.text("context")?.filter(|context| !context.is_empty()) {
        into.push(Part::Text(context));
    }
    let inline = block.required_object("source")?;
    let kind = inline.required_text("type")?;
    if !matches!(kind.as_str(), "text" | "content") {
        if let Some(source) = source(block, unsupported)? {
            into.push(Part::File(File { source, name: title }));
        }
        return Ok(());
    }
    into.extend(title.map(Part::Text));
    if let Some(table) = of_kind(known_fields::SOURCES, &kind) {
        inline.name_unsupported(table, unsupported);
    }
    if kind == "text" {
        into.push(Part::Text(inline.required_text("data")?));
    } else if let Some(raw) = inline.get("content") {
        into.extend(parts(&inline, raw, IN_DOCUMENT, unsupported)?);
    }
    Ok(())
}
