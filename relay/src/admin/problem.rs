//! An error of the admin API, and the status that it is told with.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use policy::operator::{RefusalKind, Refused};
use shared::admin::changes::{Refusal, RefusalDetail};
use std::time::Duration;

/// An error of the admin API.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) detail: Box<RefusalDetail>,
    /// When it is worth asking again.
    pub(super) retry_after: Option<Duration>,
}

impl Problem {
    /// A parameter that a call does not have, and those that it has.
    pub(super) fn unknown(known: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("Unknown filter. These are known: {known}."))
    }

    pub(super) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let detail = RefusalDetail { message: message.into(), ..RefusalDetail::default() };
        Self { status, detail: Box::new(detail), retry_after: None }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let status = match refused.kind {
            RefusalKind::Wrong => StatusCode::BAD_REQUEST,
            RefusalKind::Unknown => StatusCode::NOT_FOUND,
            RefusalKind::Conflict => StatusCode::CONFLICT,
            RefusalKind::Version => StatusCode::PRECONDITION_FAILED,
            RefusalKind::NeedsVersion => StatusCode::PRECONDITION_REQUIRED,
        };
        Self { status, detail: refused.detail, retry_after: None }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(Refusal { error: *self.detail })).into_response();
        if let Some(wait) = self.retry_after {
            let seconds = HeaderValue::from(wait.as_secs().max(1));
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}
