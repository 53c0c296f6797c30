//! The bodies of calls that change something: JSON, small, and said to be JSON.
//!
//! A page in a browser can send a form or plain text to anybody; that it cannot send
//! `application/json` unasked is what keeps it from changing anything here.

use super::problem::Problem;
use axum::extract::{FromRequest, Request};
use http::{StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// Enough for every rung of a large config by name.
const MOST: usize = 64 * 1024;
const LONGEST: Duration = Duration::from_secs(10);

/// A body that was read as a `T`.
#[derive(Debug)]
pub(super) struct Wanted<T>(pub(super) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Wanted<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|value| value.to_str().ok()).unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            return Err(Problem::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "What changes something is JSON: send it with 'Content-Type: application/json'.",
            ));
        }
        let reading = Limited::new(request.into_body(), MOST).collect();
        let body = match tokio::time::timeout(LONGEST, reading).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                let message =
                    format!("The body is longer than {MOST} bytes. Send several changes.");
                return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, message));
            }
            Ok(Err(_)) => {
                return Err(Problem::new(
                    StatusCode::BAD_REQUEST,
                    "The body broke off. Send it again.",
                ));
            }
            Err(_) => {
                let message = "The body did not come within 10 s. Send it again.";
                return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, message));
            }
        };
        // A list would be read as the fields in their order, whatever was meant by it.
        if body.trim_ascii_start().first() != Some(&b'{') {
            let message =
                "The body is not what this call takes: it is a JSON object. Nothing was changed.";
            return Err(Problem::new(StatusCode::BAD_REQUEST, message));
        }
        serde_json::from_slice(&body).map(Self).map_err(|error| {
            let message =
                format!("The body is not what this call takes: {error}. Nothing was changed.");
            Problem::new(StatusCode::BAD_REQUEST, message)
        })
    }
}
