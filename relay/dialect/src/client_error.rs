//! The relay's own errors, in the shape that each dialect's clients read.

use bytes::{BufMut as _, BytesMut};
use serde::{Serialize, Serializer, ser::SerializeSeq as _};
use shared::Dialect;

/// An error for a client. As it is, it is OpenAI's.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct ClientError<'a> {
    /// What happened and what to do about it.
    pub message: &'a str,
    /// OpenAI's `type`.
    #[serde(rename = "type")]
    pub kind: &'a str,
    /// The field of the request that is wrong.
    pub param: Option<&'a str>,
    /// OpenAI's `code`.
    pub code: Option<&'a str>,
    /// The HTTP status that it has, or would have had before the stream began.
    #[serde(skip)]
    pub status: u16,
    /// The request's id.
    #[serde(skip)]
    pub request_id: &'a str,
    /// What the relay did, for those who know that there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub belay: Option<BelayError<'a>>,
}

/// The relay's part of an error.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct BelayError<'a> {
    /// The request's id.
    pub request_id: &'a str,
    /// How the request, or its last attempt, ended.
    pub outcome: &'a str,
    /// Whether the same request may well succeed later.
    pub recoverable: bool,
    /// Rung and outcome of each attempt, in order; `None` where that is not the client's
    /// business.
    #[serde(serialize_with = "tried", skip_serializing_if = "Option::is_none")]
    pub tried: Option<&'a [(String, &'a str)]>,
}

fn tried<S: Serializer>(
    tried: &Option<&[(String, &str)]>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Attempt<'a> {
        rung: &'a str,
        outcome: &'a str,
    }
    let tried = tried.unwrap_or_default();
    let mut list = serializer.serialize_seq(Some(tried.len()))?;
    for (rung, outcome) in tried {
        list.serialize_element(&Attempt { rung, outcome })?;
    }
    list.end()
}

/// The body of an error answer.
#[must_use]
pub fn error_body(to: Dialect, error: &ClientError<'_>) -> Vec<u8> {
    match to {
        Dialect::AnthropicMessages => anthropic(error),
        Dialect::OpenaiChat | Dialect::OpenaiResponses | Dialect::Gemini => {
            #[derive(Serialize)]
            struct Body<'a> {
                error: &'a ClientError<'a>,
            }
            // Plain text and flags: writing them into memory cannot fail.
            serde_json::to_vec(&Body { error }).unwrap_or_default()
        }
    }
}

/// The error that ends a stream. No terminator follows it. `sequence` is how many events
/// the client has had, where its dialect numbers them.
pub fn error_event(to: Dialect, error: &ClientError<'_>, sequence: u64, out: &mut BytesMut) {
    match to {
        // No `event` line: OpenAI's chat clients look at the data, and some skip events
        // with a name.
        Dialect::OpenaiChat | Dialect::Gemini => {
            out.put_slice(b"data: ");
            out.put_slice(&error_body(to, error));
        }
        // Anthropic's act on the name alone.
        Dialect::AnthropicMessages => {
            out.put_slice(b"event: error\ndata: ");
            out.put_slice(&error_body(to, error));
        }
        // The documented form is flat, and its type knows it; the SDKs raise on `error`.
        Dialect::OpenaiResponses => {
            #[derive(Serialize)]
            struct Event<'a> {
                #[serde(rename = "type")]
                kind: &'static str,
                sequence_number: u64,
                code: Option<&'a str>,
                message: &'a str,
                param: Option<&'a str>,
                error: &'a ClientError<'a>,
            }
            let event = Event {
                kind: "error",
                sequence_number: sequence,
                code: error.code,
                message: error.message,
                param: error.param,
                error,
            };
            out.put_slice(b"event: error\ndata: ");
            out.put_slice(&serde_json::to_vec(&event).unwrap_or_default());
            out.put_slice(b"\n\nevent: response.failed\ndata: ");
            out.put_slice(&failed(error, sequence.saturating_add(1)));
        }
    }
    out.put_slice(b"\n\n");
}

/// The event that ends a response which failed: as at OpenAI it follows the error, and some
/// clients (Codex) know no other.
fn failed(error: &ClientError<'_>, sequence: u64) -> Vec<u8> {
    #[derive(Serialize)]
    struct Event<'a> {
        #[serde(rename = "type")]
        kind: &'static str,
        sequence_number: u64,
        response: Response<'a>,
    }
    #[derive(Serialize)]
    struct Response<'a> {
        id: String,
        object: &'static str,
        status: &'static str,
        error: Inner<'a>,
        incomplete_details: Option<()>,
        output: [(); 0],
        usage: Option<()>,
    }
    #[derive(Serialize)]
    struct Inner<'a> {
        code: &'a str,
        message: &'a str,
    }
    let event = Event {
        kind: "response.failed",
        sequence_number: sequence,
        response: Response {
            id: format!("resp_{}", error.request_id),
            object: "response",
            status: "failed",
            error: Inner { code: error.code.unwrap_or(error.kind), message: error.message },
            incomplete_details: None,
            output: [],
            usage: None,
        },
    };
    serde_json::to_vec(&event).unwrap_or_default()
}

