//! Reading a messages request.

use serde_json::{Map, Value};

use super::super::dialect::{Call, Refusal};
use super::super::request::{
    Request, Tool, count, forced, given, last_turn, prompt_tokens, text_of,
};
use super::super::wish::in_words;
use super::fields::{BODY, CHOICE, THINKING, TOOL, only, only_in, required};
use super::history::{check, check_text};
use super::refusal::{bad_request, refusal};

/// Reads a request, in the order in which Anthropic checks things.
pub(super) fn read(call: &Call<'_>) -> Result<Request, Refusal> {
    if !call.headers.contains_key("x-api-key") {
        return Err(refusal(401, "authentication_error", "x-api-key header is required"));
    }
    if !call.headers.contains_key("anthropic-version") {
        return Err(bad_request(Some("anthropic-version"), "header is required"));
    }
    let body = call.body;
    only(body, BODY, "")?;
    let field = |key| given(body, key).ok_or_else(|| bad_request(Some(key), "Field required"));
    let string = "Input should be a valid string";
    let model = field("model")?.as_str().ok_or_else(|| bad_request(Some("model"), string))?;
    field("max_tokens")?;
    let max_tokens = count(body, "max_tokens").filter(|max| *max > 0).ok_or_else(|| {
        bad_request(Some("max_tokens"), "Input should be greater than or equal to 1")
    })?;
    let messages = field("messages")?.as_array().map(Vec::as_slice).unwrap_or_default();
    let thinking = thinking(body, max_tokens)?;
    sampling(body, thinking.is_some())?;
    if let Some(system) = given(body, "system") {
        check_text(system, "system")?;
    }
    check(messages, thinking == Some("enabled"))?;
    let tools = tools(body)?;
    let choice = given(body, "tool_choice");
    if choice.is_some_and(|choice| text_of(choice, "type") != Some("none"))
        && given(body, "tools").and_then(Value::as_array).is_none_or(Vec::is_empty)
    {
        let words = "may only be specified while providing tools.";
        return Err(bad_request(Some("tool_choice"), words));
    }
    let tool = choice.map(|choice| tool(&tools, choice, thinking.is_some())).transpose()?;
    let turn = last_turn(messages, |message| text_of(message, "role") == Some("assistant"));
    let said = in_words(turn).map_err(|bad| bad_request(Some("messages"), &bad.to_string()))?;
    Ok(Request {
        model: model.into(),
        stream: given(body, "stream").and_then(Value::as_bool).unwrap_or(false),
        stream_options: None,
        x_mock: given(body, "x_mock").cloned().or(said),
        max_tokens: Some(max_tokens),
        prompt_tokens: prompt_tokens(messages),
        tools,
        tool: tool.flatten(),
        schema: body.get("output_config").and_then(|c| c.get("format")?.get("schema")).cloned(),
        reasoning: thinking.is_some(),
        shown: true,
        proof: true,
    })
}

/// The kind of thinking that is on.
fn thinking(body: &Map<String, Value>, max_tokens: usize) -> Result<Option<&str>, Refusal> {
    let Some(thinking) = given(body, "thinking") else { return Ok(None) };
    only_in(thinking, THINKING, "thinking")?;
    match required(thinking, "type", "thinking")? {
        "disabled" => Ok(None),
        "adaptive" => Ok(Some("adaptive")),
        "enabled" => {
            let place = Some("thinking.enabled.budget_tokens");
            let budget = thinking.get("budget_tokens").and_then(Value::as_u64);
            let budget = budget.ok_or_else(|| bad_request(place, "Field required"))?;
            if budget < 1024 {
                let words = "Input should be greater than or equal to 1024";
                return Err(bad_request(place, words));
            }
            if usize::try_from(budget).is_ok_and(|budget| budget >= max_tokens) {
                let words = "`max_tokens` must be greater than `thinking.budget_tokens`.";
                return Err(bad_request(None, words));
            }
            Ok(Some("enabled"))
        }
        other => {
            let words = format!(
                "Input tag '{other}' found using 'type' does not match any of the \
                                 expected tags: 'adaptive', 'disabled', 'enabled'"
            );
            Err(bad_request(Some("thinking"), &words))
        }
    }
}

fn sampling(body: &Map<String, Value>, thinking: bool) -> Result<(), Refusal> {
    let temperature = given(body, "temperature").and_then(Value::as_f64);
    if temperature.is_some_and(|temperature| temperature > 1.0) {
        return Err(bad_request(Some("temperature"), "range: 0..1"));
    }
    if temperature.is_some_and(|temperature| temperature < 0.0) {
        return Err(bad_request(Some("temperature"), "range: 0..1"));
    }
    if thinking && temperature.is_some_and(|temperature| temperature < 1.0) {
        let words = "`temperature` may only be set to 1 when thinking is enabled.";
        return Err(bad_request(None, words));
    }
    if thinking && given(body, "top_k").is_some() {
        return Err(bad_request(None, "`top_k` must be unset when thinking is enabled."));
    }
    let stops = body.get("stop_sequences").and_then(Value::as_array).into_iter().flatten();
    if stops.filter_map(Value::as_str).any(|stop| stop.trim().is_empty()) {
        let words = "each stop sequence must contain non-whitespace";
        return Err(bad_request(Some("stop_sequences"), words));
    }
    Ok(())
}

fn tools(body: &Map<String, Value>) -> Result<Vec<Tool>, Refusal> {
    let mut tools = Vec::new();
    let given = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    for (place, tool) in given.enumerate() {
        if text_of(tool, "type").is_some_and(|kind| kind != "custom") {
            continue; // One that Anthropic runs.
        }
        let place = format!("tools.{place}.custom");
        only_in(tool, TOOL, &place)?;
        required(tool, "name", &place)?;
        let schema = format!("{place}.input_schema");
        let object = tool.get("input_schema");
        let object = object.ok_or_else(|| bad_request(Some(&schema), "Field required"))?;
        match required(object, "type", &schema)? {
            "object" => tools.extend(Tool::read(tool, "input_schema")),
            _ => {
                let place = format!("{schema}.type");
                return Err(bad_request(Some(&place), "Input should be 'object'"));
            }
        }
    }
    Ok(tools)
}

/// The tool that `tool_choice` forces.
fn tool(tools: &[Tool], choice: &Value, thinking: bool) -> Result<Option<Tool>, Refusal> {
    only_in(choice, CHOICE, "tool_choice")?;
    let kind = required(choice, "type", "tool_choice")?;
    if thinking && matches!(kind, "any" | "tool") {
        let words = "Thinking may not be enabled when tool_choice forces tool use.";
        return Err(bad_request(None, words));
    }
    match kind {
        "auto" | "none" => Ok(None),
        "any" => Ok(forced(tools, None)),
        "tool" => {
            let name = required(choice, "name", "tool_choice")?;
            let unknown = || format!("Tool '{name}' not found in provided tools");
            let tool = forced(tools, Some(name));
            tool.map(Some).ok_or_else(|| bad_request(Some("tool_choice"), &unknown()))
        }
        other => {
            let words = format!(
                "Input tag '{other}' found using 'type' does not match any of the \
                                 expected tags: 'any', 'auto', 'none', 'tool'"
            );
            Err(bad_request(Some("tool_choice"), &words))
        }
    }
}
