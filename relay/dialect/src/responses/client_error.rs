//! Writes the relay's own errors for clients of OpenAI's responses.

use crate::errors::client_error::ClientError;
use bytes::{BufMut as _, BytesMut};
use serde::Serialize;

/// Writes the error that ends a stream. The documented form is flat and is recognised by its type;
/// the SDKs raise on the member `error`.
pub(crate) fn error_event(error: &ClientError<'_>, sequence: u64, out: &mut BytesMut) {
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
    out.put_slice(b"\n\n");
}

/// The event that ends a response that failed: as at OpenAI it follows the error, and some clients
/// (Codex) know no other error event.
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
