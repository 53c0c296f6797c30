//! What OpenAI says when it says no.

use serde_json::{Value, json};

/// A status and a body in OpenAI's shape.
#[derive(Debug)]
pub(super) struct Refusal {
    /// The status.
    pub(super) status: u16,
    /// The body.
    pub(super) body: Value,
}

impl Refusal {
    fn new(status: u16, kind: &str, param: Option<&str>, code: Option<&str>, words: &str) -> Self {
        Self { status, body: error(words, kind, param, code) }
    }

    /// 400: the request is wrong, and here is where.
    pub(super) fn bad_request(param: Option<&str>, words: &str) -> Self {
        Self::new(400, "invalid_request_error", param, None, words)
    }

    /// 400: more prompt than the model can hold.
    pub(super) fn context_exceeded() -> Self {
        let words = "This model's maximum context length is 8192 tokens. However, your messages \
                     resulted in 10467 tokens. Please reduce the length of the messages.";
        let code = Some("context_length_exceeded");
        Self::new(400, "invalid_request_error", Some("messages"), code, words)
    }

    /// 400: a server from before `stream_options`.
    pub(super) fn no_stream_options() -> Self {
        Self::bad_request(None, "Unrecognized request argument supplied: stream_options")
    }

    /// What goes with a status.
    pub(super) fn of_status(status: u16) -> Self {
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
            503 => {
                ("server_error", None, "The engine is currently overloaded, please try again later")
            }
            400..=499 => ("invalid_request_error", None, "The request could not be processed."),
            _ => (
                "server_error",
                None,
                "The server had an error while processing your request. Sorry about that!",
            ),
        };
        Self::new(status, kind, None, code, words)
    }
}

/// OpenAI's error object.
pub(super) fn error(words: &str, kind: &str, param: Option<&str>, code: Option<&str>) -> Value {
    json!({"error": {"message": words, "type": kind, "param": param, "code": code}})
}
