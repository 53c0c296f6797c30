//! What a client asks, in whatever dialect, and how a rung is told.
//!
//! A rung that speaks the client's dialect gets the client's own bytes; only what the
//! relay itself depends on is checked, since a provider knows its own fields and the
//! relay would be wrong about the next new one. For a rung of another dialect the
//! request is read once into the neutral form and written from there; what cannot be
//! said is named, and never left out in silence.

mod endpoint;
pub(super) mod harmless;
pub(super) mod members;
mod needs;
pub(super) mod openai;
pub(super) mod shape;
mod thinks;

pub use endpoint::Endpoint;
pub use needs::Needs;
pub(super) use needs::{OpenaiAsks, acts_at_the_provider, asks_for_schema};
pub use thinks::Thinks;

use super::fields::{Fields, Writer};
use super::neutral::{self, Limits, Names, Target, Unable, Upstream};
use super::quoted::is_quoted;
use super::spots::{Found, Part, edit};
use super::{anthropic_messages, gemini, openai_chat, openai_responses};
use serde_json::error::Category;
use serde_json::value::RawValue;
use shared::Dialect;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A client's request.
#[derive(Clone)]
pub struct ClientRequest {
    dialect: Dialect,
    endpoint: Endpoint,
    /// Of its body, in bytes.
    size: usize,
    fields: Fields,
    /// The same with all items that it refers to and that are known here.
    full: Option<Fields>,
    model: String,
    stream: bool,
    wants_usage: bool,
    choices: u32,
    needs: Needs,
    /// Fields that rungs of other dialects may go without.
    ignored: Arc<[String]>,
    /// Read for the first rung of another dialect.
    neutral: OnceLock<Result<neutral::Request, Unable>>,
    /// Whether each dialect can be told it, in the order of [`Dialect::ALL`].
    told: [OnceLock<Result<(), Unable>>; Dialect::ALL.len()],
}

/// A request that is wrong, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reject {
    /// The HTTP status.
    pub status: u16,
    /// What is wrong and what to do, for a person.
    pub message: String,
    /// The field that is wrong.
    pub param: Option<String>,
    /// The same for a program.
    pub code: Option<&'static str>,
}

/// Without the fields: a prompt has no place in a log.
impl std::fmt::Debug for ClientRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientRequest")
            .field("dialect", &self.dialect)
            .field("stream", &self.stream)
            .field("choices", &self.choices)
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}

impl Reject {
    /// `param` is wrong.
    pub(super) fn new(param: &str, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            param: Some(param.to_owned()),
            code: Some(code),
        }
    }

    /// `param` is not what it must be.
    pub(super) fn wrong_type(param: &str, wanted: &str) -> Self {
        Self::new(param, "invalid_type", format!("'{param}' must be {wanted}."))
    }

    /// `param` is not there.
    pub(super) fn missing(param: &str, wanted: &str) -> Self {
        let message = format!("'{param}' is missing; send {wanted}.");
        Self::new(param, "missing_required_parameter", message)
    }
}

impl ClientRequest {
    /// Reads a request of `dialect`. Every field is kept as it was written; of
    /// duplicates the last one counts.
    ///
    /// # Errors
    ///
    /// Says which field is wrong and how to put it right.
    pub fn parse(dialect: Dialect, body: &[u8]) -> Result<Self, Reject> {
        let fields = object(dialect, body)?;
        let model = model(&fields)?;
        let stream = flag(&fields, "stream")?;
        let (wants_usage, choices) = match dialect {
            Dialect::OpenaiChat => {
                (openai_chat::wants_usage(&fields)?, openai_chat::choices(&fields)?)
            }
            // They tell it always, and give one answer.
            _ => (true, 1),
        };
        let mut needs = match dialect {
            Dialect::OpenaiChat => openai_chat::needs(&fields)?,
            Dialect::OpenaiResponses => openai_responses::needs(&fields)?,
            Dialect::AnthropicMessages => anthropic_messages::needs(&fields)?,
            Dialect::Gemini => return Err(no_clients()),
        };
        needs.thinks = thinks::thinks(&fields);
        let (neutral, told) = (OnceLock::new(), Default::default());
        let ignored = Arc::default();
        let size = body.len();
        Ok(Self {
            dialect,
            endpoint: Endpoint::Answer,
            size,
            fields,
            full: None,
            model,
            stream,
            wants_usage,
            choices,
            needs,
            ignored,
            neutral,
            told,
        })
    }

