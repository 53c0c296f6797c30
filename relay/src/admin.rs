//! The admin plane: what on-call engineers and their tools call.
//!
//! It reads: readiness, numbers, the journal's requests and actions. And it changes:
//! overrides, orders, probes, checks, notes, for whoever has an operator's token. Who
//! may change what, in which words it is asked and with which status it is refused
//! stands here; what a change is and whether it is made is the drive's affair.

mod actions;
mod body;
mod changes;
mod deeds;
mod metrics;
mod requests;
mod tokens;

use crate::drive::{Drain, Refused, RefusedWhy, Relay};
use crate::listen::Guard;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use axum::{Json, Router};
use http::StatusCode;
use shared::admin::changes::{Refusal, RefusalDetail};
use std::sync::Arc;

/// An error of the admin API.
#[derive(Debug)]
struct Problem {
    status: StatusCode,
    detail: Box<RefusalDetail>,
}

impl Problem {
    fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let detail = RefusalDetail { message: message.into(), ..RefusalDetail::default() };
        Self { status, detail: Box::new(detail) }
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
        Self { status, detail: refused.detail }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        (self.status, Json(Refusal { error: *self.detail })).into_response()
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
            let in_force = checking.in_force();
            let allowed = tokens::check(
                &in_force.config.admin.tokens,
                request.headers(),
                request.uri().query(),
            );
            async move {
                match allowed {
                    Ok(caller) => {
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
                "There is nothing at this path. The admin API is at /admin/v1/requests, \
                 numbers for Prometheus at /metrics.",
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
