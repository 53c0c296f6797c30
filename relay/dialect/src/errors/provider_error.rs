//! A provider's error, read loosely.
//!
//! Every provider has its own shape: `error` is an object or a string, `code` is a word, a number
//! or null, some wrap it in an array, and some send no JSON at all.

use crate::common::retry_after::retry_delay;
use serde_json::Value;
use shared::Signature;
use std::time::Duration;

/// A longer message is cut, in bytes: some providers quote the prompt in it.
const MAX_MESSAGE: usize = 4096;

/// What the meaning of an error is based on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Evidence {
    /// No matcher. The reader of an answer set the meaning, or nothing did.
    #[default]
    None,
    /// Words of its message, which may be the client's own.
    Words,
    /// A code or type that is used for several things, the request among them.
    Hint,
    /// A code or type that has only this meaning.
    Field,
}

/// An error that a provider sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProviderError {
    /// What it means, if that is known.
    pub signature: Option<Signature>,
    /// What the meaning is based on.
    pub evidence: Evidence,
    /// The provider's own type of error.
    pub kind: Option<String>,
    /// The provider's code; a number is written as text.
    pub code: Option<String>,
    /// Google's reason, which is sent beside a code that is only a number.
    pub reason: Option<String>,
    /// The field of the request that it complains about.
    pub param: Option<String>,
    /// The provider's message. Must not be sent to a client as it is: it may hold keys and hosts.
    pub message: String,
    /// The HTTP status that the body itself names.
    pub status: Option<u16>,
    /// The wait that the body itself asks for, as Google's errors do.
    pub retry_delay: Option<Duration>,
}

/// A longer finish reason is cut, in characters.
const MAX_WORD: usize = 64;

impl ProviderError {
    /// Whether it complains about a field that the relay adds on its own.
    #[must_use]
    pub fn names_added_field(&self) -> bool {
        const NAMES: &[&str] =
            &["stream_options", "include_usage", "reasoning.summary", "reasoning summaries"];
        self.names_one_of(NAMES)
    }

    /// Whether its message, or the field that it complains about, contains one of these names.
    pub(crate) fn names_one_of(&self, names: &[&str]) -> bool {
        let has = |text: &str| names.iter().any(|name| text.contains(name));
        has(&self.message) || self.param.as_deref().is_some_and(has)
    }

    /// The error for an answer with a finish reason that does not mean that the answer is whole.
    pub(crate) fn interrupted(word: &str) -> Self {
        let plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let word: String = word.chars().filter(plain).take(MAX_WORD).collect();
        Self {
            kind: Some("server_error".to_owned()),
            message: format!("The provider ended its answer with the finish reason '{word}'."),
            code: Some(word),
            ..Self::default()
        }
    }
}

/// Reads an error body of any shape. Never fails: if nothing is known, the message stays empty.
#[must_use]
pub fn parse_error(body: &[u8]) -> ProviderError {
    let Ok(json) = serde_json::from_slice::<Value>(body) else {
        return ProviderError::default();
    };
    error_in(&json)
}

/// The error in a body, with the wait that it asks for.
fn error_in(json: &Value) -> ProviderError {
    let error = from_value(json).unwrap_or_default();
    ProviderError { retry_delay: retry_delay(json), ..error }
}

/// Reads the data of an `event: error`, which may also be plain text.
#[must_use]
pub fn parse_error_event(data: &[u8]) -> ProviderError {
    match serde_json::from_slice::<Value>(data) {
        Ok(json) => error_in(&json),
        Err(_) => ProviderError {
            message: cut(String::from_utf8_lossy(data).trim()),
            ..Default::default()
        },
    }
}

/// The error in `json`, if it is one.
pub(crate) fn from_value(json: &Value) -> Option<ProviderError> {
    match json {
        // Gemini without `alt=sse` wraps its error.
        Value::Array(items) => items.first().and_then(from_value),
        Value::String(message) => {
            Some(ProviderError { message: cut(message), ..ProviderError::default() })
        }
        Value::Object(_) => match json.get("error") {
            // xAI puts the code beside the text.
            Some(Value::String(message)) => {
                Some(ProviderError { message: cut(message), ..details(json) })
            }
            Some(inner @ Value::Object(_)) => Some(details(inner)),
            Some(Value::Array(_)) => json.get("error").and_then(from_value),
            _ => {
                let flat = details(json);
                (!flat.message.is_empty() || flat.kind.is_some()).then_some(flat)
            }
        },
        _ => None,
    }
}