fn anthropic(error: &ClientError<'_>) -> Vec<u8> {
    #[derive(Serialize)]
    struct Body<'a> {
        #[serde(rename = "type")]
        kind: &'static str,
        error: Inner<'a>,
        request_id: &'a str,
    }
    #[derive(Serialize)]
    struct Inner<'a> {
        #[serde(rename = "type")]
        kind: &'static str,
        message: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        details: Option<Details<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        belay: Option<BelayError<'a>>,
    }
    #[derive(Serialize)]
    struct Details<'a> {
        error_code: &'a str,
    }
    let kind = match error.status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        409 => "conflict_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        400..=499 => "invalid_request_error",
        503 | 529 => "overloaded_error",
        504 => "timeout_error",
        _ => "api_error",
    };
    // Anthropic's tool runners ask for a conversation that the provider keeps. Told no in
    // these words they go on with one that they send whole.
    let told = error.code.filter(|code| *code == "thread_unsupported_request");
    let details = told.map(|error_code| Details { error_code });
    let inner = Inner { kind, message: error.message, details, belay: error.belay };
    let body = Body { kind: "error", error: inner, request_id: error.request_id };
    serde_json::to_vec(&body).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<'a>(tried: &'a [(String, &'a str)]) -> ClientError<'a> {
        let belay = BelayError {
            request_id: "req_1",
            outcome: "failed",
            recoverable: true,
            tried: Some(tried),
        };
        ClientError {
            message: "No\nrung answered.",
            kind: "server_error",
            param: None,
            code: Some("overloaded"),
            status: 503,
            request_id: "req_1",
            belay: Some(belay),
        }
    }

    fn event(to: Dialect, error: &ClientError<'_>) -> String {
        let mut out = BytesMut::new();
        error_event(to, error, 7, &mut out);
        String::from_utf8(out.to_vec()).unwrap()
    }

    #[test]
    fn an_error_has_the_shape_of_the_clients_dialect_and_one_key_more() {
        let tried = [("a".to_owned(), "overloaded"), ("b".to_owned(), "junk")];
        let error = error(&tried);
        let belay = concat!(
            r#""belay":{"request_id":"req_1","outcome":"failed","recoverable":true,"#,
            r#""tried":[{"rung":"a","outcome":"overloaded"},{"rung":"b","outcome":"junk"}]}"#
        );
        let message = r#""message":"No\nrung answered.""#;
        let openai = format!(
            r#"{{{message},"type":"server_error","param":null,"code":"overloaded",{belay}}}"#
        );
        assert_eq!(event(Dialect::OpenaiChat, &error), format!("data: {{\"error\":{openai}}}\n\n"));
        assert_eq!(
            event(Dialect::AnthropicMessages, &error),
            format!(
                "event: error\ndata: {}\n\n",
                format_args!(
                    r#"{{"type":"error","error":{{"type":"overloaded_error",{message},{belay}}},"request_id":"req_1"}}"#
                )
            )
        );
        assert_eq!(
            event(Dialect::OpenaiResponses, &error),
            format!(
                "event: error\ndata: {}\n\n",
                format_args!(
                    r#"{{"type":"error","sequence_number":7,"code":"overloaded",{message},"param":null,"error":{openai}}}"#
                )
            ) + &format!(
                "event: response.failed\ndata: {}\n\n",
                format_args!(
                    r#"{{"type":"response.failed","sequence_number":8,"response":{{"id":"resp_req_1","object":"response","status":"failed","error":{{"code":"overloaded",{message}}},"incomplete_details":null,"output":[],"usage":null}}}}"#
                )
            )
        );
        let untold = error.belay.map(|belay| BelayError { tried: None, ..belay });
        let quiet = ClientError { belay: untold, ..error };
        assert!(!event(Dialect::OpenaiChat, &quiet).contains("tried"));
        let bare = ClientError { belay: None, ..error };
        for to in Dialect::ALL {
            assert!(!String::from_utf8(error_body(*to, &bare)).unwrap().contains("belay"));
        }
    }

    #[test]
    fn anthropics_tool_runners_are_told_to_keep_the_conversation_themselves() {
        let of = |code| {
            let error = ClientError { status: 400, code: Some(code), ..error(&[]) };
            let body = error_body(Dialect::AnthropicMessages, &error);
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            body["error"]["details"].clone()
        };
        let told = serde_json::json!({"error_code": "thread_unsupported_request"});
        assert_eq!(of("thread_unsupported_request"), told);
        assert!(of("bad_request").is_null());
    }

    #[test]
    fn anthropics_types_follow_the_status() {
        for (status, kind) in [
            (400, "invalid_request_error"),
            (401, "authentication_error"),
            (404, "not_found_error"),
            (413, "request_too_large"),
            (422, "invalid_request_error"),
            (429, "rate_limit_error"),
            (502, "api_error"),
            (503, "overloaded_error"),
            (504, "timeout_error"),
        ] {
            let error = ClientError { status, ..error(&[]) };
            let body: serde_json::Value =
                serde_json::from_slice(&error_body(Dialect::AnthropicMessages, &error)).unwrap();
            assert_eq!(body["error"]["type"], kind, "{status}");
        }
    }
}
