//! `GET /admin/v1/actions` and `/admin/v1/actions/{id}`: who did what, when, and why.

use super::Problem;
use super::deeds::find;
use super::requests::{read, value};
use crate::drive::Relay;
use crate::journal::ActionFilter;
use axum::Json;
use axum::extract::{Path, Query, State};
use http::StatusCode;
use shared::admin::actions::{Action, ActionPage};
use std::sync::Arc;

pub(super) async fn list(
    State(relay): State<Arc<Relay>>,
    Query(query): Query<Vec<(String, String)>>,
) -> Result<Json<ActionPage>, Problem> {
    let filter = filter(query)?;
    let page = read(relay.journal.reader(), move |reader| reader.actions(&filter)).await?;
    Ok(Json(page))
}

pub(super) async fn one(
    State(relay): State<Arc<Relay>>,
    Path(id): Path<String>,
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
