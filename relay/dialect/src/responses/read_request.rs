//! Reads a responses client's request into the neutral form.

mod items;
mod tools;

use crate::common::fields::Fields;
use crate::common::members::{Members, Rule};
use crate::common::openai::{CACHE_MARK, effort, schema, tool_choice};
use crate::common::reject::Reject;
use crate::neutral::{Format, Part, Request, Role, Thinking};

/// What is done with the fields that [`read_request`] does not take. All others are unsupported,
/// such as `previous_response_id`, `conversation`, `prompt`, `background`.
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
    CACHE_MARK,
    // It limits the provider's own tools, which are unsupported themselves.
    Rule::harmless("max_tool_calls"),
    // With these values they ask for what is done anyway. OpenAI also stores an answer without
    // `store`, but only a client that sets it depends on it.
    Rule::harmless_at("store", &["false"]),
    Rule::harmless_at("background", &["false"]),
    Rule::harmless_at("truncation", &["\"disabled\""]),
    Rule::harmless_at("top_logprobs", &["0"]),
];

/// Rules for the form of the answer's text.
const TEXT: &[Rule] = &[Rule::wish("verbosity")];

/// Rules for reasoning. A summary is shown whenever a provider shows its reasoning at all.
const REASONING: &[Rule] = &[
    Rule::harmless("summary"),
    Rule::harmless("generate_summary"),
    Rule::harmless_at("context", &["\"auto\""]),
];

/// The value of `include` that asks for log probabilities.
const LOGPROBS: &str = "message.output_text.logprobs";

/// Reads a responses client's whole request into the neutral form.
///
/// # Errors
///
/// Says which field is wrong.
pub fn read_request(fields: &Fields) -> Result<Request, Reject> {
    let mut top = Members::of(fields);
    let mut request = Request::default();
    let instructions = top.string("instructions")?;
    request.system.extend(instructions.filter(|text| !text.is_empty()));
    if let Some(input) = top.take("input") {
        if input.is_string() {
            request.push(Role::User, Part::Text(input.string()?));
        } else {
            items::read(&input.list()?, &mut request)?;
        }
    }
    tools::read_all(&top.list("tools")?, &mut request)?;
    if let Some(value) = top.take("tool_choice") {
        request.tool_choice = tool_choice(&value, &mut request, tools::chosen)?;
    }
    request.parallel_tools = top.flag("parallel_tool_calls")?;
    if let Some(mut text) = top.object("text")? {
        if let Some(mut members) = text.object("format")? {
            request.format = format(&mut members, &mut request)?;
            members.finish(&[], &mut request);
        }
        text.finish(TEXT, &mut request);
    }
    request.max_output = top.limit("max_output_tokens")?;
    request.temperature = top.number("temperature")?;
    request.top_p = top.number("top_p")?;
    if let Some(mut members) = top.object("reasoning")? {
        let degree = members.take("effort").map(|value| effort(&value)).transpose()?;
        request.thinking = degree.or(Some(Thinking::Adaptive));
        members.finish(REASONING, &mut request);
    }
    for value in top.list("include")? {
        // The other values ask for details of the provider's own tools, or for signatures.
        if value.string()? == LOGPROBS {
            request.unsupported.push(value.path().to_owned());
        }
    }
    let user = top.string("user")?;
    request.user = top.string("safety_identifier")?.or(user);
    top.finish(TOP, &mut request);
    Ok(request)
}

fn format(members: &mut Members<'_>, request: &mut Request) -> Result<Option<Format>, Reject> {
    match members.required("type")?.as_str() {
        "text" => Ok(None),
        "json_object" => Ok(Some(Format::Json)),
        "json_schema" => schema(members).map(Some),
        _ => {
            request.unsupported.push(members.at("type"));
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests;
