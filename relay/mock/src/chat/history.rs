//! What OpenAI checks in a chat's messages: calls without their answers, and answers without their
//! calls.

use serde_json::Value;

use super::super::dialect::Refusal;
use super::super::request::{list, text_of};
use super::refusal::bad_request;

/// Refuses what OpenAI would refuse.
pub(super) fn check(messages: &[Value]) -> Result<(), Refusal> {
    let mut open: Vec<&str> = Vec::new();
    let mut answerable = false;
    for (place, message) in messages.iter().enumerate() {
        let role = text_of(message, "role").unwrap_or_default();
        if role == "tool" {
            let id = text_of(message, "tool_call_id").ok_or_else(|| missing(place))?;
            if !answerable {
                return Err(uncalled());
            }
            let Some(at) = open.iter().position(|call| *call == id) else {
                let words = format!(
                    "Invalid parameter: 'tool_call_id' of '{id}' not found in \
                                     'tool_calls' of previous message."
                );
                return Err(bad_request(Some(&format!("messages.[{place}].tool_call_id")), &words));
            };
            open.remove(at);
            continue;
        }
        answered(&open)?;
        let calls = list(message, "tool_calls");
        open = calls.iter().filter_map(|call| text_of(call, "id")).collect();
        answerable = !open.is_empty();
        if role == "assistant"
            && calls.is_empty()
            && message.get("content").is_none_or(Value::is_null)
            && message.get("refusal").is_none_or(Value::is_null)
        {
            let words = "Invalid value for 'content': expected a string, got null.";
            return Err(bad_request(Some(&format!("messages.[{place}].content")), words));
        }
    }
    answered(&open)
}

fn answered(open: &[&str]) -> Result<(), Refusal> {
    if open.is_empty() {
        return Ok(());
    }
    let words = format!(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to \
         each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
        open.join(", "),
    );
    Err(bad_request(Some("messages"), &words))
}

fn missing(place: usize) -> Refusal {
    let param = format!("messages[{place}].tool_call_id");
    bad_request(Some(&param), &format!("Missing required parameter: '{param}'."))
}

fn uncalled() -> Refusal {
    let words = "Invalid parameter: messages with role 'tool' must be a response to a preceeding \
                 message with 'tool_calls'.";
    bad_request(Some("messages"), words)
}
