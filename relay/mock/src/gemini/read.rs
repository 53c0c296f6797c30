//! Reading a request for content.

use serde_json::{Value, json};

use super::super::dialect::{Call, Refusal};
use super::super::request::{Request, Tool, forced, last_turn, list, prompt_tokens, text_of};
use super::super::wish::in_words;
use super::contents::check;
use super::fields::{
    BODY, CALLING, CONFIG, CONTENT, FUNCTION, THINKING, TOOL, TOOL_CONFIG, only, only_schema,
    spelled,
};
use super::refusal::{bad_request, no_key};

/// Reads a request.
pub(super) fn read(call: &Call<'_>) -> Result<Request, Refusal> {
    if !call.headers.contains_key("x-goog-api-key") {
        return Err(no_key());
    }
    let body = spelled(Value::Object(call.body.clone()));
    only(&body, BODY, "")?;
    let nothing = json!({});
    let field = |key| body.get(key).filter(|value| !value.is_null()).unwrap_or(&nothing);
    let config = field("generationConfig");
    only(config, CONFIG, "generation_config")?;
    let thinking = config.get("thinkingConfig").unwrap_or(&nothing);
    only(thinking, THINKING, "generation_config.thinking_config")?;
    if let Some(schema) = config.get("responseSchema") {
        only_schema(schema, "generation_config.response_schema")?;
    }
    let temperature = config.get("temperature").and_then(Value::as_f64);
    if temperature.is_some_and(|temperature| !(0.0..=2.0).contains(&temperature)) {
        let words = "* GenerateContentRequest.generation_config.temperature: temperature must be \
                     in the range [0.0, 2.0].";
        return Err(bad_request(Some("generation_config.temperature"), words));
    }
    only(field("systemInstruction"), CONTENT, "system_instruction")?;
    let contents = list(&body, "contents");
    let model = call.model.unwrap_or_default();
    check(contents, model)?;
    let tools = tools(list(&body, "tools"))?;
    let tool = tool(&tools, field("toolConfig"))?;
    let turn = last_turn(contents, |content| text_of(content, "role") == Some("model"));
    let said = in_words(turn);
    let said = said.map_err(|bad| bad_request(Some("contents"), &bad.to_string()))?;
    let limit = config.get("maxOutputTokens").and_then(Value::as_u64);
    let thoughts = thinking.get("includeThoughts").and_then(Value::as_bool).unwrap_or(false);
    Ok(Request {
        model: model.into(),
        stream: call.stream.unwrap_or(false),
        stream_options: None,
        x_mock: body.get("x_mock").cloned().or(said),
        max_tokens: limit.and_then(|limit| usize::try_from(limit).ok()),
        prompt_tokens: prompt_tokens(contents),
        tools,
        tool,
        schema: config.get("responseSchema").or(config.get("responseJsonSchema")).cloned(),
        reasoning: thoughts,
        shown: true,
        proof: thoughts || model.starts_with("gemini-3"),
    })
}

fn tools(tools: &[Value]) -> Result<Vec<Tool>, Refusal> {
    let mut read = Vec::new();
    for (place, tool) in tools.iter().enumerate() {
        only(tool, TOOL, &format!("tools[{place}]"))?;
        for (n, function) in list(tool, "functionDeclarations").iter().enumerate() {
            let place = format!("tools[{place}].function_declarations[{n}]");
            only(function, FUNCTION, &place)?;
            let schema = if let Some(schema) = function.get("parameters") {
                only_schema(schema, &format!("{place}.parameters"))?;
                "parameters"
            } else {
                "parametersJsonSchema"
            };
            read.extend(Tool::read(function, schema));
        }
    }
    Ok(read)
}

/// The function that has to be called.
fn tool(tools: &[Tool], config: &Value) -> Result<Option<Tool>, Refusal> {
    only(config, TOOL_CONFIG, "tool_config")?;
    let Some(calling) = config.get("functionCallingConfig") else { return Ok(None) };
    only(calling, CALLING, "tool_config.function_calling_config")?;
    let names = list(calling, "allowedFunctionNames");
    let name = names.first().and_then(Value::as_str);
    match text_of(calling, "mode").unwrap_or("AUTO") {
        "ANY" => Ok(forced(tools, name)),
        "AUTO" | "NONE" if name.is_some() => {
            let words = "Allowed function names should only be set when the function calling \
                         mode is ANY or VALIDATED.";
            Err(bad_request(None, words))
        }
        "AUTO" | "NONE" | "VALIDATED" => Ok(None),
        mode => {
            let words = format!(
                "Invalid value at 'tool_config.function_calling_config.mode' \
                                 ({mode})."
            );
            Err(bad_request(Some("tool_config.function_calling_config.mode"), &words))
        }
    }
}
