//! `GET /admin/v1/actions` and `/admin/v1/actions/{id}`: who did what, when, and why.

use super::openapi::filters::ActionQuery;
use super::openapi::refusals::{Gated, Named, Read};
use super::part::Part;
use super::probe_undo_note::find;
use super::problem::Problem;
use super::requests::{read, value};
use crate::drive::Hub;
use axum::Json;
use axum::extract::{Query, State};
use http::StatusCode;
use journal::ActionFilter;
use shared::admin::actions::{Action, ActionPage};
use std::sync::Arc;

/// What operators did, newest first
#[utoipa::path(
    get, path = "/admin/v1/actions", tag = "changes", operation_id = "actions",
    params(ActionQuery),
    responses((status = 200, description = "A page.", body = ActionPage), Gated, Read),
)]
pub(super) async fn list(
    State(relay): State<Arc<Hub>>,
    Query(query): Query<Vec<(String, String)>>,
) -> Result<Json<ActionPage>, Problem> {
    let filter = filter(query)?;
    let page = read(relay.journal.reader(), move |reader| reader.actions(&filter)).await?;
    Ok(Json(page))
}

/// One thing that an operator did
#[utoipa::path(
    get, path = "/admin/v1/actions/{id}", tag = "changes", operation_id = "action",
    params(("id" = String, Path, description = "The action's id.")),
    responses((status = 200, description = "The action.", body = Action), Gated, Named, Read),
)]
pub(super) async fn one(
    State(relay): State<Arc<Hub>>,
    Part(id): Part,
) -> Result<Json<Action>, Problem> {
    // The journal knows who ended it; this life knows what is not journaled yet.
    let key = id.clone();
    let found = read(relay.journal.reader(), move |reader| reader.action(&key)).await;
    match found {
        Ok(Some((action, _answer))) => Ok(Json(action)),
        Ok(None) | Err(_) => find(&relay, &id).await.map(Json),
    }
}

fn filter(query: Vec<(String, String)>) -> Result<ActionFilter, Problem> {
    let mut filter = ActionFilter::default();
    for (key, text) in query {
        match key.as_str() {
            "in_force" => filter.in_force = Some(value(&key, &text)?),
            "kind" => filter.kind = Some(value(&key, &text)?),
            "by" => filter.by = Some(text),
            "rung" => filter.rung = Some(text),
            "ladder" => filter.ladder = Some(text),
            "since" => filter.since = Some(value(&key, &text)?),
            "until" => filter.until = Some(value(&key, &text)?),
            "limit" => filter.limit = Some(value(&key, &text)?),
            "cursor" => filter.cursor = Some(value(&key, &text)?),
            _ => {
                return Err(Problem::new(
                    StatusCode::BAD_REQUEST,
                    "Unknown filter. These are known: in_force, kind, by, rung, ladder, since, \
                     until, limit, cursor.",
                ));
            }
        }
    }
    Ok(filter)
}
