//! `GET /metrics`: numbers for Prometheus.

use super::openapi::refusals::Gated;
use super::problem::Problem;
use crate::drive::Hub;
use crate::drive::gauges::gauges;
use crate::metrics::Format;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, header};
use shared::admin::changes::Refusal;
use std::sync::Arc;

/// Numbers for Prometheus
///
/// OpenMetrics, too, for who asks with `Accept`.
#[utoipa::path(
    get, path = "/metrics", tag = "process", operation_id = "metrics",
    responses(
        (status = 200, description = "The page.", content(
            (String = "text/plain"),
            (String = "application/openmetrics-text"),
        )),
        (status = 500, description = "The numbers could not be written.", body = Refusal),
        Gated,
    ),
)]
pub(super) async fn page(
    State(relay): State<Arc<Hub>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    let format = Format::accepted(accept);
    let page = relay.metrics.text(&gauges(&relay), format).map_err(|_error| {
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The numbers could not be written as text. Report this; requests are not affected.",
        )
    })?;
    Ok(([(header::CONTENT_TYPE, format.content_type())], page).into_response())
}
