//! Reading a chat request.

use serde_json::{Map, Value};

use super::super::dialect::Refusal;
use super::super::request::{
    Request, Tool, count, forced, given, last_turn, list, prompt_tokens, text_of,
};
use super::super::wish::in_words;
use super::history::check;
use super::refusal::bad_request;

/// Reads a body.
pub(super) fn read(body: &Map<String, Value>) -> Result<Request, Refusal> {
    let model = given(body, "model")
        .and_then(Value::as_str)
        .ok_or_else(|| bad_request(Some("model"), "you must provide a model parameter"))?;
    let messages = given(body, "messages").and_then(Value::as_array).filter(|m| !m.is_empty());
    let messages = messages.ok_or_else(|| {
        let words = "Invalid 'messages': empty array. Expected an array with minimum length 1.";
        bad_request(Some("messages"), words)
    })?;
    check(messages)?;
    let turn = last_turn(messages, |message| text_of(message, "role") == Some("assistant"));
    let said = in_words(turn).map_err(|bad| bad_request(Some("messages"), &bad.to_string()))?;
    let tools = tools(body);
    let effort = given(body, "reasoning_effort").and_then(Value::as_str);
    Ok(Request {
        model: model.into(),
        stream: given(body, "stream").and_then(Value::as_bool).unwrap_or(false),
        stream_options: given(body, "stream_options").cloned(),
        x_mock: given(body, "x_mock").cloned().or(said),
        max_tokens: count(body, "max_completion_tokens").or_else(|| count(body, "max_tokens")),
        prompt_tokens: prompt_tokens(messages),
        tool: body.get("tool_choice").and_then(|choice| tool(&tools, choice)),
        tools,
        schema: body.get("response_format").and_then(schema),
        reasoning: effort.is_some_and(|effort| effort != "none"),
        shown: true,
        proof: false,
    })
}

fn tools(body: &Map<String, Value>) -> Vec<Tool> {
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    tools.filter_map(|tool| Tool::read(tool.get("function")?, "parameters")).collect()
}

/// The tool that `tool_choice` forces, whether by name or by "some tool".
fn tool(tools: &[Tool], choice: &Value) -> Option<Tool> {
    let allowed = choice.get("allowed_tools").filter(|a| text_of(a, "mode") == Some("required"));
    if choice == "required" {
        forced(tools, None)
    } else if let Some(allowed) = allowed {
        let first = list(allowed, "tools").first()?;
        forced(tools, Some(text_of(first.get("function")?, "name")?))
    } else {
        forced(tools, Some(text_of(choice.get("function")?, "name")?))
    }
}

fn schema(format: &Value) -> Option<Value> {
    match text_of(format, "type")? {
        "json_schema" => format.get("json_schema")?.get("schema").cloned(),
        "json_object" => Some(serde_json::json!({"type": "object"})),
        _ => None,
    }
}