    /// Reads a request for an endpoint whose answers pass through.
    ///
    /// # Errors
    ///
    /// Says which field is wrong and how to put it right.
    pub fn parse_for(endpoint: Endpoint, body: &[u8]) -> Result<Self, Reject> {
        let dialect = endpoint.dialect().unwrap_or(Dialect::OpenaiChat);
        let fields = object(dialect, body)?;
        let model = model(&fields)?;
        let asked = fields.text(endpoint.asked());
        if asked.is_none() && matches!(endpoint, Endpoint::Embeddings | Endpoint::Moderations) {
            return Err(Reject::missing(endpoint.asked(), "a text, or a list of them"));
        }
        let is_text = endpoint == Endpoint::Completions;
        let needs = Needs {
            prompt_tokens: asked.map_or(0, |asked| asked.len() as u64) / needs::BYTES_PER_TOKEN,
            max_output: if is_text { limit_of(&fields, "max_tokens") } else { None },
            ..Needs::default()
        };
        let needs = if endpoint == Endpoint::CountTokens { counted(&fields)? } else { needs };
        Ok(Self {
            dialect,
            endpoint,
            size: body.len(),
            stream: is_text && flag(&fields, "stream")?,
            wants_usage: is_text && openai_chat::wants_usage(&fields)?,
            choices: if is_text { text_choices(&fields)? } else { 1 },
            fields,
            full: None,
            model,
            needs,
            ignored: Arc::default(),
            neutral: OnceLock::new(),
            told: Default::default(),
        })
    }

    /// What is called.
    #[must_use]
    pub const fn endpoint(&self) -> Endpoint {
        self.endpoint
    }

