//! Reads a chat client's request into the neutral form.

mod messages;

use crate::common::fields::Fields;
use crate::common::members::{Members, Rule, Value};
use crate::common::openai::{CACHE_MARK, effort, free_text, function, schema, tool_choice};
use crate::common::reject::Reject;
use crate::neutral::{Format, Request, Thinking, Tool, ToolChoice};

/// What is done with the fields that [`read_request`] does not take. All others are unsupported,
/// such as `n` above 1, `logit_bias`, `prediction`, `web_search_options`, `functions`.
const TOP: &[Rule] = &[
    // The relay sets these itself.
    Rule::harmless("model"),
    Rule::harmless("stream"),
    Rule::harmless("stream_options"),
    // For accounting, caches and the detection of abuse.
    Rule::harmless("metadata"),
    Rule::harmless("service_tier"),
    Rule::harmless("prompt_cache_key"),
    Rule::harmless("prompt_cache_retention"),
    Rule::harmless("usage"),
    CACHE_MARK,
    // With these values they ask for what is done anyway.
    Rule::harmless_at("n", &["1"]),
    Rule::harmless_at("store", &["false"]),
    Rule::harmless_at("background", &["false"]),
    Rule::harmless_at("logprobs", &["false"]),
    Rule::harmless_at("top_logprobs", &["0"]),
    Rule::harmless_at("logit_bias", &["{}"]),
    Rule::harmless_at("modalities", &[r#"["text"]"#]),
    Rule::harmless_at("functions", &["[]"]),
    Rule::harmless_at("function_call", &["\"auto\"", "\"none\""]),
    Rule::harmless_at("safe_prompt", &["false"]),
    Rule::harmless_at("top_k", &["-1", "0"]),
    // Matters of style.
    Rule::wish("verbosity"),
    Rule::wish("min_p"),
    Rule::wish("top_a"),
    Rule::wish("repetition_penalty"),
];

/// Rules for one tool, and for the objects in it.
const TOOL: &[Rule] = &[CACHE_MARK];

/// How OpenRouter and others ask for reasoning.
const REASONING: &[Rule] = &[
    Rule::harmless_at("enabled", &["true"]),
    Rule::harmless_at("exclude", &["false"]),
    Rule::harmless("summary"),
];

/// Reads a chat client's whole request into the neutral form.
///
/// # Errors
///
/// Says which field is wrong.
pub fn read_request(fields: &Fields) -> Result<Request, Reject> {
    let mut top = Members::of(fields);
    let mut request = Request::default();
    let mut before_last = 0;
    for message in top.list("messages")? {
        let known = request.system.len();
        messages::read(&message, &mut request)?;
        if request.system.len() == known {
            before_last = known;
        }
    }
    request.end_with_system(before_last);
    for value in top.list("tools")? {
        tool(&value, &mut request)?;
    }
    if let Some(value) = top.take("tool_choice") {
        request.tool_choice = tool_choice(&value, &mut request, chosen)?;
    }
    request.parallel_tools = top.flag("parallel_tool_calls")?;
    if let Some(mut members) = top.object("response_format")? {
        request.format = format(&mut members, &mut request)?;
        members.finish(&[], &mut request);
    }
    let max_tokens = top.limit("max_tokens")?;
    request.max_output = top.limit("max_completion_tokens")?.or(max_tokens);
    if let Some(value) = top.take("stop") {
        request.stop = stop(&value)?;
    }
    request.temperature = top.number("temperature")?;
    request.top_p = top.number("top_p")?;
    // vLLM uses -1 for no limit: a number is read only if it sets one.
    if fields.text("top_k").is_some_and(|raw| !matches!(raw, "-1" | "0")) {
        request.top_k = top.count("top_k")?;
    }
    request.presence_penalty = top.number("presence_penalty")?;
    request.frequency_penalty = top.number("frequency_penalty")?;
    request.seed = top.take("seed").map(|value| value.integer()).transpose()?;
    request.thinking = thinking(&mut top, &mut request)?;
    let user = top.string("user")?;
    request.user = top.string("safety_identifier")?.or(user);
    top.finish(TOP, &mut request);
    Ok(request)
}

fn tool(value: &Value<'_>, request: &mut Request) -> Result<(), Reject> {
    let mut members = value.members()?;
    let kind = members.string("type")?;
    if kind.as_deref() == Some("custom") {
        let missing = Reject::missing(&members.at("custom"), "an object with the tool's name");
        let mut inner = members.object("custom")?.ok_or(missing)?;
        let name = inner.required("name")?;
        free_text(&mut inner, name, request)?;
        inner.finish(TOOL, request);
        members.finish(TOOL, request);
        return Ok(());
    }
    if !matches!(kind.as_deref(), None | Some("function")) {
        // A tool that the provider runs.
        request.unsupported.push(members.at("type"));
        return Ok(());
    }
    let missing = Reject::missing(&members.at("function"), "an object with the function's name");
    let mut inner = members.object("function")?.ok_or(missing)?;
    let tool: Tool = function(&mut inner)?;
    request.tools.push(tool);
    inner.finish(TOOL, request);
    members.finish(TOOL, request);
    Ok(())
}

/// The tool that must be called.
fn chosen(mut members: Members<'_>, request: &mut Request) -> Result<Option<ToolChoice>, Reject> {
    let holder = match members.string("type")?.as_deref() {
        None | Some("function") => "function",
        Some("custom") => "custom",
        Some(_) => {
            request.unsupported.push(members.at("type"));
            return Ok(None);
        }
    };
    let missing = Reject::missing(&members.at(holder), "an object with the tool's name");
    let mut inner = members.object(holder)?.ok_or(missing)?;
    let name = inner.required("name")?;
    inner.finish(&[], request);
    members.finish(&[], request);
    Ok(Some(ToolChoice::Named(name)))
}

fn format(members: &mut Members<'_>, request: &mut Request) -> Result<Option<Format>, Reject> {
    match members.required("type")?.as_str() {
        "text" => Ok(None),
        "json_object" => Ok(Some(Format::Json)),
        "json_schema" => {
            let missing = Reject::missing(&members.at("json_schema"), "an object with a schema");
            let mut inner = members.object("json_schema")?.ok_or(missing)?;
            let format = schema(&mut inner)?;
            inner.finish(&[], request);
            Ok(Some(format))
        }
        _ => {
            request.unsupported.push(members.at("type"));
            Ok(None)
        }
    }
}

fn stop(value: &Value<'_>) -> Result<Vec<String>, Reject> {
    if value.is_list() {
        return value.list()?.iter().map(Value::string).collect();
    }
    Ok(vec![value.string()?])
}

/// Reads the three ways to ask for reasoning: OpenAI's, OpenRouter's, and the one that DeepSeek and
/// others took from Anthropic. The first one that says how much counts.
fn thinking(top: &mut Members<'_>, request: &mut Request) -> Result<Option<Thinking>, Reject> {
    let mut thinking = top.take("reasoning_effort").map(|value| effort(&value)).transpose()?;
    if let Some(mut members) = top.object("reasoning")? {
        let budget = members.count("max_tokens")?.map(Thinking::Budget);
        let degree = members.take("effort").map(|value| effort(&value)).transpose()?;
        let is_off = members.flag("enabled")? == Some(false);
        let said = if is_off { Some(Thinking::Off) } else { degree.or(budget) };
        thinking = thinking.or(said).or(Some(Thinking::Adaptive));
        members.finish(REASONING, request);
    }
    if let Some(mut members) = top.object("thinking")? {
        let budget = members.count("budget_tokens")?.map(Thinking::Budget);
        let said = match members.required("type")?.as_str() {
            "disabled" => Some(Thinking::Off),
            "enabled" | "adaptive" => budget.or(thinking).or(Some(Thinking::Adaptive)),
            _ => {
                request.unsupported.push(members.at("type"));
                None
            }
        };
        thinking = if said == Some(Thinking::Off) { said } else { thinking.or(said) };
        members.finish(&[], request);
    }
    Ok(thinking)
}

#[cfg(test)]
mod tests;
