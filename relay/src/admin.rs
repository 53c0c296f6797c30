//! The admin plane: what on-call engineers and their tools call.
//!
//! So far it reads: readiness, numbers, and the journal's requests. Changes come
//! with an issue of their own.

mod metrics;
mod requests;
mod tokens;

use crate::drive::{Drain, Relay};
use crate::listen::Guard;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::StatusCode;
use std::sync::Arc;

/// An error of the admin API.
#[derive(Debug)]
struct Problem {
    status: StatusCode,
    message: String,
}

impl Problem {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": { "message": self.message } });
        (self.status, Json(body)).into_response()
    }
}

/// The admin plane's routes.
pub fn router(relay: &Arc<Relay>) -> Router {
    let guarding = Arc::clone(relay);
    let guard = move || Guard {
        keyed: !guarding.in_force().config.admin.tokens.is_empty(),
        origins: Arc::new([]),
        refuse: |foreign| Problem::new(StatusCode::FORBIDDEN, foreign.advice()).into_response(),
    };
    let checking = Arc::clone(relay);
    let api = Router::new()
        .route("/metrics", get(metrics::page))
        .route("/admin/v1/requests", get(requests::list))
        .route("/admin/v1/requests/{id}", get(requests::one))
        .layer(middleware::from_fn(move |request: Request, next: Next| {
            let in_force = checking.in_force();
            let allowed = tokens::check(&in_force.config.admin.tokens, request.headers());
            async move {
                match allowed {
                    Ok(()) => next.run(request).await,
                    Err(problem) => problem.into_response(),
                }
            }
        }));
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(ready))
        .merge(api)
        .fallback(async || {
            Problem::new(
                StatusCode::NOT_FOUND,
                "There is nothing at this path. The admin API is at /admin/v1/requests, \
                 numbers for Prometheus at /metrics.",
            )
        })
        .method_not_allowed_fallback(async || {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "This path is only read, with GET.")
        })
        .layer(middleware::from_fn(move |request, next| guard().pass(request, next)))
        .with_state(Arc::clone(relay))
}

async fn ready(State(relay): State<Arc<Relay>>) -> Response {
    let draining = relay.drain() != Drain::Serving;
    let journal = relay.journal.health();
    let status = if draining { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    // A sick journal does not stop the relay, so it does not make it unready either.
    let body = serde_json::json!({
        "ready": !draining,
        "streams": relay.running(),
        "config": relay.config_state(),
        "journal": {
            "ok": journal.ok,
            "queue": journal.queue,
            "lost": journal.lost,
            "late": journal.late,
            "lag_ms": journal.lag_ms,
            "error": journal.error,
        },
    });
    (status, Json(body)).into_response()
}
