//! What a request asks of whoever answers it.
//!
//! A ladder's rungs differ in what they can do, and a call that must fail is not
//! worth making. So this looks at the fields that name a capability and nothing
//! else; texts are walked over, not read.

use super::super::super::fields::Fields;
use crate::dialect::json::{Each, Object, One, skip, string_inner};
use super::{Reject, flag, whole_number};
use serde::de::{DeserializeSeed as _, MapAccess};
use serde_json::value::RawValue;

/// The usual rule of thumb for English text; other scripts have more tokens.
const BYTES_PER_TOKEN: u64 = 4;

/// What a rung must be able to do to serve a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// It offers tools, or its messages hold tool results.
    pub tools: bool,
    /// It asks for several tool calls at once.
    pub parallel_tools: bool,
    /// It wants an answer that follows a JSON schema.
    pub json_schema: bool,
    /// It shows images.
    pub images: bool,
    /// It sends or wants sound.
    pub audio: bool,
    /// It attaches files.
    pub files: bool,
    /// Estimated tokens of messages and tools, attachments left out.
    pub prompt_tokens: u64,
    /// The most tokens it wants back.
    pub max_output: Option<u64>,
    /// Answering it twice would do something twice: the provider stores it, runs
    /// it in the background, or runs tools itself.
    pub side_effects: bool,
}

impl Needs {
    pub(super) fn of(fields: &Fields) -> Result<Self, Reject> {
        let messages = required_array(fields, "messages")?;
        let tools = optional_array(fields, "tools")?;
        let functions = optional_array(fields, "functions")?;

        let mut seen = Seen::default();
        walk(messages, &mut Messages(&mut seen));
        if let Some(tools) = tools {
            walk(tools, &mut Tools(&mut seen));
        }
        seen.tools |= functions.is_some_and(|list| list.trim_ascii() != "[]");
        if let Some(format) = fields.text("response_format") {
            let mut json = serde_json::Deserializer::from_str(format);
            // What is no object says nothing here; the provider will object.
            let _ = One(&mut Format(&mut seen)).deserialize(&mut json);
        }

        let wanted = "a whole number, 0 or more";
        let max_tokens = whole_number(fields, "max_tokens", wanted)?;
        let max_output = whole_number(fields, "max_completion_tokens", wanted)?.or(max_tokens);
        let bytes =
            [Some(messages), tools, functions].into_iter().flatten().map(|raw| raw.len() as u64);
        Ok(Self {
            tools: seen.tools,
            parallel_tools: seen.tools && flag(fields, "parallel_tool_calls")?,
            json_schema: seen.json_schema,
            images: seen.images,
            audio: seen.audio || fields.text("audio").is_some() || wants_sound(fields),
            files: seen.files,
            prompt_tokens: bytes.sum::<u64>().saturating_sub(seen.attached) / BYTES_PER_TOKEN,
            max_output,
            side_effects: seen.served_tools
                || fields.text("store") == Some("true")
                || fields.text("background") == Some("true")
                || fields.text("web_search_options").is_some(),
        })
    }
}

fn required_array<'f>(fields: &'f Fields, key: &str) -> Result<&'f str, Reject> {
    let Some(raw) = optional_array(fields, key)? else {
        let message = format!("'{key}' is missing; send an array with at least one message.");
        return Err(Reject::new(key, "missing_required_parameter", message));
    };
    if raw.trim_start_matches('[').trim_ascii_start().starts_with(']') {
        let message = format!("'{key}' is empty; send at least one message.");
        return Err(Reject::new(key, "invalid_value", message));
    }
    Ok(raw)
}

fn optional_array<'f>(fields: &'f Fields, key: &str) -> Result<Option<&'f str>, Reject> {
    match fields.text(key) {
        Some(raw) if !raw.starts_with('[') => Err(Reject::wrong_type(key, "an array")),
        other => Ok(other),
    }
}

/// `modalities: ["text", "audio"]`; the list holds words only.
fn wants_sound(fields: &Fields) -> bool {
    fields.text("modalities").is_some_and(|raw| raw.contains("\"audio\""))
}

fn walk<T: Object>(raw: &str, into: &mut T) {
    // The body was read to its end, so this is valid JSON.
    let _ = Each(into).deserialize(&mut serde_json::Deserializer::from_str(raw));
}

#[derive(Default)]
struct Seen {
    tools: bool,
    served_tools: bool,
    json_schema: bool,
    images: bool,
    audio: bool,
    files: bool,
    /// Bytes of attachments, which say nothing about tokens.
    attached: u64,
}

struct Messages<'s>(&'s mut Seen);

impl Object for Messages<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "content" => map.next_value_seed(Each(&mut Parts(self.0))),
            "role" => {
                let role: &RawValue = map.next_value()?;
                self.0.tools |= matches!(role.get(), "\"tool\"" | "\"function\"");
                Ok(())
            }
            _ => skip(map),
        }
    }
}

/// The parts of one message's content.
struct Parts<'s>(&'s mut Seen);

impl Object for Parts<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let value: &RawValue = map.next_value()?;
        let value = value.get();
        match key {
            "type" => match string_inner(value) {
                Some("image_url" | "input_image" | "image") => self.0.images = true,
                Some("input_audio" | "audio") => self.0.audio = true,
                Some("file" | "input_file") => self.0.files = true,
                _ => {}
            },
            "image_url" | "input_audio" | "file" | "file_data" | "image" => {
                self.0.attached = self.0.attached.saturating_add(value.len() as u64);
            }
            _ => {}
        }
        Ok(())
    }
}

struct Tools<'s>(&'s mut Seen);

impl Object for Tools<'_> {
    fn begin(&mut self) {
        self.0.tools = true;
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key != "type" {
            return skip(map);
        }
        let kind: &RawValue = map.next_value()?;
        // Whatever the client does not run itself, the provider does.
        self.0.served_tools |=
            string_inner(kind.get()).is_some_and(|kind| !matches!(kind, "function" | "custom"));
        Ok(())
    }
}

struct Format<'s>(&'s mut Seen);

impl Object for Format<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key != "type" {
            return skip(map);
        }
        let kind: &RawValue = map.next_value()?;
        self.0.json_schema |= kind.get() == "\"json_schema\"";
        Ok(())
    }
}
