//! The fields that Anthropic knows, in the objects where a wrong one is sent most easily.

use serde_json::{Map, Value};

use super::super::dialect::Refusal;
use super::super::request::text_of;
use super::refusal::bad_request;

/// The fields of a request.
pub(super) const BODY: &[&str] = &[
    "model",
    "max_tokens",
    "messages",
    "system",
    "stream",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "metadata",
    "tools",
    "tool_choice",
    "thinking",
    "output_config",
    "output_format",
    "service_tier",
    "container",
    "context_management",
    "mcp_servers",
    "cache_control",
    "inference_geo",
    "speed",
    "x_mock",
];
/// The fields of a message.
pub(super) const MESSAGE: &[&str] = &["role", "content"];
/// The fields of a tool that the client runs.
pub(super) const TOOL: &[&str] = &[
    "type",
    "name",
    "description",
    "input_schema",
    "cache_control",
    "strict",
    "eager_input_streaming",
    "input_examples",
    "defer_loading",
    "allowed_callers",
];
/// The fields of a tool choice.
pub(super) const CHOICE: &[&str] = &["type", "name", "disable_parallel_tool_use"];
/// The fields of `thinking`.
pub(super) const THINKING: &[&str] = &["type", "budget_tokens", "display"];

/// The fields of a content block of this type; `None` for types that the mock does not read.
pub(super) fn of_block(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "text" => &["type", "text", "cache_control", "citations"],
        "thinking" => &["type", "thinking", "signature"],
        "redacted_thinking" => &["type", "data"],
        "tool_use" => &["type", "id", "name", "input", "cache_control", "caller"],
        "tool_result" => &["type", "tool_use_id", "content", "is_error", "cache_control"],
        "image" => &["type", "source", "cache_control"],
        "document" => &["type", "source", "cache_control", "title", "context", "citations"],
        _ => return None,
    })
}

/// Refuses a field that is not in this list; `place` is the path of the object.
pub(super) fn only(
    fields: &Map<String, Value>,
    known: &[&str],
    place: &str,
) -> Result<(), Refusal> {
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) if place.is_empty() => {
            Err(bad_request(Some(key), "Extra inputs are not permitted"))
        }
        Some(key) => {
            Err(bad_request(Some(&format!("{place}.{key}")), "Extra inputs are not permitted"))
        }
    }
}

/// The same for a value that has to be an object.
pub(super) fn only_in(value: &Value, known: &[&str], place: &str) -> Result<(), Refusal> {
    let fields = value.as_object().ok_or_else(|| {
        bad_request(
            Some(place),
            "Input should be a valid dictionary or object to extract fields from",
        )
    })?;
    only(fields, known, place)
}

/// A field that has to be a string.
pub(super) fn required<'a>(value: &'a Value, key: &str, place: &str) -> Result<&'a str, Refusal> {
    text_of(value, key)
        .ok_or_else(|| bad_request(Some(&format!("{place}.{key}")), "Field required"))
}
