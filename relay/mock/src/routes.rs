//! Which handler each path has.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use http::{Method, StatusCode, Uri};
use serde_json::{Value, json};

use super::chat::refusal::bad_request;
use super::state::Shared;
use super::{control, handle};

/// Large, because a prompt may contain pictures.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// All paths of a mock.
pub(super) fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/chat/completions", post(handle::chat))
        .route("/v1/messages", post(handle::messages))
        .route("/v1/responses", post(handle::responses))
        .route("/v1beta/models/{call}", post(handle::gemini))
        .route("/v1/models/{call}", post(handle::gemini))
        .route("/v1/models", get(models))
        .route("/healthz", get(|| async { "ok" }))
        .route("/mock", get(control::report))
        .route("/mock/requests", get(control::requests))
        .route("/mock/fault", put(control::put_fault).delete(control::delete_fault))
        .route("/mock/answer", put(control::put_answer).delete(control::delete_answer))
        .route("/mock/reset", post(control::reset))
        .fallback(|method: Method, uri: Uri| async move {
            let words = format!("Invalid URL ({method} {})", uri.path());
            let body = bad_request(None, &words).body;
            (StatusCode::NOT_FOUND, Json(body))
        })
        .method_not_allowed_fallback(not_allowed)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(shared)
}

async fn models(State(shared): State<Arc<Shared>>) -> Json<Value> {
    let options = &shared.options;
    let model = json!({
        "id": options.name, "object": "model", "created": options.created(),
        "owned_by": "belay-mock",
    });
    Json(json!({"object": "list", "data": [model]}))
}

async fn not_allowed(method: Method, uri: Uri) -> Response {
    let words = format!("Not allowed to {method} on {}.", uri.path());
    let body = bad_request(None, &words).body;
    (StatusCode::METHOD_NOT_ALLOWED, Json(body)).into_response()
}
