//! What Anthropic checks in a conversation: whose turn it is, empty texts, calls without results,
//! and thinking that is not its own.

use serde_json::Value;

use super::super::dialect::Refusal;
use super::super::proof::sign;
use super::super::request::{list, text_of};
use super::fields::{MESSAGE, of_block, only_in, required};
use super::refusal::bad_request;

/// Refuses what Anthropic would refuse.
pub(super) fn check(messages: &[Value], thinking: bool) -> Result<(), Refusal> {
    if messages.is_empty() {
        return Err(bad_request(Some("messages"), "at least one message is required"));
    }
    let mut ids: Vec<&str> = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        let at = format!("messages.{place}");
        only_in(message, MESSAGE, &at)?;
        turn(place, message, &at)?;
        if text_of(message, "role") == Some("user") {
            results(message, &at, &open)?;
        }
        let last = place + 1 == messages.len();
        content(message, &at, last)?;
        open = calls(message);
        if let Some(twice) = open.iter().find(|id| ids.contains(id)) {
            return Err(bad_request(Some(&at), &format!("`tool_use` ids must be unique: {twice}")));
        }
        ids.extend(&open);
    }
    if let Some(id) = open.first() {
        return Err(unanswered(messages.len() - 1, id));
    }
    if thinking { proven(messages) } else { Ok(()) }
}

fn turn(place: usize, message: &Value, at: &str) -> Result<(), Refusal> {
    let role = required(message, "role", at)?;
    let due = if place.is_multiple_of(2) { "user" } else { "assistant" };
    match role {
        "user" | "assistant" if role == due => Ok(()),
        "user" | "assistant" if place == 0 => {
            Err(bad_request(Some("messages"), "first message must use the \"user\" role"))
        }
        "user" | "assistant" => {
            let words = format!(
                "roles must alternate between \"user\" and \"assistant\", but \
                                 found multiple \"{role}\" roles in a row"
            );
            Err(bad_request(Some("messages"), &words))
        }
        "system" => {
            let words = "Unexpected role \"system\". The Messages API accepts a top-level \
                         `system` parameter, not \"system\" as an input message role.";
            Err(bad_request(Some("messages"), words))
        }
        _ => {
            let words = "Input should be 'user' or 'assistant'";
            Err(bad_request(Some(&format!("{at}.role")), words))
        }
    }
}

fn content(message: &Value, at: &str, last: bool) -> Result<(), Refusal> {
    let content = message.get("content");
    let content =
        content.ok_or_else(|| bad_request(Some(&format!("{at}.content")), "Field required"))?;
    let user = text_of(message, "role") == Some("user");
    let empty = content.as_str().map(str::is_empty).or(content.as_array().map(Vec::is_empty));
    match empty {
        None => {
            let words = "Input should be a valid list";
            return Err(bad_request(Some(&format!("{at}.content")), words));
        }
        Some(true) if user || !last => {
            let words = "all messages must have non-empty content except for the optional final \
                         assistant message";
            return Err(bad_request(Some(at), words));
        }
        Some(_) => {}
    }
    if let Some(text) = content.as_str().filter(|_| last && !user) {
        trailing(text)?;
    }
    for (place, block) in list(message, "content").iter().enumerate() {
        self::block(block, &format!("{at}.content.{place}"), user)?;
    }
    Ok(())
}

fn trailing(text: &str) -> Result<(), Refusal> {
    if text.ends_with(char::is_whitespace) {
        let words = "final assistant content cannot end with trailing whitespace";
        return Err(bad_request(Some("messages"), words));
    }
    Ok(())
}

/// Refuses an empty text, in a list of blocks.
pub(super) fn check_text(content: &Value, at: &str) -> Result<(), Refusal> {
    for block in content.as_array().into_iter().flatten() {
        if text_of(block, "type") == Some("text") {
            text(block, at)?;
        }
    }
    Ok(())
}

fn text(block: &Value, at: &str) -> Result<(), Refusal> {
    if required(block, "text", at)?.trim().is_empty() {
        let place = at.split('.').next();
        return Err(bad_request(place, "text content blocks must be non-empty"));
    }
    Ok(())
}