    /// The request as the client wrote it, but for another model.
    #[must_use]
    pub fn for_model(&self, model: &str) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        for (key, value) in self.fields.iter() {
            match key {
                "model" => writer.string(key, model),
                _ => writer.raw(key, value.get()),
            }
        }
        writer.finish()
    }

    /// The same, and rungs of other dialects may go without the fields `ignored`.
    #[must_use]
    pub fn ignoring(self, ignored: Arc<[String]>) -> Self {
        Self { ignored, neutral: OnceLock::new(), told: Default::default(), ..self }
    }

    /// The same with the items that it only refers to, as `find` has them by their ids.
    ///
    /// # Errors
    ///
    /// It refers to one that nobody can know any more.
    pub fn following(self, find: &dyn Fn(&str) -> Option<String>) -> Result<Self, Reject> {
        if self.dialect != Dialect::OpenaiResponses {
            return Ok(self);
        }
        let followed = openai_responses::follow(&self.fields, find)?;
        let Some(all) = followed.all else { return Ok(self) };
        let (mut fields, mut full) = (self.fields.clone(), self.fields);
        full.set("input".to_owned(), all);
        let none = |fields: &mut Fields| {
            if fields.text("previous_response_id").is_some()
                && let Ok(none) = RawValue::from_string("null".to_owned())
            {
                fields.set("previous_response_id".to_owned(), none);
            }
        };
        // Its history is here now, and the same id would be looked up again.
        none(&mut full);
        if let Some(own) = followed.own {
            fields.set("input".to_owned(), own);
        }
        if followed.previous_is_own {
            none(&mut fields);
        }
        let needs = openai_responses::needs(&full)?;
        let (neutral, told) = (OnceLock::new(), Default::default());
        Ok(Self { fields, full: Some(full), needs, neutral, told, ..self })
    }

    /// What its client may refer to later, by ids: the answer, a whole one or the last event of
    /// a stream, and its items. Nothing where the client has said that nothing is to be kept.
    #[must_use]
    pub fn kept_of(&self, answer: &[u8]) -> Vec<(String, String)> {
        let keeps = self.dialect == Dialect::OpenaiResponses
            && self.endpoint == Endpoint::Answer
            && self.fields.text("store") != Some("false");
        let fields = self.full.as_ref().unwrap_or(&self.fields);
        if keeps { openai_responses::kept(fields, answer) } else { Vec::new() }
    }

    /// A request of nothing, which takes the place of one that is let go.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            dialect: Dialect::OpenaiChat,
            endpoint: Endpoint::Answer,
            size: 0,
            fields: Fields::default(),
            full: None,
            model: String::new(),
            stream: false,
            wants_usage: false,
            choices: 0,
            needs: Needs::default(),
            neutral: OnceLock::new(),
            told: Default::default(),
            ignored: Arc::default(),
        }
    }

    /// How large its body was, in bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The dialect that it was asked in.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether these words stand in it, case apart. A search of the whole request.
    #[must_use]
    pub fn quotes(&self, words: &str) -> bool {
        let has = |text: &str| is_quoted(text.as_bytes(), words);
        self.fields.iter().any(|(key, value)| has(key) || has(value.get()))
    }

    /// The model that it names: a ladder, for the relay.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether it wants a stream.
    #[must_use]
    pub const fn stream(&self) -> bool {
        self.stream
    }

    /// Whether it wants to be told the usage. Only chat leaves the choice.
    #[must_use]
    pub const fn wants_usage(&self) -> bool {
        self.wants_usage
    }

    /// How many answers it wants.
    #[must_use]
    pub const fn choices(&self) -> u32 {
        self.choices
    }

    /// What a rung must be able to do for it.
    #[must_use]
    pub const fn needs(&self) -> Needs {
        self.needs
    }

    /// The JSON schema that its answer must follow, as the client wrote it.
    #[must_use]
    pub fn schema(&self) -> Option<&RawValue> {
        match self.dialect {
            _ if self.endpoint != Endpoint::Answer => None,
            Dialect::OpenaiChat => {
                let format = schema_format(self.fields.get("response_format")?)?;
                member(member(format, "json_schema")?, "schema")
            }
            Dialect::OpenaiResponses => {
                let format = member(self.fields.get("text")?, "format")?;
                member(schema_format(format)?, "schema")
            }
            Dialect::AnthropicMessages => {
                let new = || member(self.fields.get("output_config")?, "format");
                let format = new().or_else(|| self.fields.get("output_format"))?;
                member(schema_format(format)?, "schema")
            }
            Dialect::Gemini => None,
        }
    }

    /// The request as JSON, every value as the client wrote it.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        writer.all(&self.fields);
        writer.finish()
    }

    /// Whether a rung of dialect `to` can be told all of it: looked up once for each dialect,
    /// without writing the body. Its own dialect can be told everything.
    ///
    /// # Errors
    ///
    /// Names what has no words in `to`.
    pub fn can_be_told(&self, to: Dialect) -> Result<(), Unable> {
        let find = || {
            if self.endpoint.dialect().is_some_and(|own| own != to) {
                return Err(Unable { feature: self.endpoint.name().to_owned() });
            }
            let request = self.neutral()?;
            match to {
                Dialect::OpenaiChat => openai_chat::can_be_told(request),
                Dialect::OpenaiResponses => openai_responses::can_be_told(request),
                Dialect::AnthropicMessages => anthropic_messages::can_be_told(request),
                Dialect::Gemini => gemini::can_be_told(request),
            }
        };
        let place = Dialect::ALL.iter().position(|one| *one == to);
        match place.and_then(|place| self.told.get(place)) {
            _ if to == self.dialect => Ok(()),
            Some(told) => told.get_or_init(find).clone(),
            None => find(),
        }
    }

    /// The body for a rung of dialect `to`: always one for a stream, under the rung's own
    /// model name. In the client's own dialect everything else is as the client wrote it.
    ///
    /// # Errors
    ///
    /// Names what has no words in `to`, or what in the request is wrong.
    pub fn upstream(&self, to: Dialect, target: &Target<'_>) -> Result<Upstream, Unable> {
        if self.endpoint.dialect().is_some_and(|own| own != to) {
            return Err(Unable { feature: self.endpoint.name().to_owned() });
        }
        if !matches!(self.endpoint, Endpoint::Answer | Endpoint::Completions) {
            let body = self.for_model(target.model);
            return Ok(Upstream { body, ..Upstream::default() });
        }
        if to == self.dialect {
            return self.pass_through(target);
        }
        let request = self.neutral()?;
        let mut upstream = match to {
            Dialect::OpenaiChat => openai_chat::write_request(request, target),
            Dialect::OpenaiResponses => openai_responses::write_request(request, target),
            Dialect::AnthropicMessages => anthropic_messages::write_request(request, target),
            Dialect::Gemini => gemini::write_request(request, target),
        }?;
        upstream.left_out.extend(&request.unsaid);
        Ok(upstream)
    }

    /// The client's own bytes, but for what the rung would refuse of them.
    fn pass_through(&self, target: &Target<'_>) -> Result<Upstream, Unable> {
        let (pass_through, asked, limits): (fn(&Fields, &Target<'_>) -> Upstream, _, _) = match self
            .dialect
        {
            Dialect::OpenaiChat => {
                (openai_chat::pass_through, openai_chat::ASKED, openai_chat::limits(target.model))
            }
            Dialect::OpenaiResponses => {
                (openai_responses::pass_through, openai_responses::ASKED, openai_responses::LIMITS)
            }
            Dialect::AnthropicMessages => (
                anthropic_messages::pass_through,
                anthropic_messages::ASKED,
                anthropic_messages::LIMITS,
            ),
            Dialect::Gemini => return Err(Unable { feature: "gemini".to_owned() }),
        };
        let (fields, names) = fitted(&self.fields, asked, &limits);
        Ok(Upstream { names, ..pass_through(&fields, target) })
    }

    /// The request in neutral words, read once.
    fn neutral(&self) -> Result<&neutral::Request, Unable> {
        self.neutral.get_or_init(|| self.read()).as_ref().map_err(Clone::clone)
    }

    fn read(&self) -> Result<neutral::Request, Unable> {
        let fields = self.full.as_ref().unwrap_or(&self.fields);
        let read = match self.dialect {
            Dialect::OpenaiChat => openai_chat::read_request(fields),
            Dialect::OpenaiResponses => openai_responses::read_request(fields),
            Dialect::AnthropicMessages => anthropic_messages::read_request(fields),
            Dialect::Gemini => Err(no_clients()),
        };
        // Its own provider may understand what the relay does not.
        let unable = |reject: Reject| Unable { feature: reject.param.unwrap_or(reject.message) };
        let mut request = read.map_err(unable)?;
        harmless::leave_out(&mut request, &self.ignored);
        Ok(request)
    }
}

/// What a prompt needs whose tokens are to be counted: an answer to it has no limit yet.
fn counted(fields: &Fields) -> Result<Needs, Reject> {
    let mut limited = fields.clone();
    if let Ok(one) = RawValue::from_string("1".to_owned()) {
        limited.set("max_tokens".to_owned(), one);
    }
    anthropic_messages::needs(&limited)
}

/// How many texts a completion gives: `n` for each prompt. A list of numbers is one
/// prompt, in tokens.
fn text_choices(fields: &Fields) -> Result<u32, Reject> {
    let each = openai_chat::choices(fields)?;
    let prompts: Vec<&RawValue> =
        fields.text("prompt").and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
    let lists = prompts.iter().filter(|one| one.get().starts_with(['"', '[']));
    let prompts = u32::try_from(lists.count()).unwrap_or(u32::MAX).max(1);
    Ok(each.saturating_mul(prompts))
}

/// The request with those names and ids put into another form that do not fit.
fn fitted<'f>(fields: &'f Fields, asked: &[Part], limits: &Limits) -> (Cow<'f, Fields>, Names) {
    let holding = || {
        asked.iter().filter_map(|(key, needle, spot)| {
            let raw = fields.get(key)?.get();
            memchr::memmem::find(raw.as_bytes(), needle.as_bytes())?;
            Some((*key, raw, spot))
        })
    };
    let mut names = Vec::new();
    let mut ids_fit = true;
    for (_, raw, spot) in holding() {
        let look = &mut |found: Found<'_>| {
            match found {
                Found::Name(name) => names.push(name.to_owned()),
                Found::Id(id) => ids_fit &= limits.told_id(id).is_none(),
            }
            None
        };
        edit(raw, spot, look);
    }
    let all = names;
    let names = Names::of(all.iter().map(String::as_str).collect(), &limits.name, &[]);
    let names = names.among(all);
    if names.is_empty() && ids_fit {
        return (Cow::Borrowed(fields), names);
    }
    let mut told = fields.clone();
    for (key, raw, spot) in holding() {
        let change = &mut |found: Found<'_>| match found {
            Found::Name(name) => names.told(name).map(str::to_owned),
            Found::Id(id) => limits.told_id(id),
        };
        let changed = edit(raw, spot, change).map(RawValue::from_string);
        if let Some(Ok(changed)) = changed {
            told.set(key.to_owned(), changed);
        }
    }
    (Cow::Owned(told), names)
}

