//! Writes a neutral request as responses, for a rung that speaks them.
//!
//! The provider stores nothing: the relay sends the whole conversation, and asks for the signatures
//! of the reasoning so that it can be continued.

mod items;

use crate::common::openai::{
    SCHEMA_NAME, Schema, body, effort_word, paragraphs, refuse_prefill, thinks,
};
use crate::common::shape::give_properties;
use crate::neutral::{
    Format, Request, Target, Tool, ToolChoice, Unsupported, Upstream, apply, refuse_unsupported,
};
use items::Item;
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// A smaller limit is refused.
const LEAST_OUTPUT: u64 = 16;

/// The longest name of a user, in characters.
const LONGEST_USER: usize = 64;

/// Asks for the signatures of the reasoning.
const PROOFS: &[&str] = &["reasoning.encrypted_content"];

/// The schema of a tool without parameters: the field is required.
const NO_PARAMETERS: &str = r#"{"type":"object","properties":{}}"#;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    instructions: Cow<'a, str>,
    input: Vec<Item<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Offered<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Text<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<&'a str>,
    store: bool,
    stream: bool,
}

#[derive(Serialize)]
struct Reasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
struct Offered<'a> {
    r#type: &'static str,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    parameters: Parameters<'a>,
    /// Always written: the default is true here, and false in the other dialects.
    strict: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Parameters<'a> {
    Given(&'a RawValue),
    None(Box<RawValue>),
}

#[derive(Serialize)]
#[serde(untagged)]
enum Choice<'a> {
    Word(&'static str),
    Named { r#type: &'static str, name: &'a str },
}

#[derive(Serialize)]
struct Text<'a> {
    format: TextFormat<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TextFormat<'a> {
    JsonObject,
    JsonSchema(Schema<'a>),
}

/// Checks whether responses can express all of a request.
///
/// # Errors
///
/// Names what they cannot express.
pub fn can_write(request: &Request) -> Result<(), Unsupported> {
    refuse(request)?;
    conversation(request).map(drop)
}

fn refuse(request: &Request) -> Result<(), Unsupported> {
    refuse_unsupported(request)?;
    refuse_prefill(request)?;
    if request.stop.iter().any(|text| !text.is_empty()) {
        return Err(Unsupported { field: "stop".to_owned() });
    }
    Ok(())
}

/// The body for a rung that speaks responses.
///
/// # Errors
///
/// As for [`can_write`].
pub fn write_request(request: &Request, target: &Target<'_>) -> Result<Upstream, Unsupported> {
    refuse(request)?;
    let mut request = request.clone();
    apply(&mut request, target);
    let names = crate::responses::limits::LIMITS.fit(&mut request);
    give_properties(&mut request);
    let mut left_out = left_out(&request);
    let effort = effort_word(request.thinking, &mut left_out);
    // In other dialects a client that asks for reasoning is shown it. Here a request must ask for a
    // summary, and some accounts may not. Nor do all servers know the signatures.
    let asks = thinks(request.thinking) && target.ask_usage;
    let summary = asks.then_some("auto");
    let has_tools = !request.tools.is_empty();
    let (instructions, input) = conversation(&request)?;
    let written = Body {
        model: target.model,
        instructions,
        input,
        tools: request.tools.iter().map(offered).collect::<Result<_, _>>()?,
        tool_choice: request.tool_choice.as_ref().filter(|_| has_tools).map(choice),
        parallel_tool_calls: request.parallel_tools.filter(|_| has_tools),
        text: request.format.as_ref().map(|it| Text { format: format(it) }),
        max_output_tokens: request.max_output.map(|most| most.max(LEAST_OUTPUT)),
        temperature: request.temperature,
        top_p: request.top_p,
        reasoning: (effort.is_some() || summary.is_some()).then_some(Reasoning { effort, summary }),
        include: if asks { PROOFS } else { &[] },
        user: request.user.as_deref().filter(|user| is_fine_user(user)),
        store: false,
        stream: true,
    };
    Ok(Upstream { body: body(&written)?, left_out, names })
}

/// The system prompt and the conversation. The input is required: if the conversation is empty, the
/// input is the system prompt.
fn conversation(request: &Request) -> Result<(Cow<'_, str>, Vec<Item<'_>>), Unsupported> {
    let instructions = paragraphs(request.system.iter().map(String::as_str));
    let input = items::write(request)?;
    if !input.is_empty() {
        return Ok((instructions, input));
    }
    if instructions.is_empty() {
        return Err(Unsupported { field: "a conversation without a word".to_owned() });
    }
    Ok((Cow::default(), vec![items::system(instructions)]))
}

/// Whether a user's name is short enough. A longer one is refused, and a cut one would be another
/// user's.
fn is_fine_user(user: &str) -> bool {
    user.chars().count() <= LONGEST_USER
}

fn left_out(request: &Request) -> Vec<&'static str> {
    let wishes = [
        ("top_k", request.top_k.is_some()),
        ("presence_penalty", request.presence_penalty.is_some_and(|penalty| penalty != 0.0)),
        ("frequency_penalty", request.frequency_penalty.is_some_and(|penalty| penalty != 0.0)),
        ("seed", request.seed.is_some()),
        ("user", request.user.as_deref().is_some_and(|user| !is_fine_user(user))),
        ("max_output", request.max_output.is_some_and(|most| most < LEAST_OUTPUT)),
    ];
    wishes.into_iter().filter_map(|(wish, is_left_out)| is_left_out.then_some(wish)).collect()
}

fn offered(tool: &Tool) -> Result<Offered<'_>, Unsupported> {
    let parameters = match &tool.parameters {
        Some(given) => Parameters::Given(given),
        None => {
            let none = RawValue::from_string(NO_PARAMETERS.to_owned());
            Parameters::None(none.map_err(|_| Unsupported { field: "tools".to_owned() })?)
        }
    };
    Ok(Offered {
        r#type: "function",
        name: &tool.name,
        description: tool.description.as_deref(),
        parameters,
        strict: tool.strict.unwrap_or(false),
    })
}

fn choice(choice: &ToolChoice) -> Choice<'_> {
    match choice {
        ToolChoice::None => Choice::Word("none"),
        ToolChoice::Auto => Choice::Word("auto"),
        ToolChoice::Any => Choice::Word("required"),
        ToolChoice::Named(name) => Choice::Named { r#type: "function", name },
    }
}

fn format(format: &Format) -> TextFormat<'_> {
    match format {
        Format::Json => TextFormat::JsonObject,
        Format::Schema { name, description, schema, strict } => TextFormat::JsonSchema(Schema {
            name: name.as_deref().unwrap_or(SCHEMA_NAME),
            description: description.as_deref(),
            schema,
            strict: *strict,
        }),
    }
}

#[cfg(test)]
mod tests;
