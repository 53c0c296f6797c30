//! Writes a neutral request as chat, for a rung that speaks chat.
//!
//! Hundreds of servers call themselves compatible, so the body is as plain as possible: one system
//! message, texts as strings if there is only text, and no field that the client did not ask for.

mod messages;

use crate::common::openai::{SCHEMA_NAME, Schema, body, effort_word, refuse_prefill, thinks};
use crate::common::shape::give_properties;
use crate::neutral::{
    Format, Request, Target, Thinking, Tool, ToolChoice, Unsupported, Upstream, apply,
    refuse_unsupported,
};
use messages::Message;
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Offered<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Offered<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named { r#type: &'static str, function: Name<'a> },
}

#[derive(Serialize)]
struct Name<'a> {
    name: &'a str,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonObject,
    JsonSchema { json_schema: Schema<'a> },
}

/// Checks whether chat can express all of a request.
///
/// # Errors
///
/// Names what it cannot express.
pub fn can_write(request: &Request) -> Result<(), Unsupported> {
    refuse_unsupported(request)?;
    refuse_prefill(request)?;
    messages::write(request).map(drop)
}

/// The body for a rung that speaks chat.
///
/// # Errors
///
/// As for [`can_write`].
pub fn write_request(request: &Request, target: &Target<'_>) -> Result<Upstream, Unsupported> {
    refuse_unsupported(request)?;
    refuse_prefill(request)?;
    let mut request = request.clone();
    apply(&mut request, target);
    let names = crate::chat::limits::limits(target.model).fit(&mut request);
    give_properties(&mut request);
    let mut left_out = Vec::new();
    if request.top_k.is_some() {
        left_out.push("top_k");
    }
    let has_tools = !request.tools.is_empty();
    let reasoning_effort = effort_word(request.thinking, &mut left_out);
    let new_limit = wants_new_limit(target.model, request.thinking);
    let written = Body {
        model: target.model,
        messages: messages::write(&request)?,
        tools: request.tools.iter().map(offered).collect(),
        // Without tools there is nothing to choose, and OpenAI refuses both fields.
        tool_choice: request.tool_choice.as_ref().filter(|_| has_tools).map(choice),
        parallel_tool_calls: request.parallel_tools.filter(|_| has_tools),
        response_format: request.format.as_ref().map(format),
        max_tokens: request.max_output.filter(|_| !new_limit),
        max_completion_tokens: request.max_output.filter(|_| new_limit),
        stop: &request.stop,
        temperature: request.temperature,
        top_p: request.top_p,
        presence_penalty: request.presence_penalty,
        frequency_penalty: request.frequency_penalty,
        seed: request.seed,
        reasoning_effort,
        stream: true,
        stream_options: target.ask_usage.then_some(StreamOptions { include_usage: true }),
    };
    Ok(Upstream { body: body(&written)?, left_out, names })
}

/// Which of the two names of the limit is used. All servers know the old name, but OpenAI's
/// reasoning models refuse it. Many servers do not know the new name, and would answer without a
/// limit. Those models are recognised by their names. Under a name that the operator chose (as at
/// Azure) they are recognised by a request that asks for reasoning.
fn wants_new_limit(model: &str, thinking: Option<Thinking>) -> bool {
    let name = model.rsplit('/').next().unwrap_or(model);
    let leading = |text: &str| -> Option<u32> {
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        text.get(..end)?.parse().ok()
    };
    // Azure writes 3.5 without the dot.
    let is_gpt = name.strip_prefix("gpt-").and_then(leading).is_some_and(|n| (5..30).contains(&n));
    let is_o = name.strip_prefix('o').and_then(leading).is_some();
    is_gpt || is_o || thinks(thinking)
}

fn offered(tool: &Tool) -> Offered<'_> {
    Offered {
        r#type: "function",
        function: Function {
            name: &tool.name,
            description: tool.description.as_deref(),
            parameters: tool.parameters.as_deref(),
            strict: tool.strict,
        },
    }
}

fn choice(choice: &ToolChoice) -> Choice<'_> {
    match choice {
        ToolChoice::None => Choice::Word("none"),
        ToolChoice::Auto => Choice::Word("auto"),
        ToolChoice::Any => Choice::Word("required"),
        ToolChoice::Named(name) => Choice::Named { r#type: "function", function: Name { name } },
    }
}

fn format(format: &Format) -> ResponseFormat<'_> {
    match format {
        Format::Json => ResponseFormat::JsonObject,
        Format::Schema { name, description, schema, strict } => ResponseFormat::JsonSchema {
            json_schema: Schema {
                name: name.as_deref().unwrap_or(SCHEMA_NAME),
                description: description.as_deref(),
                schema,
                strict: *strict,
            },
        },
    }
}

#[cfg(test)]
mod tests;
