//! What Google checks in a conversation: calls and responses that do not match, and calls that a
//! thinking model cannot recognize as its own.

use serde_json::{Value, json};

use super::super::dialect::Refusal;
use super::super::proof::sign_call;
use super::super::request::{list, text_of};
use super::fields::{CALL, CONTENT, PART, RESPONSE, only};
use super::refusal::bad_request;

/// Signatures that Google accepts on calls that another model made.
const FOREIGN: &[&str] =
    &["skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

/// Refuses what Google would refuse.
pub(super) fn check(contents: &[Value], model: &str) -> Result<(), Refusal> {
    if contents.is_empty() {
        let words = "* GenerateContentRequest.contents: contents is not specified";
        return Err(bad_request(Some("contents"), words));
    }
    let mut calls: Vec<&Value> = Vec::new();
    for (place, content) in contents.iter().enumerate() {
        let at = format!("contents[{place}]");
        only(content, CONTENT, &at)?;
        let role = text_of(content, "role").unwrap_or("user");
        if !matches!(role, "user" | "model") {
            return Err(bad_request(None, "Please use a valid role: user, model."));
        }
        parts(content, &at)?;
        let responses = of_kind(content, "functionResponse");
        answered(&calls, &responses)?;
        calls = of_kind(content, "functionCall");
        if !calls.is_empty() && place == 0 {
            let words = "Please ensure that function call turn comes immediately after a user \
                         turn or after a function response turn.";
            return Err(bad_request(None, words));
        }
        proven(content, place, model)?;
    }
    answered(&calls, &[])
}

fn parts(content: &Value, at: &str) -> Result<(), Refusal> {
    let parts = list(content, "parts");
    if parts.is_empty() {
        let words =
            format!("* GenerateContentRequest.{at}.parts: contents.parts must not be empty.");
        return Err(bad_request(Some(&format!("{at}.parts")), &words));
    }
    for (place, part) in parts.iter().enumerate() {
        let at = format!("{at}.parts[{place}]");
        only(part, PART, &at)?;
        let data = ["text", "inlineData", "fileData", "functionCall", "functionResponse"];
        let more = ["executableCode", "codeExecutionResult", "toolCall", "toolResponse"];
        if data.iter().chain(&more).filter(|key| part.get(**key).is_some()).count() != 1 {
            let words = format!(
                "* GenerateContentRequest.{at}.data: required oneof field 'data' \
                                 must have one initialized field"
            );
            return Err(bad_request(Some(&at), &words));
        }
        for (key, known, object) in
            [("functionCall", CALL, "args"), ("functionResponse", RESPONSE, "response")]
        {
            let Some(value) = part.get(key) else { continue };
            only(value, known, &format!("{at}.{key}"))?;
            if text_of(value, "name").is_none_or(str::is_empty) {
                let words =
                    format!("* GenerateContentRequest.{at}.{key}.name: Name cannot be empty.");
                return Err(bad_request(Some(&at), &words));
            }
            if value.get(object).is_some_and(|value| !value.is_object()) {
                let words = format!(
                    "Invalid value at '{at}.{key}.{object}' (type.googleapis.com/\
                                     google.protobuf.Struct)"
                );
                return Err(bad_request(Some(&at), &words));
            }
        }
    }
    Ok(())
}

fn of_kind<'a>(content: &'a Value, kind: &str) -> Vec<&'a Value> {
    list(content, "parts").iter().filter_map(|part| part.get(kind)).collect()
}

fn answered(calls: &[&Value], responses: &[&Value]) -> Result<(), Refusal> {
    if calls.len() != responses.len() {
        let words = "Please ensure that the number of function response parts is equal to the \
                     number of function call parts of the function call turn.";
        return Err(bad_request(None, words));
    }
    let mut open = calls.to_vec();
    for response in responses {
        let name = text_of(response, "name");
        let Some(found) = open.iter().position(|call| text_of(call, "name") == name) else {
            let words = "Please ensure that function response turn comes immediately after a \
                         function call turn, and names the functions that were called.";
            return Err(bad_request(None, words));
        };
        open.remove(found);
    }
    Ok(())
}

/// Checks that a thinking model's first call of a turn carries its signature, and that every
/// signature is the right one.
fn proven(content: &Value, place: usize, model: &str) -> Result<(), Refusal> {
    let mut first = true;
    for part in list(content, "parts") {
        let Some(call) = part.get("functionCall") else { continue };
        let name = text_of(call, "name").unwrap_or_default();
        match text_of(part, "thoughtSignature") {
            Some(signature) if FOREIGN.contains(&signature) => {}
            Some(signature) => {
                let nothing = json!({});
                if signature != sign_call(name, call.get("args").unwrap_or(&nothing)) {
                    return Err(bad_request(None, "Corrupted thought signature."));
                }
            }
            None if first && model.starts_with("gemini-3") => {
                let words = format!(
                    "Function call is missing a thought_signature in functionCall parts. This is \
                     required for tools to work correctly, and missing thought_signature may lead \
                     to degraded model performance. Additional data, function call `{name}`, \
                     position {}.",
                    place + 1,
                );
                return Err(bad_request(None, &words));
            }
            None => {}
        }
        first = false;
    }
    Ok(())
}
