//! The one part of a path that names something: a rung, a ladder, an id.

use super::problem::Problem;
use axum::extract::{FromRequestParts, Path};
use http::StatusCode;
use http::request::Parts;

/// A name or an id. What cannot be text is refused in this API's own shape.
#[derive(Debug)]
pub(super) struct Part(pub(super) String);

impl<S: Send + Sync> FromRequestParts<S> for Part {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Path::<String>::from_request_parts(parts, state).await {
            Ok(Path(name)) => Ok(Self(name)),
            Err(_) => Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "The name in the path is not UTF-8. Send it as it is in the config, percent-encoded.",
            )),
        }
    }
}
