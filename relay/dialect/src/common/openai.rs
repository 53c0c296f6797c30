//! What OpenAI's two dialects have in common.

use crate::common::fields::{Fields, Writer};
use crate::common::members::{Members, Rule, Value};
use crate::common::reject::Reject;
use crate::neutral::{
    Audio, Degrade, Effort, FREE_TEXT, File, Format, Image, Part, Request, Signed, Source, Target,
    Thinking, Tool, ToolChoice, Unsupported,
};
use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};
use shared::Dialect;
use std::borrow::Cow;

/// Marks for a provider's cache: they change what an answer costs, not its content.
pub(crate) const CACHE_MARK: Rule = Rule::harmless("cache_control");

/// Reads the word for how much to reason.
pub(crate) fn effort(value: &Value<'_>) -> Result<Thinking, Reject> {
    Ok(Thinking::Effort(match value.string()?.as_str() {
        "none" => return Ok(Thinking::Off),
        "minimal" => Effort::Minimal,
        "low" => Effort::Low,
        "medium" => Effort::Medium,
        "high" => Effort::High,
        "xhigh" | "max" => Effort::Max,
        _ => {
            let wanted = "none, minimal, low, medium, high or xhigh";
            return Err(Reject::wrong_type(value.path(), wanted));
        }
    }))
}

/// The word for how much to reason, if the field is needed. A number of tokens becomes the nearest
/// word. `Off` is left out: a model that cannot reason accepts no word for it.
pub(crate) fn effort_word(
    thinking: Option<Thinking>,
    left_out: &mut Vec<&'static str>,
) -> Option<&'static str> {
    Some(match thinking? {
        Thinking::Off => {
            left_out.push("thinking");
            return None;
        }
        // A model does this without the field.
        Thinking::Adaptive => return None,
        Thinking::Effort(Effort::Minimal) => "minimal",
        Thinking::Effort(Effort::Low) | Thinking::Budget(..=1024) => "low",
        Thinking::Effort(Effort::Medium) | Thinking::Budget(..=8192) => "medium",
        Thinking::Effort(Effort::High) | Thinking::Budget(_) => "high",
        Thinking::Effort(Effort::Max) => "xhigh",
    })
}

/// Whether the request asks for reasoning.
pub(crate) const fn thinks(thinking: Option<Thinking>) -> bool {
    matches!(thinking, Some(Thinking::Adaptive | Thinking::Effort(_) | Thinking::Budget(_)))
}

