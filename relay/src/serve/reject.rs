//! Refusals that the server makes by itself, before any provider is called.

use crate::drive::{AskAgain, Reply, error_reply};
use crate::wall;
use axum::response::{IntoResponse, Response};
use dialect::client_error::ClientError;
use dialect::request::Reject;
use http::{HeaderValue, StatusCode, header};
use shared::{Dialect, RequestId};
use std::time::Duration;

/// A request that is answered with an error at once.
#[derive(Debug)]
pub(super) struct Rejection {
    pub(super) id: RequestId,
    pub(super) status: StatusCode,
    pub(super) code: &'static str,
    message: String,
    param: Option<String>,
    retry_after: Option<Duration>,
    /// What the client speaks. Default OpenAI's: of an unknown path nothing is known.
    dialect: Dialect,
}

impl Rejection {
    pub(super) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            id: wall::request_id(),
            status,
            code,
            message: message.into(),
            param: None,
            retry_after: None,
            dialect: Dialect::OpenaiChat,
        }
    }

    pub(super) fn of(reject: Reject) -> Self {
        let status = StatusCode::from_u16(reject.status).unwrap_or(StatusCode::BAD_REQUEST);
        let code = reject.code.unwrap_or("invalid_request");
        Self { param: reject.param, ..Self::new(status, code, reject.message) }
    }

    pub(super) fn too_large(limit: usize) -> Self {
        Self::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "request_too_large",
            format!(
                "The request is over {limit} bytes, which is all that server.max_body allows. \
                 Shorten it, or send links instead of data."
            ),
        )
    }

    pub(super) fn about(self, param: &str) -> Self {
        Self { param: Some(param.to_owned()), ..self }
    }

    pub(super) fn with_id(self, id: RequestId) -> Self {
        Self { id, ..self }
    }

    pub(super) fn to(self, dialect: Dialect) -> Self {
        Self { dialect, ..self }
    }

    pub(super) fn retry_after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }
}

impl IntoResponse for Rejection {
    fn into_response(self) -> Response {
        let kind = match self.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::SERVICE_UNAVAILABLE => "server_error",
            _ => "invalid_request_error",
        };
        let id = self.id.to_string();
        let error = ClientError {
            message: &self.message,
            kind,
            param: self.param.as_deref(),
            code: Some(self.code),
            status: self.status.as_u16(),
            request_id: &id,
            belay: None,
        };
        // Nobody knows the ladder yet: the shorter sleep is the safe one.
        let again = self.retry_after.map(|after| AskAgain { after, interactive: true });
        let mut response = respond(error_reply(self.dialect, &error, again));
        if self.status == StatusCode::PAYLOAD_TOO_LARGE {
            // The rest of it is not read: the next request needs another connection.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

/// A whole answer as an HTTP response.
pub(super) fn respond(reply: Reply) -> Response {
    let mut response = Response::new(axum::body::Body::from(reply.body));
    *response.status_mut() =
        StatusCode::from_u16(reply.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    *response.headers_mut() = reply.headers;
    response
}
