//! The admin plane: what on-call engineers and their tools call.
//!
//! It reads: readiness, numbers, the board and the feed, and what the journal has of
//! requests, transitions, minutes and actions; a viewer's token is enough for all of it.
//! And it changes: overrides, orders, probes, checks, notes, for whoever has an operator's
//! token. Who may change what, in which words it is asked and with which status it is
//! refused stands here; what a change is and whether it is made is the drive's affair.

mod actions;
mod board;
mod body;
mod changes;
mod deeds;
mod feed;
mod limiter;
mod metrics;
mod past;
mod requests;
mod tokens;

use crate::drive::{Drain, Peer, Refused, RefusedWhy, Relay};
use crate::listen::Guard;
use crate::wall;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use http::{HeaderValue, StatusCode, header};
use shared::admin::changes::{Refusal, RefusalDetail};
use std::sync::Arc;
use std::time::Duration;
use tokens::Gate;

/// An error of the admin API.
#[derive(Debug)]
struct Problem {
    status: StatusCode,
    detail: Box<RefusalDetail>,
    /// When it is worth asking again.
    retry_after: Option<Duration>,
}

impl Problem {
    /// A parameter that a call does not have, and those that it has.
    fn unknown(known: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("Unknown filter. These are known: {known}."))
    }

    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let detail = RefusalDetail { message: message.into(), ..RefusalDetail::default() };
        Self { status, detail: Box::new(detail), retry_after: None }
    }
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let status = match refused.why {
            RefusedWhy::Wrong => StatusCode::BAD_REQUEST,
            RefusedWhy::Unknown => StatusCode::NOT_FOUND,
            RefusedWhy::Conflict => StatusCode::CONFLICT,
            RefusedWhy::Version => StatusCode::PRECONDITION_FAILED,
            RefusedWhy::NeedsVersion => StatusCode::PRECONDITION_REQUIRED,
        };
        Self { status, detail: refused.detail, retry_after: None }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(Refusal { error: *self.detail })).into_response();
        if let Some(wait) = self.retry_after {
            let seconds = HeaderValue::from(wait.as_secs().max(1));
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
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
    let gate = Arc::new(Gate::default());
    let checking = Arc::clone(relay);
    let api = Router::new()
        .route("/metrics", get(metrics::page))
        .route("/admin/v1/requests", get(requests::list))
        .route("/admin/v1/requests/{id}", get(requests::one))
        .route("/admin/v1/board", get(board::show))
        .route("/admin/v1/feed", get(feed::open))
        .route("/admin/v1/transitions", get(past::transitions))
        .route("/admin/v1/series", get(past::series))
        .route("/admin/v1/summary", get(past::summary))
        .route("/admin/v1/changes", post(changes::change))
        .route("/admin/v1/preview", post(changes::preview))
        .route(
            "/admin/v1/rungs/{rung}/override",
            get(changes::override_now).put(changes::put_override).delete(changes::end_override),
        )
        .route(
            "/admin/v1/ladders/{ladder}/order",
            get(changes::order_now).put(changes::put_order).delete(changes::end_order),
        )
        .route("/admin/v1/rungs/{rung}/probe", post(deeds::probe))
        .route("/admin/v1/rungs/{rung}/check", post(deeds::check))
        .route("/admin/v1/notes", post(deeds::note))
        .route("/admin/v1/notes/{id}", delete(deeds::end_note))
        .route("/admin/v1/actions", get(actions::list))
        .route("/admin/v1/actions/{id}", get(actions::one))
        .route("/admin/v1/actions/{id}/undo", post(deeds::undo))
        .layer(middleware::from_fn(move |mut request: Request, next: Next| {
            let peer = request.extensions().get::<Arc<Peer>>();
            let address = peer.and_then(|peer| peer.address());
            let in_force = checking.in_force();
            let tokens = &in_force.config.admin.tokens;
            let (headers, query) = (request.headers(), request.uri().query());
            let allowed = gate.pass(tokens, headers, query, address, wall::now());
            async move {
                match allowed {
                    Ok(caller) => {
                        request.extensions_mut().insert(caller.you());
                        request.extensions_mut().insert(caller);
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
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "This path is not called with this method. What is read is read with GET; what \
                 can be changed, and how, is in the README under 'Changing things live'.",
            )
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
