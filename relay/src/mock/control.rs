//! `/mock`: the hand on the mock, and the view into it.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::StatusCode;

use super::fault::{BadFault, FaultSpec};
use super::log::Report;
use super::record::Record;
use super::refusal::Refusal;
use super::state::Shared;

/// `GET /mock`.
pub(super) async fn report(State(shared): State<Arc<Shared>>) -> Json<Report> {
    Json(shared.report())
}

/// `GET /mock/requests`.
pub(super) async fn requests(State(shared): State<Arc<Shared>>) -> Json<Vec<Record>> {
    Json(shared.records())
}

/// `PUT /mock/fault`; answers with the state that follows.
pub(super) async fn put_fault(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match read(&body) {
        Ok(spec) => {
            tracing::info!(mock = shared.options.name, fault = spec.fault.name(), "fault set");
            shared.set_fault(Some(spec));
            Json(shared.report()).into_response()
        }
        Err(bad) => {
            let refusal = Refusal::bad_request(Some("fault"), &bad.to_string());
            (StatusCode::BAD_REQUEST, Json(refusal.body)).into_response()
        }
    }
}

fn read(body: &[u8]) -> Result<FaultSpec, BadFault> {
    let value = serde_json::from_slice(body).map_err(|e| BadFault::new(e.to_string()))?;
    FaultSpec::from_json(value)
}

/// `DELETE /mock/fault`; answers with the state that follows.
pub(super) async fn delete_fault(State(shared): State<Arc<Shared>>) -> Json<Report> {
    shared.set_fault(None);
    Json(shared.report())
}

/// `POST /mock/reset`: no fault, no counts, no log; open answers go on.
pub(super) async fn reset(State(shared): State<Arc<Shared>>) -> Json<Report> {
    shared.reset();
    Json(shared.report())
}
