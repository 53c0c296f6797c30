//! The part of a chat request that a mock acts on.

use std::hash::{DefaultHasher, Hash, Hasher};

use http::HeaderMap;
use serde_json::{Map, Value};

use super::record::{Record, Timings};
use super::refusal::Refusal;

/// See the module.
#[derive(Debug, Clone)]
pub(super) struct ChatRequest {
    /// The model, echoed in the answer.
    pub(super) model: String,
    /// Whether to stream.
    pub(super) stream: bool,
    /// `stream_options`, as they came.
    pub(super) stream_options: Option<Value>,
    /// The request's own fault, not yet read.
    pub(super) x_mock: Option<Value>,
    /// The most tokens the answer may have.
    pub(super) max_tokens: Option<usize>,
    /// A rough count of the prompt's tokens.
    pub(super) prompt_tokens: usize,
    /// The tool that has to be called.
    pub(super) tool: Option<Tool>,
}

/// A tool, as the client described it.
#[derive(Debug, Clone)]
pub(super) struct Tool {
    /// Its name.
    pub(super) name: String,
    /// The JSON schema of its arguments.
    pub(super) parameters: Value,
}

impl ChatRequest {
    /// Reads a body.
    pub(super) fn read(body: &Map<String, Value>) -> Result<Self, Refusal> {
        let given = |key: &str| body.get(key).filter(|value| !value.is_null());
        let model = given("model").and_then(Value::as_str).ok_or_else(|| {
            Refusal::bad_request(Some("model"), "you must provide a model parameter")
        })?;
        let messages = given("messages").and_then(Value::as_array).filter(|m| !m.is_empty());
        let messages = messages.ok_or_else(|| {
            let words = "Invalid 'messages': empty array. Expected an array with minimum length 1.";
            Refusal::bad_request(Some("messages"), words)
        })?;
        let max_tokens = given("max_completion_tokens").or_else(|| given("max_tokens"));
        Ok(Self {
            model: model.into(),
            stream: given("stream").and_then(Value::as_bool).unwrap_or(false),
            stream_options: given("stream_options").cloned(),
            x_mock: given("x_mock").cloned(),
            max_tokens: max_tokens.and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok()),
            // Four letters a token is what English comes to; 3 a message for its frame.
            prompt_tokens: messages.iter().map(|m| 3 + letters(m) / 4).sum::<usize>() + 3,
            tool: tool(body),
        })
    }

    /// Whether the usage is to follow the answer.
    pub(super) fn include_usage(&self) -> bool {
        let option = self.stream_options.as_ref().and_then(|o| o.get("include_usage"));
        option.and_then(Value::as_bool).unwrap_or(false)
    }
}

fn letters(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.iter().map(letters).sum(),
        Value::Object(fields) => fields.values().map(letters).sum(),
        _ => 0,
    }
}

/// The tool that `tool_choice` forces, whether by name or by "some tool".
fn tool(body: &Map<String, Value>) -> Option<Tool> {
    let tools = body.get("tools")?.as_array()?;
    let functions: Vec<&Value> = tools.iter().filter_map(|tool| tool.get("function")).collect();
    let choice = body.get("tool_choice")?;
    let name_of = |function: &Value| Some(function.get("name")?.as_str()?.to_owned());
    let function = if choice == "required" {
        *functions.first()?
    } else {
        let wanted = choice.get("function").and_then(name_of)?;
        functions.into_iter().find(|f| name_of(f).as_ref() == Some(&wanted))?
    };
    let parameters = function.get("parameters").cloned().unwrap_or_default();
    Some(Tool { name: name_of(function)?, parameters })
}

/// What is written down about a request before anything is known of its answer.
pub(super) fn record(headers: &HeaderMap, body: &Map<String, Value>) -> Record {
    Record {
        id: 0,
        at_ms: 0,
        model: body.get("model").and_then(Value::as_str).map(Into::into),
        stream: body.get("stream").and_then(Value::as_bool).unwrap_or(false),
        headers: readable(headers),
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

const SECRET: &[&str] = &["authorization", "proxy-authorization", "x-api-key", "api-key", "cookie"];

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

/// Tells secrets apart without telling them.
fn tag(secret: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    secret.hash(&mut hasher);
    format!("#{:08x}", hasher.finish() & 0xffff_ffff)
}