/// The fields of the innermost error object.
fn details(error: &Value) -> ProviderError {
    let text = |keys: &[&str]| keys.iter().find_map(|key| word(error.get(key)?));
    let code = text(&["code"]);
    let status = ["status_code", "code", "status"]
        .iter()
        .find_map(|key| word(error.get(key)?)?.parse().ok())
        .filter(|status| (300..600).contains(status));
    ProviderError {
        signature: None,
        evidence: Evidence::None,
        reason: reason(error),
        // Google's `status` is a word; Cohere's type has a longer name.
        kind: text(&["type", "error_type"])
            .or_else(|| error.get("status").and_then(Value::as_str).map(str::to_owned)),
        code,
        param: text(&["param"]),
        message: message_of(error),
        status,
        retry_delay: None,
    }
}

fn message_of(error: &Value) -> String {
    let said = ["message", "detail", "error"].iter().find_map(|key| error.get(key));
    let said = said.map(message).unwrap_or_default();
    // OpenRouter's own message explains nothing; its provider's message does.
    match error.pointer("/metadata/raw").and_then(Value::as_str) {
        Some(raw) if said == "Provider returned error" => cut(&format!("{said}: {raw}")),
        _ => said,
    }
}

/// The reason of an `ErrorInfo` among Google's details.
fn reason(error: &Value) -> Option<String> {
    error.get("details")?.as_array()?.iter().find_map(|detail| word(detail.get("reason")?))
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(cut(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Some servers send validation errors as lists; their JSON is kept as the message.
fn message(value: &Value) -> String {
    match value {
        Value::String(text) => cut(text),
        Value::Null => String::new(),
        other => cut(&other.to_string()),
    }
}

fn cut(text: &str) -> String {
    let mut end = text.len().min(MAX_MESSAGE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(body: &str) -> (Option<String>, Option<String>, String, Option<u16>) {
        let error = parse_error(body.as_bytes());
        (error.kind, error.code, error.message, error.status)
    }

    #[test]
    fn every_shape_gives_up_what_it_has() {
        let some = |text: &str| Some(text.to_owned());
        for (body, kind, code, message, status) in [
            (r#"{"error":{"type":"t","code":"c","message":"m"}}"#, some("t"), some("c"), "m", None),
            (r#"{"error":{"code":429,"message":"m"}}"#, None, some("429"), "m", Some(429)),
            (
                r#"{"error":{"code":null,"message":"m","status_code":503}}"#,
                None,
                None,
                "m",
                Some(503),
            ),
            (
                r#"[{"error":{"code":503,"message":"m","status":"UNAVAILABLE"}}]"#,
                some("UNAVAILABLE"),
                some("503"),
                "m",
                Some(503),
            ),
            (r#"{"code":"c","error":"m"}"#, None, some("c"), "m", None),
            (r#"{"detail":"m"}"#, None, None, "m", None),
            (r#"{"detail":[{"loc":["a"]}]}"#, None, None, r#"[{"loc":["a"]}]"#, None),
            (r#"{"message":"m"}"#, None, None, "m", None),
            (r#"{"error_type":"T","message":"m"}"#, some("T"), None, "m", None),
            (
                r#"{"object":"error","message":"m","type":"t","code":400}"#,
                some("t"),
                some("400"),
                "m",
                Some(400),
            ),
            (r#"{"type":"error","error":{"type":"t","message":"m"}}"#, some("t"), None, "m", None),
            (
                r#"{"error":{"message":"Provider returned error","metadata":{"raw":"too long"}}}"#,
                None,
                None,
                "Provider returned error: too long",
                None,
            ),
            ("<html>", None, None, "", None),
            ("", None, None, "", None),
        ] {
            assert_eq!(parts(body), (kind, code, message.to_owned(), status), "{body}");
        }
        assert_eq!(parse_error_event(b" it broke ").message, "it broke");
        assert_eq!(parse_error_event(br#""it broke""#).message, "it broke");
    }

    #[test]
    fn a_long_message_is_cut_between_characters() {
        let long = serde_json::json!({ "error": "é".repeat(MAX_MESSAGE) }).to_string();
        assert_eq!(parse_error(long.as_bytes()).message.len(), MAX_MESSAGE);
    }
}