/// Reads a text, or a list of parts; `part` reads one part in its dialect.
pub(crate) fn content_of(
    value: &Value<'_>,
    request: &mut Request,
    part: fn(&Value<'_>, &mut Request) -> Result<Option<Part>, Reject>,
) -> Result<Vec<Part>, Reject> {
    if value.is_string() {
        return Ok(vec![Part::Text(value.string()?)]);
    }
    if !value.is_list() {
        return Err(Reject::wrong_type(value.path(), "a string or an array of parts"));
    }
    let mut parts = Vec::new();
    for value in value.list()? {
        parts.extend(part(&value, request)?);
    }
    Ok(parts)
}

/// Reads `name`, `description`, `parameters` and `strict` of a function.
pub(crate) fn function(members: &mut Members<'_>) -> Result<Tool, Reject> {
    Ok(Tool {
        name: members.required("name")?,
        description: members.string("description")?,
        parameters: members.take("parameters").map(|value| value.json_object()).transpose()?,
        strict: members.flag("strict")?,
    })
}

/// Reads `description` and `format` of a tool that takes free text. It is offered as a tool with
/// the text as its one argument. The grammar of the text is described in words; in chat the grammar
/// is in an object of its own.
pub(crate) fn free_text(
    members: &mut Members<'_>,
    name: String,
    request: &mut Request,
) -> Result<(), Reject> {
    let mut description = members.string("description")?.unwrap_or_default();
    if let Some(mut format) = members.object("format")? {
        if format.required("type")? == "grammar" {
            match format.object("grammar")? {
                Some(mut grammar) => {
                    description.push_str(&grammar_words(&mut grammar)?);
                    grammar.finish(&[], request);
                }
                None => description.push_str(&grammar_words(&mut format)?),
            }
        }
        format.finish(&[], request);
    }
    let schema = json!({
        "type": "object",
        "properties": {FREE_TEXT: {"type": "string"}},
        "required": [FREE_TEXT],
        "additionalProperties": false,
    });
    request.free_text.push(name.clone());
    request.tools.push(Tool {
        name,
        description: Some(description).filter(|text| !text.is_empty()),
        parameters: to_raw_value(&schema).ok(),
        strict: None,
    });
    Ok(())
}

fn grammar_words(grammar: &mut Members<'_>) -> Result<String, Reject> {
    let syntax = grammar.string("syntax")?.unwrap_or_default();
    let definition = grammar.required("definition")?;
    Ok(format!(
        "\n\nWrite the whole text into the argument '{FREE_TEXT}'. It must follow this {syntax} \
         grammar:\n{definition}"
    ))
}

/// The arguments of a call whose input was free text.
pub(crate) fn free_arguments(text: &str) -> String {
    json!({FREE_TEXT: text}).to_string()
}

/// Reads `name`, `description`, `schema` and `strict` of a format.
pub(crate) fn schema(members: &mut Members<'_>) -> Result<Format, Reject> {
    let missing = Reject::missing(&members.at("schema"), "a JSON schema");
    Ok(Format::Schema {
        name: members.string("name")?,
        description: members.string("description")?,
        schema: members.take("schema").ok_or(missing)?.json_object()?,
        strict: members.flag("strict")?,
    })
}

/// Reads a tool choice. If it is not a word, it names a tool, and `named` reads it in its dialect.
pub(crate) fn tool_choice(
    value: &Value<'_>,
    request: &mut Request,
    named: fn(Members<'_>, &mut Request) -> Result<Option<ToolChoice>, Reject>,
) -> Result<Option<ToolChoice>, Reject> {
    if !value.is_string() {
        return named(value.members()?, request);
    }
    let choice = choice_word(&value.string()?);
    if choice.is_none() {
        request.unsupported.push(value.path().to_owned());
    }
    Ok(choice)
}

/// A tool choice that is one word; `None`: the word is unknown.
fn choice_word(word: &str) -> Option<ToolChoice> {
    Some(match word {
        "none" => ToolChoice::None,
        "auto" => ToolChoice::Auto,
        // Mistral's word is `any`.
        "required" | "any" => ToolChoice::Any,
        _ => return None,
    })
}

/// A picture at `url`; `path` is the place of the URL in the request.
pub(crate) fn image(
    url: &str,
    path: &str,
    detail: Option<String>,
    request: &mut Request,
) -> Option<Part> {
    let source = source(url, path, request)?;
    Some(Part::Image(Image { source, detail }))
}

/// A document at `url`; `path` is the place of the URL in the request.
pub(crate) fn file(
    url: &str,
    path: &str,
    name: Option<String>,
    request: &mut Request,
) -> Option<Part> {
    let source = source(url, path, request)?;
    Some(Part::File(File { source, name }))
}

/// Reads `input_audio: {data, format}`.
pub(crate) fn audio(part: &mut Members<'_>, request: &mut Request) -> Result<Option<Part>, Reject> {
    let Some(mut sound) = part.object("input_audio")? else { return Ok(None) };
    let (data, format) = (sound.required("data")?, sound.required("format")?);
    let audio = Audio { data, format: format.to_ascii_lowercase() };
    sound.finish(&[], request);
    Ok(Some(Part::Audio(audio)))
}

fn source(url: &str, path: &str, request: &mut Request) -> Option<Source> {
    let source = Source::of_url(url);
    if source.is_none() {
        request.unsupported.push(path.to_owned());
    }
    source
}

/// The address or data URL of an attachment. The data URL is built only when it is written.
pub(crate) struct Url<'a>(&'a Source);

impl Url<'_> {
    /// Whether it holds the attachment's data itself.
    pub(crate) fn is_data(&self) -> bool {
        match self.0 {
            Source::Url(text) => text.starts_with("data:"),
            Source::Base64 { .. } => true,
            Source::Id(_) => false,
        }
    }
}

impl Serialize for Url<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Source::Url(text) | Source::Id(text) => serializer.serialize_str(text),
            Source::Base64 { media_type, data } => {
                serializer.collect_str(&format_args!("data:{media_type};base64,{data}"))
            }
        }
    }
}

/// The URL of `source`; it fails if only the source's provider can find the data.
pub(crate) fn url<'a>(source: &'a Source, field: &str) -> Result<Url<'a>, Unsupported> {
    match source {
        Source::Id(_) => Err(Unsupported { field: format!("{field} by its provider's id") }),
        Source::Url(_) | Source::Base64 { .. } => Ok(Url(source)),
    }
}

