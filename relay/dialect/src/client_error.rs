//! Writes the relay's own errors in the client's dialect.

pub use crate::errors::client_error::{BelayError, ClientError};

use crate::table;
use bytes::BytesMut;
use shared::Dialect;

/// The body of an error answer.
#[must_use]
pub fn error_body(to: Dialect, error: &ClientError<'_>) -> Vec<u8> {
    table::client(to).error_body(error)
}

/// Writes the error that ends a stream. No terminator follows it. `sequence` is how many events the
/// client has got, if its dialect numbers them.
pub fn error_event(to: Dialect, error: &ClientError<'_>, sequence: u64, out: &mut BytesMut) {
    table::client(to).error_event(error, sequence, out);
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