fn block(block: &Value, at: &str, user: bool) -> Result<(), Refusal> {
    let kind = required(block, "type", at)?;
    if let Some(known) = of_block(kind) {
        only_in(block, known, &format!("{at}.{kind}"))?;
    }
    let misplaced = match kind {
        "tool_result" | "image" | "document" => !user,
        "tool_use" | "thinking" | "redacted_thinking" => user,
        _ => false,
    };
    if misplaced {
        let role = if user { "user" } else { "assistant" };
        let words = format!("`{kind}` blocks cannot be in `{role}` messages");
        return Err(bad_request(Some(at), &words));
    }
    match kind {
        "text" => text(block, at),
        "thinking" => {
            let signature = required(block, "signature", &format!("{at}.thinking"))?;
            let thought = required(block, "thinking", &format!("{at}.thinking"))?;
            if signature == sign("thinking", thought) {
                Ok(())
            } else {
                Err(bad_request(Some(at), "Invalid `signature` in `thinking` block"))
            }
        }
        "redacted_thinking" => {
            Err(bad_request(Some(at), "Invalid `data` in `redacted_thinking` block"))
        }
        "tool_use" => {
            let id = required(block, "id", &format!("{at}.tool_use"))?;
            if id.is_empty() || !id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
                let words = "String should match pattern '^[a-zA-Z0-9_-]+$'";
                return Err(bad_request(Some(&format!("{at}.tool_use.id")), words));
            }
            required(block, "name", &format!("{at}.tool_use"))?;
            if !block.get("input").is_some_and(Value::is_object) {
                let words = "Input should be a valid dictionary";
                return Err(bad_request(Some(&format!("{at}.tool_use.input")), words));
            }
            Ok(())
        }
        "tool_result" => {
            if let Some(content) = block.get("content") {
                check_text(content, at)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The ids of a message's calls.
fn calls(message: &Value) -> Vec<&str> {
    let blocks = list(message, "content").iter();
    let calls = blocks.filter(|block| text_of(block, "type") == Some("tool_use"));
    calls.filter_map(|block| text_of(block, "id")).collect()
}

/// Checks the results that follow a message's calls: one for each, before everything else.
fn results(message: &Value, at: &str, calls: &[&str]) -> Result<(), Refusal> {
    let place: usize = at.rsplit('.').next().and_then(|n| n.parse().ok()).unwrap_or_default();
    let mut open = calls.to_vec();
    let mut other = false;
    for (n, block) in list(message, "content").iter().enumerate() {
        if text_of(block, "type") != Some("tool_result") {
            other = true;
            continue;
        }
        let at = format!("{at}.content.{n}");
        let id = required(block, "tool_use_id", &format!("{at}.tool_result"))?;
        let Some(found) = open.iter().position(|call| *call == id) else {
            let words = format!(
                "unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
                 block must have a corresponding `tool_use` block in the previous message."
            );
            return Err(bad_request(Some(&at), &words));
        };
        if other {
            return Err(unanswered(place.saturating_sub(1), id));
        }
        open.remove(found);
    }
    open.first().map_or(Ok(()), |id| Err(unanswered(place.saturating_sub(1), id)))
}

fn unanswered(place: usize, id: &str) -> Refusal {
    let words = format!(
        "`tool_use` ids were found without `tool_result` blocks immediately after: {id}. Each \
         `tool_use` block must have a corresponding `tool_result` block in the next message."
    );
    bad_request(Some(&format!("messages.{place}")), &words)
}

/// Checks that, with thinking on, an assistant turn whose calls are being answered begins with
/// thinking.
fn proven(messages: &[Value]) -> Result<(), Refusal> {
    let last = messages.iter().rposition(|m| text_of(m, "role") == Some("assistant"));
    let Some((place, message)) = last.and_then(|place| Some((place, messages.get(place)?))) else {
        return Ok(());
    };
    let first = list(message, "content").first().and_then(|block| text_of(block, "type"));
    if calls(message).is_empty() || matches!(first, Some("thinking" | "redacted_thinking")) {
        return Ok(());
    }
    let found = first.unwrap_or_default();
    let words = format!(
        "Expected `thinking` or `redacted_thinking`, but found `{found}`. When `thinking` is \
         enabled, a final `assistant` message must start with a thinking block (preceeding the \
         lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking \
         blocks from previous turns. To avoid this requirement, disable `thinking`."
    );
    Err(bad_request(Some(&format!("messages.{place}.content.0.type")), &words))
}