fn no_clients() -> Reject {
    Reject {
        status: 400,
        message: "Clients cannot ask in Gemini's dialect; use one of the other endpoints."
            .to_owned(),
        param: None,
        code: Some("unsupported_dialect"),
    }
}

/// `format` itself if it asks for a schema.
fn schema_format(format: &RawValue) -> Option<&RawValue> {
    (member(format, "type")?.get() == "\"json_schema\"").then_some(format)
}

/// A member of a raw object.
pub(super) fn member<'a>(object: &'a RawValue, key: &str) -> Option<&'a RawValue> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(object.get()).ok()?;
    members.get(key).copied()
}

fn object(dialect: Dialect, body: &[u8]) -> Result<Fields, Reject> {
    let malformed =
        |message: String| Reject { status: 400, message, param: None, code: Some("invalid_json") };
    let text = std::str::from_utf8(body).map_err(|wrong| {
        let at = wrong.valid_up_to();
        malformed(format!("The request body is not UTF-8: byte {at} starts no character."))
    })?;
    serde_json::from_str(text).map_err(|wrong| {
        let (line, column) = (wrong.line(), wrong.column());
        // serde_json's own text can quote the body, so only its kind is used.
        malformed(match wrong.classify() {
            Category::Eof if text.trim_ascii().is_empty() => {
                let asked = if dialect == Dialect::OpenaiResponses { "input" } else { "messages" };
                format!("The request body is empty; send a JSON object with 'model' and '{asked}'.")
            }
            Category::Eof => format!(
                "The request body is not complete JSON: it ends at line {line}, column {column}."
            ),
            Category::Data => "The request body must be one JSON object.".to_owned(),
            Category::Syntax | Category::Io => {
                format!("The request body is not valid JSON: see line {line}, column {column}.")
            }
        })
    })
}

