//! The data plane: what chat frontends call.
//!
//! Thin handlers: wrong requests are refused here, what becomes of a
//! right one is its driver's business.

mod answer;
mod body;
mod completions;
mod count_tokens;
mod decode;
mod keys;
mod models;
mod reject;

#[cfg(test)]
mod tests;

use crate::drive::{Hub, set_id};
use crate::listen::Guard;
use crate::wall;
use axum::middleware;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Extension, Router};
use dialect::request::Endpoint;
use http::{StatusCode, Uri, header};
use reject::Rejection;
use shared::Dialect;
use std::sync::Arc;

/// What there is, for whoever calls something else.
const CALLS: &[(&str, &str)] = &[
    ("POST", "/v1/chat/completions"),
    ("POST", "/v1/messages"),
    ("POST", "/v1/messages/count_tokens"),
    ("POST", "/v1/responses"),
    ("POST", "/v1/completions"),
    ("POST", "/v1/embeddings"),
    ("POST", "/v1/moderations"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/{model}"),
    ("GET", "/healthz"),
];

/// A route whose answers pass through.
fn through(endpoint: Endpoint) -> MethodRouter<Arc<Hub>> {
    post(completions::through).layer(Extension(endpoint))
}

/// The data plane's routes.
pub fn router(relay: &Arc<Hub>) -> Router {
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
        .route("/v1/messages/count_tokens", post(count_tokens::count_tokens))
        .route("/v1/completions", through(Endpoint::Completions))
        .route("/v1/embeddings", through(Endpoint::Embeddings))
        .route("/v1/moderations", through(Endpoint::Moderations))
        .route("/v1/models", get(models::all))
        .route("/v1/models/", get(models::all))
        .route("/v1/models/{*name}", get(models::one))
        .route("/healthz", get(healthy))
        .route("/health", get(healthy))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn(move |request, next| guard().pass(request, next)))
        .layer(middleware::map_response(with_id))
        .with_state(Arc::clone(relay))
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
    let calls: Vec<String> =
        CALLS.iter().map(|(method, path)| format!("{method} {path}")).collect();
    Rejection::new(
        StatusCode::NOT_FOUND,
        "unknown_path",
        format!(
            "There is nothing at this path. This relay serves {}. Set your SDK's base URL to this \
             address: with /v1 at its end for OpenAI's SDKs, without for Anthropic's.",
            calls.join(", ")
        ),
    )
    .to(dialect_of(&uri))
}

async fn wrong_method(uri: Uri) -> Rejection {
    let path = uri.path().trim_end_matches('/');
    let right = CALLS.iter().find(|(_, known)| *known == path).map_or("GET", |(method, _)| method);
    Rejection::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        format!("Wrong method for this path: use {right}."),
    )
    .to(dialect_of(&uri))
}

/// Whose client asks, as far as the path tells.
fn dialect_of(uri: &Uri) -> Dialect {
    if uri.path().starts_with("/v1/messages") {
        Dialect::AnthropicMessages
    } else {
        Dialect::OpenaiChat
    }
}
