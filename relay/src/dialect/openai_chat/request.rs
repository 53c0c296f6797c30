//! What a client asks, checked as far as the relay depends on it.
//!
//! Only what the relay itself reads is checked; the rest is the provider's to
//! judge, since it knows its own fields and the relay would be wrong about the
//! next new one. A rejection says what is wrong, where, and what to do, and
//! never repeats any of the prompt.

mod needs;

pub use needs::Needs;

use super::super::fields::{Fields, Writer};
use serde_json::error::Category;
use serde_json::value::RawValue;

/// More answers at once than any provider gives.
const MAX_CHOICES: u64 = 128;

/// A client's request.
#[derive(Clone)]
pub struct ChatRequest {
    fields: Fields,
    model: String,
    stream: bool,
    wants_usage: bool,
    choices: u32,
    needs: Needs,
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
impl std::fmt::Debug for ChatRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChatRequest")
            .field("stream", &self.stream)
            .field("choices", &self.choices)
            .field("needs", &self.needs)
            .finish_non_exhaustive()
    }
}

impl Reject {
    fn new(param: &str, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status: 400,
            message: message.into(),
            param: Some(param.to_owned()),
            code: Some(code),
        }
    }

    fn wrong_type(param: &str, wanted: &str) -> Self {
        Self::new(param, "invalid_type", format!("'{param}' must be {wanted}."))
    }
}

impl ChatRequest {
    /// Reads a request. Every field is kept as it was written; of duplicates the
    /// last one counts.
    ///
    /// # Errors
    ///
    /// Says which field is wrong and how to put it right.
    pub fn parse(body: &[u8]) -> Result<Self, Reject> {
        let fields = object(body)?;
        let model = model(&fields)?;
        let stream = flag(&fields, "stream")?;
        let wants_usage = wants_usage(&fields)?;
        let choices = match whole_number(&fields, "n", "a whole number from 1 to 128")? {
            None => 1,
            Some(n @ 1..=MAX_CHOICES) => u32::try_from(n).unwrap_or(1),
            Some(_) => {
                return Err(Reject::new("n", "invalid_value", "'n' must be from 1 to 128."));
            }
        };
        let needs = Needs::of(&fields)?;
        Ok(Self { fields, model, stream, wants_usage, choices, needs })
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

    /// Whether it asked for the usage chunk.
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

    /// The body to send upstream: always a stream, under the rung's own model
    /// name, everything else as the client wrote it.
    ///
    /// `ask_usage` asks for the usage chunk on the client's behalf. Without it
    /// `stream_options` goes only as far as the client itself asked: providers
    /// exist that refuse the field.
    #[must_use]
    pub fn upstream_body(&self, model: &str, ask_usage: bool) -> Vec<u8> {
        let room = self.fields.iter().map(|(key, value)| key.len() + value.get().len() + 4).sum();
        let mut writer = Writer::new(Vec::with_capacity(room));
        let mut options_written = false;
        for (key, value) in self.fields.iter() {
            match key {
                "model" => writer.string(key, model),
                "stream" => {}
                "stream_options" => {
                    options_written = true;
                    if let Some(options) = self.stream_options(value, ask_usage) {
                        writer.key(key).extend_from_slice(&options);
                    }
                }
                _ => writer.raw(key, value.get()),
            }
        }
        writer.raw("stream", "true");
        if ask_usage && !options_written {
            writer.raw("stream_options", r#"{"include_usage":true}"#);
        }
        writer.finish()
    }

    /// The client's `stream_options` with `include_usage` set or, where the client
    /// did not ask for it, taken out. `None`: nothing would be left.
    fn stream_options(&self, client: &RawValue, ask_usage: bool) -> Option<Vec<u8>> {
        if self.wants_usage {
            return Some(client.get().as_bytes().to_vec());
        }
        let options: Fields = serde_json::from_str(client.get()).unwrap_or_default();
        let mut writer = Writer::new(Vec::new());
        let mut kept = ask_usage;
        for (key, value) in options.iter().filter(|(key, _)| *key != "include_usage") {
            kept = true;
            writer.raw(key, value.get());
        }
        if ask_usage {
            writer.raw("include_usage", "true");
        }
        kept.then(|| writer.finish())
    }
}

fn object(body: &[u8]) -> Result<Fields, Reject> {
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
                "The request body is empty; send a JSON object with 'model' and 'messages'."
                    .to_owned()
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
            "'model' is missing; name a ladder, GET /v1/models lists them.",
        ));
    };
    let name: String = serde_json::from_str(raw)
        .map_err(|_| Reject::wrong_type("model", "a string: the name of a ladder"))?;
    if name.trim().is_empty() {
        return Err(Reject::new(
            "model",
            "invalid_value",
            "'model' is empty; name a ladder, GET /v1/models lists them.",
        ));
    }
    Ok(name)
}

/// An optional flag; absent and null are false.
fn flag(fields: &Fields, key: &str) -> Result<bool, Reject> {
    match fields.text(key) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Reject::wrong_type(key, "true or false")),
    }
}

fn wants_usage(fields: &Fields) -> Result<bool, Reject> {
    let Some(raw) = fields.text("stream_options") else { return Ok(false) };
    let options: Fields = serde_json::from_str(raw)
        .map_err(|_| Reject::wrong_type("stream_options", "an object or null"))?;
    flag(&options, "include_usage")
        .map_err(|_| Reject::wrong_type("stream_options.include_usage", "true or false"))
}

/// An optional count; absent and null are none.
fn whole_number(fields: &Fields, key: &str, wanted: &str) -> Result<Option<u64>, Reject> {
    fields.text(key).map(|raw| raw.parse().map_err(|_| Reject::wrong_type(key, wanted))).transpose()
}

#[cfg(test)]
mod tests;
