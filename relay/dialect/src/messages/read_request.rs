//! Reads a client's request in Anthropic's messages.
//!
//! A rung that speaks messages itself gets the fields as they are. For any other rung they are read
//! into the neutral form, and what it cannot express is named. `known_fields` says which field is
//! which.

mod blocks;

use crate::common::fields::Fields;
use crate::common::reject::Reject;
use crate::common::shape::suits_openai;
use crate::messages::known_fields;
use crate::messages::object::Object;
use crate::neutral::{Effort, Format, Request, Role, Thinking, Tool, ToolChoice, Turn};
use serde_json::value::RawValue;

/// Reads a request into the neutral form.
///
/// # Errors
///
/// Says which field is wrong and how to correct it; never quotes a prompt.
pub fn read_request(fields: &Fields) -> Result<Request, Reject> {
    let body = Object::of_fields(fields);
    let mut request = Request::default();
    body.name_unsupported(known_fields::REQUEST, &mut request.unsupported);
    request.max_output = Some(max_tokens(&body)?);
    system(&body, &mut request)?;
    let mut before_last = request.system.len();
    for (n, message) in messages(&body)?.into_iter().enumerate() {
        let known = request.system.len();
        read_message(&Object::read(format!("messages[{n}]"), message)?, &mut request)?;
        if request.system.len() == known {
            before_last = known;
        }
    }
    request.end_with_system(before_last);
    let mut served = Vec::new();
    for (n, tool) in body.array("tools")?.unwrap_or_default().into_iter().enumerate() {
        let tool = Object::read(format!("tools[{n}]"), tool)?;
        match known_fields::SPARE.iter().find(|start| is_of(&tool, start)) {
            Some(word) => served.push((*word, tool.path_of("type"))),
            None => read_tool(&tool, &mut request)?,
        }
    }
    for (word, path) in served {
        // If it is the only tool, the client asks for it; beside other tools most answers do not
        // need it.
        if request.tools.is_empty() {
            request.unsupported.push(path);
        } else if !request.left_out.contains(&word) {
            request.left_out.push(word);
        }
    }
    if let Some(choice) = body.object("tool_choice")? {
        read_tool_choice(&choice, &mut request)?;
    }
    request.stop = body.texts("stop_sequences")?;
    request.temperature = body.number("temperature")?;
    request.top_p = body.number("top_p")?;
    request.top_k = body.whole("top_k")?;
    how_to_think_and_answer(&body, &mut request)?;
    if let Some(metadata) = body.object("metadata")? {
        request.user = metadata.text("user_id")?;
    }
    context_management(&body, &mut request)?;
    Ok(request)
}

/// The limit of the answer, which messages require.
pub(crate) fn max_tokens(body: &Object<'_>) -> Result<u64, Reject> {
    let param = "max_tokens";
    if body.get(param).is_none() {
        return Err(Reject::new(
            param,
            "missing_required_parameter",
            "'max_tokens' is missing; say how many tokens the answer may have at most.",
        ));
    }
    match body.whole(param)? {
        Some(0) | None => Err(Reject::new(
            param,
            "invalid_value",
            "'max_tokens' must be a whole number, 1 or more.",
        )),
        Some(most) => Ok(most),
    }
}

/// The messages, at least one.
pub(crate) fn messages<'a>(body: &Object<'a>) -> Result<Vec<&'a RawValue>, Reject> {
    let (param, code) = ("messages", "missing_required_parameter");
    match body.array(param)? {
        None => {
            let message = "'messages' is missing; send an array with at least one message.";
            Err(Reject::new(param, code, message))
        }
        Some(list) if list.is_empty() => {
            let message = "'messages' is empty; send at least one message.";
            Err(Reject::new(param, "invalid_value", message))
        }
        Some(list) => Ok(list),
    }
}

/// The system prompt: a string or text blocks.
fn system(at: &Object<'_>, request: &mut Request) -> Result<(), Reject> {
    let key = if at.is_root() { "system" } else { "content" };
    let texts = blocks::texts(at, key, &mut request.unsupported)?;
    request.system.extend(texts.into_iter().filter(|text| !text.is_empty()));
    Ok(())
}

fn read_message(message: &Object<'_>, request: &mut Request) -> Result<(), Reject> {
    message.name_unsupported(known_fields::MESSAGE, &mut request.unsupported);
    let role = match message.required_text("role")?.as_str() {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        // Newer models accept instructions in the middle of the conversation.
        "system" => return system(message, request),
        _ => {
            let param = message.path_of("role");
            let text = format!("'{param}' must be 'user' or 'assistant'.");
            return Err(Reject::new(&param, "invalid_value", text));
        }
    };
    let parts = blocks::content(message, &mut request.unsupported)?;
    match request.turns.last_mut() {
        Some(turn) if turn.role == role => turn.parts.extend(parts),
        _ => request.turns.push(Turn { role, parts }),
    }
    Ok(())
}

fn is_of(tool: &Object<'_>, start: &str) -> bool {
    tool.text("type").ok().flatten().is_some_and(|kind| kind.starts_with(start))
}

