//! A client's request in any dialect, and how it is written for a rung.
//!
//! A rung that speaks the client's dialect gets the client's own bytes. The relay checks only the
//! fields that it depends on itself: a provider knows its own fields, and the relay would be wrong
//! about the next new one. For a rung of another dialect the request is read once into the neutral
//! form and written from there. What the other dialect cannot express is named, and never left out
//! silently.

pub use crate::common::needs::Needs;
pub use crate::common::reject::Reject;
pub use crate::common::thinks::Thinks;
pub use crate::endpoint::Endpoint;

use crate::common::fields::{Fields, Writer};
use crate::common::harmless;
use crate::common::needs::BYTES_PER_TOKEN;
use crate::common::quoted::is_quoted;
use crate::common::spots::{Found, Part, edit};
use crate::common::thinks;
use crate::common::values::{flag, limit_of};
use crate::neutral::{self, Limits, Names, Target, Unsupported, Upstream};
use crate::table;
use serde_json::error::Category;
use serde_json::value::RawValue;
use shared::Dialect;
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// A client's request.
///
/// ```
/// use dialect::neutral::{Degrade, Target};
/// use dialect::request::ClientRequest;
/// use shared::Dialect;
///
/// let body = br#"{"model":"chat","messages":[{"role":"user","content":"Hello"}]}"#;
/// let request = ClientRequest::parse(Dialect::OpenaiChat, body).unwrap();
/// let target = Target {
///     model: "haiku",
///     max_output: None,
///     ask_usage: false,
///     system: None,
///     degrade: Degrade::default(),
///     again: None,
/// };
/// let upstream = request.upstream(Dialect::AnthropicMessages, &target).unwrap();
/// let sent: serde_json::Value = serde_json::from_slice(&upstream.body).unwrap();
/// assert_eq!(sent["model"], "haiku");
/// assert_eq!(sent["messages"][0]["content"][0]["text"], "Hello");
/// ```
#[derive(Clone)]
pub struct ClientRequest {
    dialect: Dialect,
    endpoint: Endpoint,
    /// The size of its body, in bytes.
    size: usize,
    fields: Fields,
    /// The fields with all items that the request refers to and that are known here.
    full: Option<Fields>,
    model: String,
    stream: bool,
    wants_usage: bool,
    choices: u32,
    needs: Needs,
    /// Fields that may be left out for rungs of other dialects.
    ignored: Arc<[String]>,
    /// The neutral form; it is read for the first rung of another dialect.
    neutral: OnceLock<Result<neutral::Request, Unsupported>>,
    /// Whether each dialect can express the request, in the order of [`Dialect::ALL`].
    supported: [OnceLock<Result<(), Unsupported>>; Dialect::ALL.len()],
}

/// Without the fields: a prompt must not appear in a log.
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

