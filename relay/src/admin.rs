//! The admin plane: what on-call engineers and their tools call.
//!
//! It reads: readiness, numbers, the board and the feed, and what the journal has of
//! requests, transitions and minutes. A viewer's token is enough for all of it.

mod board;
mod feed;
mod limiter;
mod metrics;
mod past;
mod requests;
mod tokens;

use crate::config::Admin;
use crate::drive::{Drain, Peer, Relay};
use crate::listen::Guard;
use crate::wall;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::{HeaderValue, StatusCode, header};
use std::sync::Arc;
use std::time::Duration;
use tokens::Gate;

/// An error of the admin API.
#[derive(Debug)]
struct Problem {
    status: StatusCode,
    message: String,
    /// When it is worth asking again.
    retry_after: Option<Duration>,
}

impl Problem {
    /// A parameter that a call does not have, and those that it has.
    fn unknown(known: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("Unknown filter. These are known: {known}."))
    }

    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": { "message": self.message } });
        let mut response = (self.status, Json(body)).into_response();
        if let Some(wait) = self.retry_after {
            let seconds = HeaderValue::from(wait.as_secs().max(1));
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

/// The admin plane's routes.
pub fn router(relay: &Arc<Relay>, admin: &Admin) -> Router {
    let guard = Guard {
        keyed: !admin.tokens.is_empty(),
        origins: Arc::new([]),
        refuse: |foreign| Problem::new(StatusCode::FORBIDDEN, foreign.advice()).into_response(),
    };
    let gate = Arc::new(Gate::new(admin.tokens.clone()));
    let api = Router::new()
        .route("/metrics", get(metrics::page))
        .route("/admin/v1/requests", get(requests::list))
        .route("/admin/v1/requests/{id}", get(requests::one))
        .route("/admin/v1/board", get(board::show))
        .route("/admin/v1/feed", get(feed::open))
        .route("/admin/v1/transitions", get(past::transitions))
        .route("/admin/v1/series", get(past::series))
        .route("/admin/v1/summary", get(past::summary))
        .layer(middleware::from_fn(move |mut request: Request, next: Next| {
            let peer = request.extensions().get::<Arc<Peer>>();
            let address = peer.and_then(|peer| peer.address());
            let allowed = gate.pass(request.headers(), address, wall::now());
            async move {
                match allowed {
                    Ok(you) => {
                        request.extensions_mut().insert(you);
                        next.run(request).await
                    }
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
                "There is nothing at this path. The admin API has board, feed, requests, \
                 transitions, series and summary below /admin/v1/, and numbers for Prometheus at \
                 /metrics.",
            )
        })
        .method_not_allowed_fallback(async || {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "This path is only read, with GET.")
        })
        .layer(middleware::from_fn(move |request, next| guard.clone().pass(request, next)))
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
