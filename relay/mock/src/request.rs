//! The part of a request that a mock acts on, independent of any dialect.

use std::hash::{DefaultHasher, Hash, Hasher};

use http::HeaderMap;
use serde_json::{Map, Value};

use super::dialect::Call;
use super::record::{Record, Timings};

/// See the module.
#[derive(Debug, Clone, Default)]
pub(super) struct Request {
    /// The model, echoed in the answer.
    pub(super) model: String,
    /// Whether to stream.
    pub(super) stream: bool,
    /// `stream_options`, as they came.
    pub(super) stream_options: Option<Value>,
    /// The request's own instruction, not yet parsed.
    pub(super) x_mock: Option<Value>,
    /// The most tokens the answer may have.
    pub(super) max_tokens: Option<usize>,
    /// A rough count of the prompt's tokens.
    pub(super) prompt_tokens: usize,
    /// The tools that the request offers.
    pub(super) tools: Vec<Tool>,
    /// The tool that has to be called.
    pub(super) tool: Option<Tool>,
    /// The schema of the JSON that the answer has to be.
    pub(super) schema: Option<Value>,
    /// Whether reasoning is asked for.
    pub(super) reasoning: bool,
    /// Whether the text of the reasoning is to be shown.
    pub(super) shown: bool,
    /// Whether the reasoning is to carry a proof.
    pub(super) proof: bool,
}

/// A tool, as the client described it.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    /// Its name.
    pub(super) name: String,
    /// The JSON schema of its arguments.
    pub(super) parameters: Value,
}

impl Tool {
    /// A tool from its description, which has the schema under this key.
    pub(super) fn read(description: &Value, schema: &str) -> Option<Self> {
        let name = description.get("name")?.as_str()?.to_owned();
        Some(Self { name, parameters: description.get(schema).cloned().unwrap_or_default() })
    }
}

/// The tool of this name, or the first one if none is named.
pub(super) fn forced(tools: &[Tool], name: Option<&str>) -> Option<Tool> {
    tools.iter().find(|tool| name.is_none_or(|name| tool.name == name)).cloned()
}

impl Request {
    /// Whether the usage is to follow the answer.
    pub(super) fn include_usage(&self) -> bool {
        let option = self.stream_options.as_ref().and_then(|o| o.get("include_usage"));
        option.and_then(Value::as_bool).unwrap_or(false)
    }
}

/// A field of a body that is there and not null.
pub(super) fn given<'a>(body: &'a Map<String, Value>, key: &str) -> Option<&'a Value> {
    body.get(key).filter(|value| !value.is_null())
}

/// A field that is a string.
pub(super) fn text_of<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

/// A field that is a list; an empty list if it is not one.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// A field that is a count.
pub(super) fn count(body: &Map<String, Value>, key: &str) -> Option<usize> {
    given(body, key)?.as_u64().and_then(|n| usize::try_from(n).ok())
}

/// A rough count of tokens: four letters are one token, as in average English, and each message has
/// 3 more for its frame.
pub(super) fn prompt_tokens(messages: &[Value]) -> usize {
    messages.iter().map(|m| 3 + letters(m) / 4).sum::<usize>() + 3
}

fn letters(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.iter().map(letters).sum(),
        Value::Object(fields) => fields.values().map(letters).sum(),
        _ => 0,
    }
}

/// What comes after the model's last message: the turn that is to be answered.
pub(super) fn last_turn(messages: &[Value], is_models: impl Fn(&Value) -> bool) -> &[Value] {
    let place = messages.iter().rposition(is_models).map_or(0, |place| place + 1);
    messages.get(place..).unwrap_or_default()
}

/// The record of a request before anything is known of its answer.
pub(super) fn record(call: &Call<'_>, dialect: &'static str) -> Record {
    let body = call.body;
    let stream = body.get("stream").and_then(Value::as_bool).unwrap_or(false);
    let model = body.get("model").and_then(Value::as_str).or(call.model);
    Record {
        id: 0,
        at_ms: 0,
        path: call.path.into(),
        dialect,
        model: model.map(Into::into),
        stream: call.stream.unwrap_or(stream),
        headers: readable(call.headers),
        keys: body.keys().cloned().collect(),
        stream_options: body.get("stream_options").cloned(),
        fault: None,
        status: None,
        timings: Timings::default(),
        events: 0,
        tokens: 0,
        ended: None,
    }
}

const SECRET: &[&str] =
    &["authorization", "proxy-authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"];

fn readable(headers: &HeaderMap) -> Map<String, Value> {
    let mut readable: Map<String, Value> = Map::new();
    for (name, value) in headers {
        let value = if SECRET.contains(&name.as_str()) {
            tag(value.as_bytes())
        } else {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        };
        let value = match readable.get(name.as_str()).and_then(Value::as_str) {
            Some(before) => format!("{before}, {value}"),
            None => value,
        };
        readable.insert(name.as_str().into(), value.into());
    }
    readable
}

/// Lets two secrets be compared without showing them.
fn tag(secret: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    secret.hash(&mut hasher);
    format!("#{:08x}", hasher.finish() & 0xffff_ffff)
}
