//! What a request needs from the rung that answers it.
//!
//! A ladder's rungs differ in what they can do, and a call that must fail is not worth making. So
//! this code reads only the fields that name a capability; it skips texts.

use crate::common::json::{Each, Object, One, skip, string_inner};
use crate::common::thinks::Thinks;
use serde::de::{DeserializeSeed as _, MapAccess};
use serde_json::value::RawValue;

/// The usual rule of thumb for English text; other scripts have more tokens.
pub(crate) const BYTES_PER_TOKEN: u64 = 4;

/// What a rung must be able to do to serve a request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// It offers tools, or its messages hold tool results.
    pub tools: bool,
    /// It asks for several tool calls at once.
    pub parallel_tools: bool,
    /// It wants an answer that follows a JSON schema.
    pub json_schema: bool,
    /// It contains images.
    pub images: bool,
    /// It sends audio, or asks for it.
    pub audio: bool,
    /// It attaches files.
    pub files: bool,
    /// Estimated tokens of messages and tools, attachments left out.
    pub prompt_tokens: u64,
    /// How much the model is asked to reason.
    pub thinks: Thinks,
    /// The most tokens that the answer may have.
    pub max_output: Option<u64>,
    /// If it is answered twice, something is done twice: the provider stores the answer, runs it in
    /// the background, or runs tools itself.
    pub side_effects: bool,
}

/// The parts of a request in one of OpenAI's two dialects that show what it needs.
#[derive(Debug, Default)]
pub(crate) struct OpenaiAsks<'f> {
    /// The messages or input items: an array, or a text.
    pub conversation: &'f str,
    /// Instructions outside of the conversation.
    pub instructions: Option<&'f str>,
    /// The tools: arrays, one of them the old `functions`.
    pub tools: [Option<&'f str>; 2],
    /// The request asks for several tool calls at once.
    pub parallel: bool,
    /// The answer must follow a schema.
    pub json_schema: bool,
    /// The request asks for an answer in audio.
    pub sound: bool,
    /// A field shows that a second answer would do something twice.
    pub side_effects: bool,
    /// The most tokens of answer.
    pub max_output: Option<u64>,
}

impl OpenaiAsks<'_> {
    /// What a rung must be able to do.
    pub(crate) fn needs(&self) -> Needs {
        let mut seen = Seen::default();
        walk(self.conversation, &mut Messages(&mut seen));
        for tools in self.tools.into_iter().flatten() {
            walk(tools, &mut Tools(&mut seen));
        }
        let [tools, functions] = self.tools;
        let texts = [Some(self.conversation), self.instructions, tools, functions];
        let bytes = texts.into_iter().flatten().map(|raw| raw.len() as u64).sum::<u64>();
        Needs {
            tools: seen.tools,
            parallel_tools: seen.tools && self.parallel,
            json_schema: self.json_schema,
            images: seen.images,
            audio: seen.audio || self.sound,
            files: seen.files,
            prompt_tokens: bytes.saturating_sub(seen.attached) / BYTES_PER_TOKEN,
            thinks: Thinks::default(),
            max_output: self.max_output,
            side_effects: seen.served_tools || self.side_effects,
        }
    }
}

/// Whether a format, as it was written, asks for a JSON schema.
pub(crate) fn asks_for_schema(format: &str) -> bool {
    let mut found = Format(false);
    // A value that is no object asks for nothing here; the provider will refuse it.
    let _ = One(&mut found).deserialize(&mut serde_json::Deserializer::from_str(format));
    found.0
}

fn walk<T: Object>(raw: &str, into: &mut T) {
    // The body was read to its end, so this is valid JSON.
    let _ = Each(into).deserialize(&mut serde_json::Deserializer::from_str(raw));
}

#[derive(Default)]
struct Seen {
    tools: bool,
    served_tools: bool,
    images: bool,
    audio: bool,
    files: bool,
    /// Bytes of attachments; they do not count as tokens.
    attached: u64,
}

/// Messages of chat or items of responses.
struct Messages<'s>(&'s mut Seen);

impl Object for Messages<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "content" | "output" => map.next_value_seed(Each(&mut Parts(self.0))),
            "role" | "type" => {
                let word: &RawValue = map.next_value()?;
                self.0.tools |= matches!(
                    string_inner(word.get()),
                    Some("tool" | "function" | "function_call_output")
                );
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
        self.0.served_tools |= string_inner(kind.get()).is_some_and(acts_at_the_provider);
        Ok(())
    }
}

/// Tools whose second call does nothing twice, by the beginnings of their types: the client runs
/// them itself, or the provider only reads.
const HARMLESS: &[&str] = &[
    "function",
    "custom",
    "namespace",
    "local_shell",
    "apply_patch",
    "bash",
    "text_editor",
    "memory",
    "computer",
    "tool_search",
    "web_search",
    "web_fetch",
    "file_search",
];

/// Whether calling a tool of this type twice may do something twice. True for every type that is
/// not known to be harmless.
pub(crate) fn acts_at_the_provider(kind: &str) -> bool {
    let is_version = |rest: &str| rest.is_empty() || rest.starts_with('_');
    !HARMLESS.iter().any(|name| kind.strip_prefix(name).is_some_and(is_version))
}

struct Format(bool);

impl Object for Format {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        if key != "type" {
            return skip(map);
        }
        let kind: &RawValue = map.next_value()?;
        self.0 |= kind.get() == "\"json_schema\"";
        Ok(())
    }
}
