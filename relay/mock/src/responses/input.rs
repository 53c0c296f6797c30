//! What OpenAI checks in the items of an input.

use serde_json::Value;

use super::super::chat::refusal::refusal;
use super::super::dialect::Refusal;
use super::super::proof::is_sealed;
use super::super::request::{list, text_of};
use super::read::{missing, only};

const MESSAGE: &[&str] = &["type", "role", "content", "id", "status", "phase"];
const CALL: &[&str] = &["type", "call_id", "name", "arguments", "id", "status", "namespace"];
const OUTPUT: &[&str] = &["type", "call_id", "output", "id", "status"];
const THOUGHT: &[&str] = &["type", "id", "summary", "content", "encrypted_content", "status"];

/// 400: this parameter is wrong.
pub(super) fn bad(param: &str, code: Option<&str>, words: &str) -> Refusal {
    refusal(400, "invalid_request_error", Some(param), code, words)
}

/// Whether the item came from the model.
pub(super) fn is_models(item: &Value) -> bool {
    text_of(item, "role") == Some("assistant")
        || matches!(text_of(item, "type"), Some("function_call" | "reasoning"))
}

/// Refuses what OpenAI would refuse.
pub(super) fn check(items: &[Value]) -> Result<(), Refusal> {
    let mut open: Vec<&str> = Vec::new();
    for (place, item) in items.iter().enumerate() {
        let at = format!("input[{place}]");
        match text_of(item, "type").unwrap_or("message") {
            "message" => message(item, &at)?,
            "function_call" => {
                known(item, CALL, &at)?;
                for key in ["name", "arguments"] {
                    required(item, key, &at)?;
                }
                open.push(required(item, "call_id", &at)?);
            }
            "function_call_output" => {
                known(item, OUTPUT, &at)?;
                let id = required(item, "call_id", &at)?;
                if item.get("output").is_none_or(Value::is_null) {
                    return Err(missing(&format!("{at}.output")));
                }
                let Some(found) = open.iter().position(|call| *call == id) else {
                    let words =
                        format!("No tool call found for function call output with call_id {id}.");
                    return Err(bad("input", None, &words));
                };
                open.remove(found);
            }
            "reasoning" => thought(item, &at)?,
            _ => {}
        }
    }
    match open.first() {
        None => Ok(()),
        Some(id) => {
            Err(bad("input", None, &format!("No tool output found for function call {id}.")))
        }
    }
}

fn message(item: &Value, at: &str) -> Result<(), Refusal> {
    known(item, MESSAGE, at)?;
    let role = required(item, "role", at)?;
    if !matches!(role, "user" | "assistant" | "system" | "developer") {
        let words = format!(
            "Invalid value: '{role}'. Supported values are: 'assistant', \
                             'system', 'developer', and 'user'."
        );
        return Err(bad(&format!("{at}.role"), Some("invalid_value"), &words));
    }
    if item.get("content").is_none_or(Value::is_null) {
        return Err(missing(&format!("{at}.content")));
    }
    for (place, part) in list(item, "content").iter().enumerate() {
        let at = format!("{at}.content[{place}]");
        let kind = required(part, "type", &at)?;
        let (fits, supported) = if role == "assistant" {
            (matches!(kind, "output_text" | "refusal"), "'output_text' and 'refusal'")
        } else {
            let supported = "'input_text', 'input_image', 'input_file', and 'input_audio'";
            (kind.starts_with("input_"), supported)
        };
        if !fits {
            let words = format!("Invalid value: '{kind}'. Supported values are: {supported}.");
            return Err(bad(&format!("{at}.type"), Some("invalid_value"), &words));
        }
    }
    Ok(())
}

/// Reasoning that comes back has to be the mock's own.
fn thought(item: &Value, at: &str) -> Result<(), Refusal> {
    known(item, THOUGHT, at)?;
    if !item.get("summary").is_some_and(Value::is_array) {
        return Err(missing(&format!("{at}.summary")));
    }
    match text_of(item, "encrypted_content") {
        Some(sealed) if !is_sealed(sealed) => {
            let id = text_of(item, "id").unwrap_or_default();
            let words = format!(
                "The encrypted content for item {id} could not be verified. \
                                 Reason: Encrypted content could not be decrypted or parsed."
            );
            Err(bad("input", Some("invalid_encrypted_content"), &words))
        }
        _ => Ok(()),
    }
}

fn known(item: &Value, fields: &[&str], at: &str) -> Result<(), Refusal> {
    item.as_object().map_or(Ok(()), |item| only(item, fields, at))
}

fn required<'a>(item: &'a Value, key: &str, at: &str) -> Result<&'a str, Refusal> {
    text_of(item, key).ok_or_else(|| missing(&format!("{at}.{key}")))
}
