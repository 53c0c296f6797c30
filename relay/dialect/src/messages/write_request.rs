//! Writes a request in Anthropic's messages, for a client that speaks another dialect.
//!
//! Anthropic refuses what others accept: empty texts, foreign signatures, odd ids, sampling beside
//! thinking. So only what Anthropic accepts is written here, and what had to be left out is named.

mod base64;
mod body;
mod ids;
mod sampling;
mod thinking;
mod turns;

pub(crate) use ids::Ids;
pub(crate) use thinking::fit_budget;

use crate::common::fields::Fields;
use crate::common::shape::suits_anthropic;
use crate::neutral::{
    Format, Request, Target, Tool, ToolChoice, Unsupported, Upstream, apply, format_into_prompt,
    refuse_unsupported,
};
use body::{Body, Choice, Json, Metadata, OutputConfig, OutputFormat, Text};
use serde_json::value::RawValue;
use thinking::Plan;

/// The longest id of a user, in bytes.
const LONGEST_USER: usize = 256;

/// Checks whether messages can express all of a request.
///
/// # Errors
///
/// Names what they cannot express.
pub fn can_write(request: &Request) -> Result<(), Unsupported> {
    refuse_unsupported(request)?;
    turns::write(request).map(drop)
}

/// The body for `target`.
///
/// # Errors
///
/// As for [`can_write`].
pub fn write_request(request: &Request, target: &Target<'_>) -> Result<Upstream, Unsupported> {
    refuse_unsupported(request)?;
    let mut request = request.clone();
    apply(&mut request, target);
    let names = crate::messages::limits::LIMITS.fit(&mut request);
    let mut left_out = Vec::new();
    if request.format.as_ref().is_some_and(has_no_field) {
        format_into_prompt(&mut request);
        left_out.push("response_format");
    }
    let user = request.user.as_deref().filter(|user| is_opaque(user));
    if user.is_none() && request.user.is_some() {
        left_out.push("user");
    }
    let history = turns::write(&request)?;
    let plan = Plan::of(&request, target, history.may_think, &mut left_out);
    let sampling = sampling::write(&request, plan.thinking.is_some(), &mut left_out);
    let opening = history.opening.iter().map(String::as_str);
    let system = request.system.iter().map(String::as_str).chain(opening);
    let body = Body {
        model: target.model,
        max_tokens: plan.max_tokens,
        system: system.filter(|text| !text.trim().is_empty()).map(Text::of).collect(),
        messages: &history.messages,
        tools: request.tools.iter().map(tool).collect(),
        tool_choice: tool_choice(&request),
        output_config: output_config(&request),
        thinking: plan.thinking,
        stop_sequences: sampling.stop,
        temperature: sampling.temperature,
        top_p: sampling.top_p,
        top_k: sampling.top_k,
        metadata: user.map(|user_id| Metadata { user_id }),
        stream: true,
    };
    Ok(Upstream { body: body.to_json(), left_out, names })
}

/// Whether a user's name may be sent: Anthropic forbids e-mail addresses, telephone numbers and
/// names, so a name that does not look like an id is not sent.
fn is_opaque(user: &str) -> bool {
    let fine = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=LONGEST_USER).contains(&user.len()) && user.bytes().all(fine)
}

fn tool(tool: &Tool) -> body::Tool<'_> {
    let parameters = tool.parameters.as_deref().filter(|schema| !is_without_members(schema));
    body::Tool {
        name: &tool.name,
        description: tool.description.as_deref(),
        input_schema: parameters.map_or(Json::NO_ARGUMENTS, Json::Written),
        strict: tool.strict,
    }
}

/// Whether a schema has no members. Such a schema accepts anything; Anthropic requires that it says
/// that it is an object.
fn is_without_members(schema: &RawValue) -> bool {
    serde_json::from_str::<Fields>(schema.get()).is_ok_and(|members| members.is_empty())
}

/// Whether the form of an answer must be asked for in the prompt. JSON without a schema has no
/// field, and Anthropic refuses some schemas. If the client insists on such a schema, Anthropic's
/// own error tells it.
fn has_no_field(format: &Format) -> bool {
    match format {
        Format::Json => true,
        Format::Schema { schema, strict, .. } => *strict != Some(true) && !suits_anthropic(schema),
    }
}

fn output_config(request: &Request) -> Option<OutputConfig<'_>> {
    match &request.format {
        Some(Format::Schema { schema, .. }) => {
            Some(OutputConfig { format: OutputFormat { kind: "json_schema", schema } })
        }
        Some(Format::Json) | None => None,
    }
}

/// Without tools Anthropic refuses the field, and it would mean nothing.
fn tool_choice(request: &Request) -> Option<Choice<'_>> {
    let one_at_a_time = request.parallel_tools == Some(false);
    let off = one_at_a_time.then_some(true);
    let (kind, name) = match &request.tool_choice {
        Some(ToolChoice::Any) => ("any", None),
        Some(ToolChoice::Named(name)) => ("tool", Some(name.as_str())),
        _ if request.tools.is_empty() => return None,
        Some(ToolChoice::None) => {
            return Some(Choice { kind: "none", name: None, disable_parallel_tool_use: None });
        }
        None if !one_at_a_time => return None,
        Some(ToolChoice::Auto) | None => ("auto", None),
    };
    Some(Choice { kind, name, disable_parallel_tool_use: off })
}

#[cfg(test)]
mod tests;
