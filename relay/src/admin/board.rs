//! `GET /admin/v1/board`: how everything stands at one moment.

use crate::drive::Relay;
use axum::extract::State;
use axum::{Extension, Json};
use shared::admin::{Board, You};
use std::sync::Arc;

pub(super) async fn show(
    State(relay): State<Arc<Relay>>,
    Extension(you): Extension<You>,
) -> Json<Board> {
    relay.prepare().await;
    Json(relay.board(you))
}
