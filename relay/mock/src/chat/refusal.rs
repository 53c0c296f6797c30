//! OpenAI's error responses.

use serde_json::{Value, json};

use super::super::dialect::Refusal;

/// A refusal in OpenAI's shape.
pub(crate) fn refusal(
    status: u16,
    kind: &str,
    param: Option<&str>,
    code: Option<&str>,
    words: &str,
) -> Refusal {
    Refusal { status, body: error(words, kind, param, code) }
}

/// 400: the request is wrong, and `param` is the field to blame.
pub(crate) fn bad_request(param: Option<&str>, words: &str) -> Refusal {
    refusal(400, "invalid_request_error", param, None, words)
}

/// 400: the prompt is longer than the model's context.
pub(crate) fn context_exceeded() -> Refusal {
    let words = "This model's maximum context length is 8192 tokens. However, your messages \
                 resulted in 10467 tokens. Please reduce the length of the messages.";
    let code = Some("context_length_exceeded");
    refusal(400, "invalid_request_error", Some("messages"), code, words)
}

/// The error that OpenAI sends with a status.
pub(crate) fn of_status(status: u16) -> Refusal {
    let (kind, code, words) = match status {
        401 => (
            "invalid_request_error",
            Some("invalid_api_key"),
            "Incorrect API key provided. You can find your API key at \
             https://platform.openai.com/account/api-keys.",
        ),
        403 => (
            "invalid_request_error",
            Some("unsupported_country_region_territory"),
            "Country, region, or territory not supported",
        ),
        404 => (
            "invalid_request_error",
            Some("model_not_found"),
            "The model does not exist or you do not have access to it.",
        ),
        429 => (
            "requests",
            Some("rate_limit_exceeded"),
            "Rate limit reached for requests. Please try again in 20s.",
        ),
        503 => ("server_error", None, "The engine is currently overloaded, please try again later"),
        400..=499 => ("invalid_request_error", None, "The request could not be processed."),
        _ => (
            "server_error",
            None,
            "The server had an error while processing your request. Sorry about that!",
        ),
    };
    refusal(status, kind, None, code, words)
}

/// An error in place of an answer, or within one. A kind that ends in `_error` is a type. Any other
/// kind (`overloaded`, `rate_limit_exceeded`) is a code, which is also used as the type.
pub(crate) fn error_body(kind: &str, message: &str) -> Value {
    let code = (!kind.ends_with("_error")).then_some(kind);
    error(message, kind, None, code)
}

/// OpenAI's error object.
fn error(words: &str, kind: &str, param: Option<&str>, code: Option<&str>) -> Value {
    json!({"error": {"message": words, "type": kind, "param": param, "code": code}})
}