impl ClientRequest {
    /// Reads a request of `dialect`. Every field is kept as it was written; of
    /// duplicates the last one counts.
    ///
    /// # Errors
    ///
    /// Says which field is wrong and how to correct it.
    pub fn parse(dialect: Dialect, body: &[u8]) -> Result<Self, Reject> {
        let fields = object(dialect, body)?;
        let model = model(&fields)?;
        let stream = flag(&fields, "stream")?;
        let client = table::spec(dialect).client().ok_or_else(no_clients)?;
        let (wants_usage, choices) = client.usage_and_choices(&fields)?;
        let mut needs = client.needs(&fields)?;
        needs.thinks = thinks::thinks(&fields);
        let (neutral, supported) = (OnceLock::new(), Default::default());
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
            supported,
        })
    }

    /// Reads a request for an endpoint whose answers pass through.
    ///
    /// # Errors
    ///
    /// Says which field is wrong and how to correct it.
    pub fn parse_for(endpoint: Endpoint, body: &[u8]) -> Result<Self, Reject> {
        let dialect = table::owner(endpoint).unwrap_or(Dialect::OpenaiChat);
        let client = table::client(dialect);
        let fields = object(dialect, body)?;
        let model = model(&fields)?;
        let asked = fields.text(endpoint.main_field());
        if asked.is_none() && matches!(endpoint, Endpoint::Embeddings | Endpoint::Moderations) {
            return Err(Reject::missing(endpoint.main_field(), "a text, or a list of them"));
        }
        let is_text = endpoint == Endpoint::Completions;
        let needs = Needs {
            prompt_tokens: asked.map_or(0, |asked| asked.len() as u64) / BYTES_PER_TOKEN,
            max_output: if is_text { limit_of(&fields, "max_tokens") } else { None },
            ..Needs::default()
        };
        let needs = if endpoint == Endpoint::CountTokens {
            client.needs(&with_limit(&fields))?
        } else {
            needs
        };
        let (wants_usage, choices) = if is_text {
            let (wants_usage, each) = client.usage_and_choices(&fields)?;
            (wants_usage, each.saturating_mul(prompts(&fields)))
        } else {
            (false, 1)
        };
        Ok(Self {
            dialect,
            endpoint,
            size: body.len(),
            stream: is_text && flag(&fields, "stream")?,
            wants_usage,
            choices,
            fields,
            full: None,
            model,
            needs,
            ignored: Arc::default(),
            neutral: OnceLock::new(),
            supported: Default::default(),
        })
    }

    /// The endpoint that is called.
    #[must_use]
    pub const fn endpoint(&self) -> Endpoint {
        self.endpoint
    }

    /// The request as the client wrote it, but with another model.
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

    /// The same request; the fields `ignored` may be left out for rungs of other dialects.
    #[must_use]
    pub fn ignoring(self, ignored: Arc<[String]>) -> Self {
        Self { ignored, neutral: OnceLock::new(), supported: Default::default(), ..self }
    }

    /// The same request with the items that it only refers to put in. `find` returns an item by its
    /// id.
    ///
    /// # Errors
    ///
    /// It refers to an item that only the relay could know, and that is not kept any more.
    pub fn following(self, find: &dyn Fn(&str) -> Option<String>) -> Result<Self, Reject> {
        let client = table::client(self.dialect);
        let Some(followed) = client.follow(&self.fields, find)? else { return Ok(self) };
        let needs = client.needs(&followed.full)?;
        let fields = followed.own;
        let (neutral, supported) = (OnceLock::new(), Default::default());
        Ok(Self { fields, full: Some(followed.full), needs, neutral, supported, ..self })
    }

    /// What a later request of the client may refer to by ids: the answer and its items. `answer`
    /// is a whole answer or the last event of a stream. Empty if the client has asked that nothing
    /// is kept.
    #[must_use]
    pub fn kept_of(&self, answer: &[u8]) -> Vec<(String, String)> {
        if self.endpoint != Endpoint::Answer {
            return Vec::new();
        }
        table::client(self.dialect).kept(self.full.as_ref().unwrap_or(&self.fields), answer)
    }

    /// An empty request that takes the place of one that is dropped.
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
            supported: Default::default(),
            ignored: Arc::default(),
        }
    }

    /// The size of its body, in bytes.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The dialect that the client wrote it in.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether `words` stand in the request, whatever their case. Searches the whole request.
    #[must_use]
    pub fn quotes(&self, words: &str) -> bool {
        let has = |text: &str| is_quoted(text.as_bytes(), words);
        self.fields.iter().any(|(key, value)| has(key) || has(value.get()))
    }

    /// The model that it names. For the relay this is the name of a ladder.
    #[must_use]
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whether it wants a stream.
    #[must_use]
    pub const fn stream(&self) -> bool {
        self.stream
    }

    /// Whether it wants the usage. Only chat clients can choose.
    #[must_use]
    pub const fn wants_usage(&self) -> bool {
        self.wants_usage
    }

    /// Whether the relay itself asks a rung of dialect `to` for the usage, without a field of the
    /// client's.
    #[must_use]
    pub fn adds_usage_for(&self, to: Dialect) -> bool {
        to != self.dialect || (table::client(to).asks_for_usage() && !self.wants_usage)
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
        if self.endpoint != Endpoint::Answer {
            return None;
        }
        table::client(self.dialect).schema(&self.fields)
    }

    /// The request as JSON, every value as the client wrote it.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new());
        writer.all(&self.fields);
        writer.finish()
    }

    /// Checks whether dialect `to` can express all of the request. This is checked once for each
    /// dialect, without writing the body. The client's own dialect can express everything.
    ///
    /// # Errors
    ///
    /// Names what cannot be written in `to`.
    pub fn supported_by(&self, to: Dialect) -> Result<(), Unsupported> {
        let find = || {
            if table::owner(self.endpoint).is_some_and(|own| own != to) {
                return Err(Unsupported { field: self.endpoint.name().to_owned() });
            }
            table::spec(to).can_write(self.neutral()?)
        };
        let place = Dialect::ALL.iter().position(|one| *one == to);
        match place.and_then(|place| self.supported.get(place)) {
            _ if to == self.dialect => Ok(()),
            Some(known) => known.get_or_init(find).clone(),
            None => find(),
        }
    }

    /// Writes the request for a rung of dialect `to`, under the rung's own model name. It always
    /// asks for a stream, if the endpoint has streams. In the client's own dialect everything else
    /// stays as the client wrote it.
    ///
    /// # Errors
    ///
    /// Names what cannot be written in `to`, or what in the request is wrong.
    pub fn upstream(&self, to: Dialect, target: &Target<'_>) -> Result<Upstream, Unsupported> {
        if table::owner(self.endpoint).is_some_and(|own| own != to) {
            return Err(Unsupported { field: self.endpoint.name().to_owned() });
        }
        if !matches!(self.endpoint, Endpoint::Answer | Endpoint::Completions) {
            let body = self.for_model(target.model);
            return Ok(Upstream { body, ..Upstream::default() });
        }
        if to == self.dialect {
            return Ok(self.pass_through(target));
        }
        let request = self.neutral()?;
        let mut upstream = table::spec(to).write_request(request, target)?;
        upstream.left_out.extend(&request.left_out);
        Ok(upstream)
    }

    /// The client's own bytes, changed only where the rung would refuse them.
    fn pass_through(&self, target: &Target<'_>) -> Upstream {
        let client = table::client(self.dialect);
        let limits = client.limits(target.model);
        let (fields, names) = fitted(&self.fields, client.request_names(), &limits);
        Upstream { names, ..client.pass_request(&fields, target) }
    }

    /// The request in the neutral form, read once.
    fn neutral(&self) -> Result<&neutral::Request, Unsupported> {
        self.neutral.get_or_init(|| self.read()).as_ref().map_err(Clone::clone)
    }

    fn read(&self) -> Result<neutral::Request, Unsupported> {
        let fields = self.full.as_ref().unwrap_or(&self.fields);
        let read = table::client(self.dialect).read_request(fields);
        // Its own provider may understand what the relay does not.
        let unable = |reject: Reject| Unsupported { field: reject.param.unwrap_or(reject.message) };
        let mut request = read.map_err(unable)?;
        harmless::leave_out(&mut request, &self.ignored);
        Ok(request)
    }
}

/// The fields of a request that counts a prompt's tokens, with `max_tokens`: such a request has
/// none, but an answer's needs cannot be read without it.
fn with_limit(fields: &Fields) -> Fields {
    let mut limited = fields.clone();
    if let Ok(one) = RawValue::from_string("1".to_owned()) {
        limited.set("max_tokens".to_owned(), one);
    }
    limited
}

/// How many prompts a completion has. A list of numbers is one prompt, in tokens.
fn prompts(fields: &Fields) -> u32 {
    let prompts: Vec<&RawValue> =
        fields.text("prompt").and_then(|raw| serde_json::from_str(raw).ok()).unwrap_or_default();
    let lists = prompts.iter().filter(|one| one.get().starts_with(['"', '[']));
    u32::try_from(lists.count()).unwrap_or(u32::MAX).max(1)
}

/// The request with each name and id that does not fit the limits put into a form that does.
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
                Found::Id(id) => ids_fit &= limits.id_for_rung(id).is_none(),
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
            Found::Name(name) => names.name_for_rung(name).map(str::to_owned),
            Found::Id(id) => limits.id_for_rung(id),
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
                let asked = table::client(dialect).main_field();
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

#[cfg(test)]
mod tests;
