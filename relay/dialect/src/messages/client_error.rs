//! Writes the relay's own errors for Anthropic's clients.

use crate::errors::client_error::{BelayError, ClientError};
use bytes::{BufMut as _, BytesMut};
use serde::Serialize;

/// Writes the error that ends a stream. Clients look only at the event's name.
pub(crate) fn error_event(error: &ClientError<'_>, out: &mut BytesMut) {
    out.put_slice(b"event: error\ndata: ");
    out.put_slice(&error_body(error));
    out.put_slice(b"\n\n");
}

/// The body of an error answer.
pub(crate) fn error_body(error: &ClientError<'_>) -> Vec<u8> {
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
    // Anthropic's tool runners ask for a conversation that the provider keeps. If they are refused
    // with this code, they send the whole conversation instead.
    let told = error.code.filter(|code| *code == "thread_unsupported_request");
    let details = told.map(|error_code| Details { error_code });
    let inner = Inner { kind, message: error.message, details, belay: error.belay };
    let body = Body { kind: "error", error: inner, request_id: error.request_id };
    serde_json::to_vec(&body).unwrap_or_default()
}
