//! `/mock`: the calls that control the mock and show what it saw.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::StatusCode;
use serde_json::Value;

use super::chat::refusal::bad_request;
use super::fault::{BadFault, FaultSpec};
use super::log::Report;
use super::record::Record;
use super::state::Shared;
use super::wish::Wish;

/// `GET /mock`.
pub(super) async fn report(State(shared): State<Arc<Shared>>) -> Json<Report> {
    Json(shared.report())
}

/// `GET /mock/requests`.
pub(super) async fn requests(State(shared): State<Arc<Shared>>) -> Json<Vec<Record>> {
    Json(shared.records())
}

/// `PUT /mock/fault`; answers with the new state.
pub(super) async fn put_fault(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match json(&body).and_then(FaultSpec::from_json) {
        Ok(spec) => {
            tracing::info!(mock = shared.options.name, fault = spec.fault.name(), "fault set");
            shared.set_fault(Some(spec));
            Json(shared.report()).into_response()
        }
        Err(bad) => refused("fault", &bad),
    }
}

/// `PUT /mock/answer`; answers with the new state.
pub(super) async fn put_answer(State(shared): State<Arc<Shared>>, body: Bytes) -> Response {
    match json(&body).and_then(Wish::from_json) {
        Ok(wish) => {
            tracing::info!(mock = shared.options.name, "answer set");
            shared.set_answer(Some(wish));
            Json(shared.report()).into_response()
        }
        Err(bad) => refused("answer", &bad),
    }
}

fn json(body: &[u8]) -> Result<Value, BadFault> {
    serde_json::from_slice(body).map_err(|e| BadFault::new(e.to_string()))
}

fn refused(what: &str, bad: &BadFault) -> Response {
    let refusal = bad_request(Some(what), &bad.to_string());
    (StatusCode::BAD_REQUEST, Json(refusal.body)).into_response()
}

/// `DELETE /mock/answer`; answers with the new state.
pub(super) async fn delete_answer(State(shared): State<Arc<Shared>>) -> Json<Report> {
    shared.set_answer(None);
    Json(shared.report())
}

/// `DELETE /mock/fault`; answers with the new state.
pub(super) async fn delete_fault(State(shared): State<Arc<Shared>>) -> Json<Report> {
    shared.set_fault(None);
    Json(shared.report())
}

/// `POST /mock/reset`: no fault, no wish, no counts, no log; open answers go on.
pub(super) async fn reset(State(shared): State<Arc<Shared>>) -> Json<Report> {
    shared.reset();
    Json(shared.report())
}