/// The name of a document that is sent as data: OpenAI needs one.
pub(crate) fn file_name(file: &File) -> Option<&str> {
    match (&file.name, &file.source) {
        (Some(name), _) => Some(name),
        (None, Source::Base64 { media_type, .. }) => Some(match media_type.as_str() {
            "application/pdf" => "attachment.pdf",
            _ => "attachment",
        }),
        (None, _) => None,
    }
}

/// Neither dialect accepts pictures or audio that a model made.
pub(crate) const ATTACHED_BY_MODEL: &str = "an attachment in an assistant's turn";

/// Joins texts as paragraphs. A single text is not copied.
pub(crate) fn paragraphs<'t>(texts: impl IntoIterator<Item = &'t str>) -> Cow<'t, str> {
    let mut all = Cow::Borrowed("");
    for text in texts {
        if all.is_empty() {
            all = Cow::Borrowed(text);
        } else if !text.is_empty() {
            let all = all.to_mut();
            all.push_str("\n\n");
            all.push_str(text);
        }
    }
    all
}

/// A tool's result as text, for a dialect that has no field for a failed tool.
pub(crate) fn result_text(parts: &[Part], is_error: bool) -> Cow<'_, str> {
    let text = paragraphs(parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.as_str()),
        _ => None,
    }));
    let says_so = text.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    if is_error && !says_so { format!("Error: {text}").into() } else { text }
}

/// Refuses a conversation whose last turn is the model's. The model is to continue that turn, but
/// these dialects cannot express that: the answer would begin anew, and the client would append it
/// to the turn.
pub(crate) fn refuse_prefill(request: &Request) -> Result<(), Unsupported> {
    use crate::neutral::Role;
    let last = request.turns.iter().rfind(|turn| !turn.parts.is_empty());
    let prefilled = last.is_some_and(|turn| {
        turn.role == Role::Assistant
            && turn.parts.iter().any(|part| matches!(part, Part::Text(text) if !text.is_empty()))
            && !turn.parts.iter().any(|part| matches!(part, Part::Call { .. }))
    });
    if prefilled { Err(Unsupported { field: "assistant_prefill".to_owned() }) } else { Ok(()) }
}

/// The signature in Gemini's own place of a call: `{google: {thought_signature}}`.
pub(crate) fn gemini_proof(
    call: &mut Members<'_>,
    request: &mut Request,
) -> Result<Option<Signed>, Reject> {
    let Some(mut extra) = call.object("extra_content")? else { return Ok(None) };
    let mut proof = None;
    if let Some(mut google) = extra.object("google")? {
        proof = google.string("thought_signature")?;
        google.finish(&[], request);
    }
    extra.finish(&[], request);
    Ok(proof.map(|text| Signed::read(Dialect::Gemini, &text)))
}

/// The schema's name if the client gave none: both dialects need one.
pub(crate) const SCHEMA_NAME: &str = "answer";

/// A JSON schema as it is written in a body.
#[derive(Serialize)]
pub(crate) struct Schema<'a> {
    pub name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<&'a str>,
    pub schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strict: Option<bool>,
}

/// Writes a body.
pub(crate) fn body(body: &impl Serialize) -> Result<Vec<u8>, Unsupported> {
    serde_json::to_vec(body).map_err(|_| Unsupported { field: "a number out of range".to_owned() })
}

/// The rung's own limit, if the client's is higher and limits are to be lowered.
pub(crate) fn limit(raw: &RawValue, target: &Target<'_>) -> Option<u64> {
    let most = target.max_output.filter(|_| target.degrade.max_output)?;
    let asked = crate::common::values::count_of(raw.get())?;
    (asked > most).then_some(most)
}

/// Whether the rung must be asked for one tool call at a time.
pub(crate) fn one_tool(fields: &Fields, degrade: Degrade) -> bool {
    degrade.parallel_tools
        && fields
            .text("tools")
            .is_some_and(|raw| raw.starts_with('[') && !crate::common::values::is_empty_array(raw))
}

/// Writes a small object of strings, such as a message.
pub(crate) fn strings(members: &[(&str, &str)]) -> String {
    let mut writer = Writer::new(Vec::new());
    for (key, text) in members {
        writer.string(key, text);
    }
    String::from_utf8(writer.finish()).unwrap_or_default()
}
