//! The data plane: what chat frontends call.
//!
//! Thin handlers: what is wrong with a request is said here, what becomes of a
//! right one is its driver's business.

mod answer;
mod completions;
mod decode;
mod keys;
mod reject;

#[cfg(test)]
mod tests;

use crate::dialect::openai_chat::models_body;
use crate::drive::{Relay, set_id};
use crate::listen::Guard;
use crate::wall;
use axum::Router;
use axum::extract::State;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::{HeaderMap, StatusCode, Uri, header};
use reject::Rejection;
use shared::Dialect;
use std::sync::Arc;

/// The data plane's routes.
pub fn router(relay: &Arc<Relay>) -> Router {
    let guarding = Arc::clone(relay);
    let guard = move || {
        let in_force = guarding.in_force();
        Guard {
            relay: Arc::clone(&guarding),
            keyed: !in_force.config.clients.is_empty(),
            origins: Arc::clone(&in_force.origins),
            refuse: |foreign| {
                Rejection::new(foreign.status(), foreign.code(), foreign.advice()).into_response()
            },
        }
    };
    Router::new()
        .route("/v1/chat/completions", post(completions::chat))
        .route("/v1/messages", post(completions::messages))
        .route("/v1/responses", post(completions::responses))
        .route("/v1/models", get(models))
        .route("/healthz", get(healthy))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn(move |request, next| guard().pass(request, next)))
        .layer(middleware::map_response(with_id))
        .with_state(Arc::clone(relay))
}

async fn models(State(relay): State<Arc<Relay>>, headers: HeaderMap) -> Response {
    let in_force = relay.in_force();
    let client = match keys::client(&in_force.config.clients, &headers) {
        Ok(client) => client,
        Err(rejection) => return rejection.into_response(),
    };
    let names = in_force
        .ladders
        .iter()
        .enumerate()
        .filter_map(|(index, ladder)| keys::may_use(client, index).then_some(&*ladder.name));
    let body = models_body(names, relay.started);
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// Whoever reports an answer can name it.
async fn with_id(mut response: Response) -> Response {
    if !response.headers().contains_key(header::HeaderName::from_static("x-request-id")) {
        set_id(response.headers_mut(), &wall::request_id().to_string());
    }
    response
}

async fn healthy() -> &'static str {
    "ok\n"
}

async fn unknown_path(uri: Uri) -> Rejection {
    let dialect = if uri.path().starts_with("/v1/messages") {
        Dialect::AnthropicMessages
    } else {
        Dialect::OpenaiChat
    };
    Rejection::new(
        StatusCode::NOT_FOUND,
        "unknown_path",
        "This relay serves POST /v1/chat/completions, /v1/messages and /v1/responses, and \
         GET /v1/models. Set your SDK's base URL to this address: with /v1 at its end for \
         OpenAI's SDKs, without for Anthropic's.",
    )
    .to(dialect)
}

async fn wrong_method() -> Rejection {
    Rejection::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "Wrong method for this path: completions are POSTed, models are read with GET.",
    )
}
