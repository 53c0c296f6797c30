//! `GET /v1/models`: the names that a client may send as `model`.

use super::completions::unknown_model;
use super::keys;
use super::reject::Rejection;
use crate::drive::Hub;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use dialect::{model_body, models_body};
use http::{HeaderMap, header};
use std::sync::Arc;

/// Every ladder that the client may use, each with its other names behind it.
fn names(relay: &Hub, headers: &HeaderMap) -> Result<Vec<String>, Rejection> {
    let in_force = relay.in_force();
    let client = keys::client(&in_force.config.clients, headers)?;
    let ladders = in_force.config.ladders.iter().enumerate();
    let own = ladders.filter(|(index, _)| keys::may_use(client, *index));
    Ok(own.flat_map(|(_, it)| [&it.name].into_iter().chain(&it.aliases).cloned()).collect())
}

pub(super) async fn all(State(relay): State<Arc<Hub>>, headers: HeaderMap) -> Response {
    match names(&relay, &headers) {
        Ok(names) => json(models_body(names.iter().map(String::as_str), relay.started)),
        Err(rejection) => rejection.into_response(),
    }
}

/// One of them. Names have slashes, so the whole rest of the path is one.
pub(super) async fn one(
    State(relay): State<Arc<Hub>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    match names(&relay, &headers) {
        Ok(names) if names.contains(&name) => json(model_body(&name, relay.started)),
        Ok(_) => unknown_model().into_response(),
        Err(rejection) => rejection.into_response(),
    }
}

fn json(body: Vec<u8>) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
