//! What a request needs from the rung that answers it, and whether it can be sent at all.
//!
//! Fields that the provider itself will check are read loosely: an unknown shape needs nothing
//! here.

use crate::common::fields::Fields;
use crate::common::needs::{Needs, acts_at_the_provider};
use crate::common::reject::Reject;
use crate::common::values::limit_of;
use crate::messages::object::Object;
use crate::messages::read_request::{max_tokens, messages};
use serde_json::value::RawValue;

/// The usual rule of thumb for English text; other scripts have more tokens.
const BYTES_PER_TOKEN: u64 = 4;

/// Tools that the provider runs, and containers that it keeps: a second answer would do something
/// twice.
const SERVED: &[&str] = &["mcp_servers", "container"];

/// What a rung must be able to do for the request.
///
/// # Errors
///
/// Says what of `messages`, `tools`, `max_tokens` and `thread` is wrong and how to correct it.
pub fn needs(fields: &Fields) -> Result<Needs, Reject> {
    let body = Object::of_fields(fields);
    if body.get("thread").is_some() {
        return Err(kept_elsewhere());
    }
    if body.get("max_tokens").is_none() {
        max_tokens(&body)?;
    }
    let max_output = limit_of(fields, "max_tokens").filter(|most| *most > 0);
    let mut needs = Needs { max_output, ..Needs::default() };
    let mut attached = 0;
    for message in messages(&body)? {
        let message = Object::read(String::new(), message);
        read_blocks(message.ok().as_ref(), &mut needs, &mut attached);
    }
    let tools = body.array("tools")?.unwrap_or_default();
    needs.tools |= !tools.is_empty();
    needs.side_effects = tools.iter().any(|tool| is_served(tool))
        || SERVED.iter().any(|key| body.get(key).is_some_and(|value| value.get() != "[]"));
    let choice = body.object("tool_choice").ok().flatten();
    let one_at_a_time = choice.and_then(|choice| choice.flag("disable_parallel_tool_use").ok()?);
    needs.parallel_tools = needs.tools && one_at_a_time == Some(false);
    let config = body.object("output_config").ok().flatten();
    needs.json_schema = body.get("output_format").is_some()
        || config.is_some_and(|config| config.get("format").is_some());
    let texts = ["system", "messages", "tools"].into_iter().filter_map(|key| body.get(key));
    let bytes: u64 = texts.map(|raw| raw.get().len() as u64).sum();
    needs.prompt_tokens = bytes.saturating_sub(attached) / BYTES_PER_TOKEN;
    Ok(needs)
}

/// The error for a conversation that the provider keeps under the id of its answer. The next turn
/// may go to another provider, which does not know the id and would count as failing.
fn kept_elsewhere() -> Reject {
    let message = "This relay keeps no conversations, and neither can a provider for it. Send the \
                   whole conversation in 'messages', and no 'thread'.";
    Reject::new("thread", "thread_unsupported_request", message)
}

/// Reads the blocks of `at`'s content, and those in its tool results.
fn read_blocks(at: Option<&Object<'_>>, needs: &mut Needs, attached: &mut u64) {
    for block in blocks(at) {
        match block.text("type").ok().flatten().as_deref() {
            Some("tool_use") => needs.tools = true,
            Some("tool_result") => {
                needs.tools = true;
                for inner in blocks(Some(&block)) {
                    read_attachment(&inner, needs, attached);
                }
            }
            _ => read_attachment(&block, needs, attached),
        }
    }
}

fn read_attachment(block: &Object<'_>, needs: &mut Needs, attached: &mut u64) {
    let Some(raw) = block.get("source") else { return };
    match block.text("type").ok().flatten().as_deref() {
        Some("image") => needs.images = true,
        Some("document") => {
            let source = block.object("source").ok().flatten();
            let kind = source.and_then(|source| source.text("type").ok()?);
            if matches!(kind.as_deref(), Some("text" | "content")) {
                // The model reads it as text, so it counts as text.
                return;
            }
            needs.files = true;
        }
        _ => return,
    }
    *attached = attached.saturating_add(raw.get().len() as u64);
}

fn blocks<'a>(at: Option<&Object<'a>>) -> impl Iterator<Item = Object<'a>> + use<'a> {
    let list = at.and_then(|at| at.array("content").ok()?).unwrap_or_default();
    list.into_iter().filter_map(|raw| Object::read(String::new(), raw).ok())
}

fn is_served(tool: &RawValue) -> bool {
    let tool = Object::read(String::new(), tool);
    let kind = tool.ok().and_then(|tool| tool.text("type").ok()?);
    kind.is_some_and(|kind| acts_at_the_provider(&kind))
}
