//! Google's error responses.

use serde_json::{Value, json};

use super::super::dialect::Refusal;

/// 400: the request is wrong, and `field` is the field to blame.
pub(super) fn bad_request(field: Option<&str>, words: &str) -> Refusal {
    let violation = |field| json!([{"field": field, "description": words}]);
    let details = field.map(|field| {
        json!([{
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": violation(field),
        }])
    });
    Refusal { status: 400, body: error(400, "INVALID_ARGUMENT", words, details) }
}

/// 400: a name that Google's schema does not have.
pub(super) fn unknown(name: &str, place: &str) -> Refusal {
    let at = if place.is_empty() { String::new() } else { format!(" at '{place}'") };
    let words =
        format!("Invalid JSON payload received. Unknown name \"{name}\"{at}: Cannot find field.");
    bad_request(Some(place), &words)
}

/// 403: the request has no key.
pub(super) fn no_key() -> Refusal {
    let words = "Method doesn't allow unregistered callers (callers without established \
                 identity). Please use API Key or other form of API consumer identity to call \
                 this API.";
    Refusal { status: 403, body: error(403, "PERMISSION_DENIED", words, None) }
}

/// The error that Google sends with a status; a rate limit and an overload say when to try again.
pub(super) fn of_status(status: u16, retry_after: Option<&str>) -> Refusal {
    let (name, words) = match status {
        401 => ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
        403 => ("PERMISSION_DENIED", "Your API key is not allowed to use this model."),
        404 => ("NOT_FOUND", "The model is not found for API version v1beta."),
        429 => (
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details.",
        ),
        400..=499 => ("INVALID_ARGUMENT", "Request contains an invalid argument."),
        503 => ("UNAVAILABLE", "The model is overloaded. Please try again later."),
        504 => ("DEADLINE_EXCEEDED", "The request timed out. Please try again."),
        _ => ("INTERNAL", "An internal error has occurred. Please retry."),
    };
    let usual = matches!(status, 429 | 503).then_some("20");
    let details = retry_after.or(usual).map(|seconds| {
        json!([{
            "@type": "type.googleapis.com/google.rpc.RetryInfo",
            "retryDelay": format!("{seconds}s"),
        }])
    });
    Refusal { status, body: error(status, name, words, details) }
}

/// An error in place of an answer, or within one.
pub(super) fn error_body(kind: &str, message: &str) -> Value {
    let (code, status) = match kind {
        "server_error" => (500, "INTERNAL".into()),
        "overloaded" => (503, "UNAVAILABLE".into()),
        "rate_limit_exceeded" => (429, "RESOURCE_EXHAUSTED".into()),
        "invalid_request_error" => (400, "INVALID_ARGUMENT".into()),
        other => (500, other.to_uppercase()),
    };
    error(code, &status, message, None)
}

fn error(code: u16, status: &str, words: &str, details: Option<Value>) -> Value {
    let mut error = json!({"code": code, "message": words, "status": status});
    if let (Some(details), Some(fields)) = (details, error.as_object_mut()) {
        fields.insert("details".into(), details);
    }
    json!({ "error": error })
}
