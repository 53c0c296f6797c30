//! `GET /admin/v1/board`: how everything stands at one moment.

use super::openapi::refusals::Gated;
use crate::drive::{Hub, snapshot};
use axum::extract::State;
use axum::{Extension, Json};
use shared::admin::{Board, You};
use std::sync::Arc;

/// How everything stands
#[utoipa::path(
    get, path = "/admin/v1/board", tag = "now", operation_id = "board",
    responses((status = 200, description = "The board.", body = Board), Gated),
)]
pub(super) async fn show(
    State(relay): State<Arc<Hub>>,
    Extension(you): Extension<You>,
) -> Json<Board> {
    snapshot::prepare(&relay).await;
    Json(snapshot::board(&relay, you))
}
