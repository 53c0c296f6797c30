//! Reading a Responses request.

use serde_json::{Map, Value};

use super::super::chat::refusal::refusal;
use super::super::dialect::{Call, Refusal};
use super::super::request::{
    Request, Tool, count, forced, given, last_turn, list, prompt_tokens, text_of,
};
use super::super::wish::in_words;
use super::input::{bad, check, is_models};

/// The fields of a request.
const BODY: &[&str] = &[
    "background",
    "client_metadata",
    "context_management",
    "conversation",
    "include",
    "input",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "stream",
    "stream_options",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
    "x_mock",
];
/// The fields of a function.
const TOOL: &[&str] = &["type", "name", "description", "parameters", "strict", "defer_loading"];
const REASONING: &[&str] = &["effort", "summary", "generate_summary", "context"];
const TEXT: &[&str] = &["format", "verbosity"];
const FORMAT: &[&str] = &["type", "name", "schema", "strict", "description"];
const STREAM_OPTIONS: &[&str] = &["include_obfuscation"];
/// The smallest limit that OpenAI accepts for the length of an answer.
const LEAST: u64 = 16;

/// Reads a request.
pub(super) fn read(call: &Call<'_>) -> Result<Request, Refusal> {
    let bearer = call.headers.get("authorization").and_then(|value| value.to_str().ok());
    if !bearer.is_some_and(|value| value.starts_with("Bearer ")) {
        let words = "You didn't provide an API key. You need to provide your API key in an \
                     Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).";
        return Err(refusal(401, "invalid_request_error", None, None, words));
    }
    let body = call.body;
    only(body, BODY, "")?;
    for (key, known) in
        [("reasoning", REASONING), ("text", TEXT), ("stream_options", STREAM_OPTIONS)]
    {
        only_in(given(body, key), known, key)?;
    }
    let format = body.get("text").and_then(|text| text.get("format"));
    only_in(format, FORMAT, "text.format")?;
    let model = given(body, "model").and_then(Value::as_str);
    let model = model.ok_or_else(|| missing("model"))?;
    let limit = given(body, "max_output_tokens").and_then(Value::as_u64);
    if let Some(limit) = limit.filter(|limit| *limit < LEAST) {
        let words = format!(
            "Invalid 'max_output_tokens': integer below minimum value. Expected a \
                             value >= {LEAST}, but got {limit} instead."
        );
        let code = Some("integer_below_min_value");
        return Err(bad("max_output_tokens", code, &words));
    }
    let input = given(body, "input").ok_or_else(|| missing("input"))?;
    let said = Value::Array(vec![input.clone()]);
    let items = input.as_array().or(said.as_array()).map(Vec::as_slice).unwrap_or_default();
    if items.is_empty() {
        return Err(missing("input"));
    }
    if input.is_array() {
        check(items)?;
    }
    let said = in_words(last_turn(items, is_models));
    let said = said.map_err(|reason| bad("input", None, &reason.to_string()))?;
    let tools = tools(body)?;
    let reasoning = body.get("reasoning");
    let asked = |key| reasoning.and_then(|r| text_of(r, key)).filter(|word| *word != "none");
    let include = body.get("include").and_then(Value::as_array).into_iter().flatten();
    Ok(Request {
        model: model.into(),
        stream: given(body, "stream").and_then(Value::as_bool).unwrap_or(false),
        stream_options: None,
        x_mock: given(body, "x_mock").cloned().or(said),
        max_tokens: count(body, "max_output_tokens"),
        prompt_tokens: prompt_tokens(items),
        tool: body.get("tool_choice").and_then(|choice| tool(&tools, choice)),
        tools,
        schema: format.and_then(schema),
        reasoning: asked("effort").or(asked("summary")).is_some(),
        shown: asked("summary").is_some(),
        proof: include.into_iter().any(|word| word == "reasoning.encrypted_content"),
    })
}

/// Refuses a field that is not in this list; `place` is the path of the object.
pub(super) fn only(
    fields: &Map<String, Value>,
    known: &[&str],
    place: &str,
) -> Result<(), Refusal> {
    let Some(key) = fields.keys().find(|key| !known.contains(&key.as_str())) else {
        return Ok(());
    };
    let param = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
    let words = format!("Unknown parameter: '{param}'.");
    Err(bad(&param, Some("unknown_parameter"), &words))
}

fn only_in(value: Option<&Value>, known: &[&str], place: &str) -> Result<(), Refusal> {
    value.and_then(Value::as_object).map_or(Ok(()), |fields| only(fields, known, place))
}

/// The error for a required parameter that is missing.
pub(super) fn missing(param: &str) -> Refusal {
    let words = format!("Missing required parameter: '{param}'.");
    bad(param, Some("missing_required_parameter"), &words)
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Refusal> {
    let mut tools = Vec::new();
    let given = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    for (place, tool) in given.enumerate() {
        let place = format!("tools[{place}]");
        let kind = text_of(tool, "type").ok_or_else(|| missing(&format!("{place}.type")))?;
        if kind == "function" {
            text_of(tool, "name").ok_or_else(|| missing(&format!("{place}.name")))?;
            only_in(Some(tool), TOOL, &place)?;
            tools.extend(Tool::read(tool, "parameters"));
        }
    }
    Ok(tools)
}

/// The tool that `tool_choice` forces.
fn tool(tools: &[Tool], choice: &Value) -> Option<Tool> {
    if choice == "required" {
        return forced(tools, None);
    }
    match text_of(choice, "type")? {
        "function" => forced(tools, Some(text_of(choice, "name")?)),
        "allowed_tools" if text_of(choice, "mode") == Some("required") => {
            forced(tools, Some(text_of(list(choice, "tools").first()?, "name")?))
        }
        _ => None,
    }
}

fn schema(format: &Value) -> Option<Value> {
    match text_of(format, "type")? {
        "json_schema" => format.get("schema").cloned(),
        "json_object" => Some(serde_json::json!({"type": "object"})),
        _ => None,
    }
}