fn read_tool(tool: &Object<'_>, request: &mut Request) -> Result<(), Reject> {
    if tool.text("type")?.is_some_and(|kind| kind != "custom") {
        // The provider runs it, so no other provider can.
        request.unsupported.push(tool.path_of("type"));
        return Ok(());
    }
    tool.name_unsupported(known_fields::TOOL, &mut request.unsupported);
    request.tools.push(Tool {
        name: tool.required_text("name")?,
        description: tool.text("description")?,
        parameters: tool.get("input_schema").map(ToOwned::to_owned),
        strict: tool.flag("strict")?,
    });
    Ok(())
}

fn read_tool_choice(choice: &Object<'_>, request: &mut Request) -> Result<(), Reject> {
    choice.name_unsupported(known_fields::TOOL_CHOICE, &mut request.unsupported);
    request.tool_choice = match choice.required_text("type")?.as_str() {
        "auto" => Some(ToolChoice::Auto),
        "any" => Some(ToolChoice::Any),
        "none" => Some(ToolChoice::None),
        "tool" => Some(ToolChoice::Named(choice.required_text("name")?)),
        _ => {
            request.unsupported.push(choice.path_of("type"));
            None
        }
    };
    request.parallel_tools = choice.flag("disable_parallel_tool_use")?.map(|off| !off);
    Ok(())
}

/// Reads what is to be dropped of a long history before the model sees it. Earlier reasoning is not
/// sent to other providers anyway. Earlier tool calls are sent to them, which costs more but loses
/// nothing.
fn context_management(body: &Object<'_>, request: &mut Request) -> Result<(), Reject> {
    let Some(management) = body.object("context_management")? else { return Ok(()) };
    management.name_unsupported(known_fields::CONTEXT_MANAGEMENT, &mut request.unsupported);
    for (n, raw) in management.array("edits")?.unwrap_or_default().into_iter().enumerate() {
        let edit = Object::read(format!("{}[{n}]", management.path_of("edits")), raw)?;
        let kind = edit.required_text("type")?;
        let wish = "context_management";
        if kind.starts_with("clear_tool_uses") {
            if !request.left_out.contains(&wish) {
                request.left_out.push(wish);
            }
        } else if !kind.starts_with("clear_thinking") {
            request.unsupported.push(edit.path_of("type"));
        }
    }
    Ok(())
}

/// Reads `thinking`, `output_config` and the older `output_format`.
fn how_to_think_and_answer(body: &Object<'_>, request: &mut Request) -> Result<(), Reject> {
    let config = body.object("output_config")?;
    let mut effort = None;
    if let Some(config) = &config {
        config.name_unsupported(known_fields::OUTPUT_CONFIG, &mut request.unsupported);
        effort = read_effort(config, &mut request.unsupported)?;
    }
    request.thinking = match body.object("thinking")? {
        Some(thinking) => read_thinking(&thinking, effort, &mut request.unsupported)?,
        None => effort.map(Thinking::Effort),
    };
    let within = config.map(|config| config.object("format")).transpose()?.flatten();
    if let Some(format) = within.or(body.object("output_format")?) {
        request.format = read_format(&format, &mut request.unsupported)?;
    }
    Ok(())
}

fn read_effort(
    config: &Object<'_>,
    unsupported: &mut Vec<String>,
) -> Result<Option<Effort>, Reject> {
    Ok(match config.text("effort")?.as_deref() {
        None => None,
        Some("low") => Some(Effort::Low),
        Some("medium") => Some(Effort::Medium),
        Some("high") => Some(Effort::High),
        Some("xhigh" | "max") => Some(Effort::Max),
        Some(_) => {
            unsupported.push(config.path_of("effort"));
            None
        }
    })
}

/// Reads `thinking`. An effort is more precise than `adaptive`, and less precise than a budget.
fn read_thinking(
    thinking: &Object<'_>,
    effort: Option<Effort>,
    unsupported: &mut Vec<String>,
) -> Result<Option<Thinking>, Reject> {
    thinking.name_unsupported(known_fields::THINKING, unsupported);
    Ok(match thinking.required_text("type")?.as_str() {
        "disabled" => Some(Thinking::Off),
        "adaptive" => Some(effort.map_or(Thinking::Adaptive, Thinking::Effort)),
        "enabled" => match thinking.whole("budget_tokens")? {
            Some(budget) => Some(Thinking::Budget(budget)),
            None => return Err(thinking.wrong_type("budget_tokens", "a whole number")),
        },
        _ => {
            unsupported.push(thinking.path_of("type"));
            None
        }
    })
}

fn read_format(
    format: &Object<'_>,
    unsupported: &mut Vec<String>,
) -> Result<Option<Format>, Reject> {
    if format.required_text("type")? != "json_schema" {
        unsupported.push(format.path_of("type"));
        return Ok(None);
    }
    format.name_unsupported(known_fields::FORMAT, unsupported);
    let Some(schema) = format.get("schema") else {
        return Err(format.wrong_type("schema", "a JSON schema"));
    };
    let schema = schema.to_owned();
    // Anthropic always follows the schema. OpenAI follows fewer schemas, and refuses strict mode
    // for others.
    let strict = suits_openai(&schema).then_some(true);
    Ok(Some(Format::Schema { name: None, description: None, schema, strict }))
}

#[cfg(test)]
mod tests;
