//! Anthropic's error responses.

use serde_json::{Value, json};

use super::super::dialect::Refusal;
use super::super::frame::random;

/// A refusal in Anthropic's shape.
pub(super) fn refusal(status: u16, kind: &str, words: &str) -> Refusal {
    Refusal { status, body: error(kind, words) }
}

/// 400: the request is wrong, and `place` is the field to blame.
pub(super) fn bad_request(place: Option<&str>, words: &str) -> Refusal {
    let words = place.map_or_else(|| words.into(), |place| format!("{place}: {words}"));
    refusal(400, "invalid_request_error", &words)
}

/// The error that Anthropic sends with a status.
pub(super) fn of_status(status: u16) -> Refusal {
    let (kind, words) = match status {
        401 => ("authentication_error", "invalid x-api-key"),
        402 => ("billing_error", "Your credit balance is too low to access the Anthropic API."),
        403 => ("permission_error", "Your API key does not have permission to use this resource."),
        404 => ("not_found_error", "model: not found"),
        409 => ("conflict_error", "The request conflicts with the state of the resource."),
        413 => ("request_too_large", "Request exceeds the maximum size"),
        429 => (
            "rate_limit_error",
            "This request would exceed your organization's rate limit. Please try again later.",
        ),
        400..=499 => ("invalid_request_error", "The request could not be processed."),
        504 => ("timeout_error", "Request timed out"),
        503 | 529 => ("overloaded_error", "Overloaded"),
        _ => ("api_error", "Internal server error"),
    };
    refusal(status, kind, words)
}

/// An error in place of an answer, or within one.
pub(super) fn error_body(kind: &str, message: &str) -> Value {
    let kind = match kind {
        "server_error" => "api_error",
        "overloaded" => "overloaded_error",
        "rate_limit_exceeded" => "rate_limit_error",
        other => other,
    };
    error(kind, message)
}

fn error(kind: &str, words: &str) -> Value {
    let id = format!("req_{}", random(24));
    json!({"type": "error", "error": {"type": kind, "message": words}, "request_id": id})
}
