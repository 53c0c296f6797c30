//! `GET /healthz` and `/readyz`: for whoever starts the relay, or sends it clients.

use super::openapi::refusals::Open;
use crate::drive::{Drain, Hub, config_state};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde::Serialize;
use shared::admin::ConfigState;
use std::sync::Arc;
use utoipa::ToSchema;

/// Whether clients are welcome.
#[derive(Debug, Serialize, ToSchema)]
struct Ready {
    /// No: it is on its way to stop.
    ready: bool,
    /// Requests running.
    streams: usize,
    /// The config in force.
    config: ConfigState,
    /// The journal. A sick one does not stop the relay, so it does not make it unready either.
    journal: JournalHealth,
}

/// How the journal is doing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Journal)]
struct JournalHealth {
    /// Records are being written, and in time.
    ok: bool,
    /// Records not yet written.
    queue: usize,
    /// Requests whose record was lost since the start.
    lost: u64,
    /// Endings do not wait for their record: the last one waited for was late.
    late: bool,
    /// Age of the oldest record not yet written.
    lag_ms: u64,
    /// What is wrong, in words.
    error: Option<String>,
}

/// Whether the process runs
#[utoipa::path(
    get, path = "/healthz", tag = "process", operation_id = "healthz", security(()),
    responses((status = 200, description = "It does.", body = String, content_type = "text/plain"), Open),
)]
pub(super) async fn alive() -> &'static str {
    "ok\n"
}

/// Whether clients are welcome
#[utoipa::path(
    get, path = "/readyz", tag = "process", operation_id = "readyz", security(()),
    responses(
        (status = 200, description = "They are.", body = Ready),
        (status = 503, description = "The relay is on its way to stop.", body = Ready),
        Open,
    ),
)]
pub(super) async fn ready(State(relay): State<Arc<Hub>>) -> Response {
    let draining = relay.signals.drain() != Drain::Serving;
    let journal = relay.journal.health();
    let status = if draining { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    let body = Ready {
        ready: !draining,
        streams: relay.load.running(),
        config: config_state::config_state(&relay),
        journal: JournalHealth {
            ok: journal.ok,
            queue: journal.queue,
            lost: journal.lost,
            late: journal.late,
            lag_ms: journal.lag_ms,
            error: journal.error,
        },
    };
    (status, Json(body)).into_response()
}