fn model(fields: &Fields) -> Result<String, Reject> {
    let Some(raw) = fields.text("model") else {
        return Err(Reject::new(
            "model",
            "missing_required_parameter",
            "'model' is missing; name a model, GET /v1/models lists them.",
        ));
    };
    let name: String = serde_json::from_str(raw)
        .map_err(|_| Reject::wrong_type("model", "a string: the name of a model"))?;
    if name.trim().is_empty() {
        return Err(Reject::new(
            "model",
            "invalid_value",
            "'model' is empty; name a model, GET /v1/models lists them.",
        ));
    }
    Ok(name)
}

/// An optional flag; absent and null are false.
///
/// # Errors
///
/// It is something else.
pub(super) fn flag(fields: &Fields, key: &str) -> Result<bool, Reject> {
    match fields.text(key) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Reject::wrong_type(key, "true or false")),
    }
}

/// An optional count; absent and null are none. `wanted` says what it must be.
///
/// # Errors
///
/// It is something else.
pub(super) fn whole_number(
    fields: &Fields,
    key: &str,
    wanted: &str,
) -> Result<Option<u64>, Reject> {
    let count = |raw| count_of(raw).ok_or_else(|| Reject::wrong_type(key, wanted));
    fields.text(key).map(count).transpose()
}

/// A count as it was written; some clients write each number with a point.
pub(super) fn count_of(raw: &str) -> Option<u64> {
    let of_float = || {
        let (whole, rest) = raw.split_once('.')?;
        rest.bytes().all(|digit| digit == b'0').then(|| whole.parse().ok())?
    };
    raw.parse().ok().or_else(of_float)
}

/// A limit that the relay can plan with. What else stands there is for those to judge who
/// are told it.
pub(super) fn limit_of(fields: &Fields, key: &str) -> Option<u64> {
    fields.text(key).and_then(count_of)
}

/// An optional array as it was written; absent and null are none.
///
/// # Errors
///
/// It is something else.
pub(super) fn array<'f>(fields: &'f Fields, key: &str) -> Result<Option<&'f str>, Reject> {
    match fields.text(key) {
        Some(raw) if !raw.starts_with('[') => Err(Reject::wrong_type(key, "an array")),
        other => Ok(other),
    }
}

/// Whether an array as it was written has no element.
pub(super) fn is_empty_array(raw: &str) -> bool {
    raw.trim_start_matches('[').trim_ascii_start().starts_with(']')
}

#[cfg(test)]
mod tests;
