//! Probes, checks, undo and notes.

use super::body::Wanted;
use super::changes::{first_answer, response_once_recorded};
use super::openapi::refusals::{Doing, Gated, Read};
use super::part::Part;
use super::problem::Problem;
use super::requests::read;
use super::tokens::Operator;
use crate::drive::{Hub, operator};
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use shared::admin::actions::{About, Action, ActionKind, CheckAnswer, Done, NewNote};
use shared::admin::changes::{ActionBody, ChangeAnswer};
use std::sync::Arc;

type Shared = State<Arc<Hub>>;

/// End a rung's cool-down or hold now
#[utoipa::path(
    post, path = "/admin/v1/rungs/{rung}/probe", tag = "changes", operation_id = "probe",
    params(("rung" = String, Path, description = "Its name in the config.")),
    request_body = ActionBody,
    responses((status = 200, description = "The next request is the probe.", body = Done), Gated, Doing),
)]
pub(super) async fn probe(
    State(relay): Shared,
    operator: Operator,
    Part(rung): Part,
    Wanted(body): Wanted<ActionBody>,
) -> Result<Response, Problem> {
    let about = About { rung: Some(rung.clone()), ladder: None };
    let is_same = |action: &Action| action.about == about;
    if let Some(first) = first_answer(&relay, &body.id, ActionKind::Probe, is_same).await? {
        return Ok(first);
    }
    response_once_recorded(operator::probe(&relay, &rung, &body, &operator.name)).await
}

/// One small call to a rung, outside all traffic
#[utoipa::path(
    post, path = "/admin/v1/rungs/{rung}/check", tag = "changes", operation_id = "check",
    params(("rung" = String, Path, description = "Its name in the config.")),
    request_body = ActionBody,
    responses((status = 200, description = "What it found.", body = CheckAnswer), Gated, Doing),
)]
pub(super) async fn check(
    State(relay): Shared,
    operator: Operator,
    Part(rung): Part,
    Wanted(body): Wanted<ActionBody>,
) -> Result<Response, Problem> {
    let about = About { rung: Some(rung.clone()), ladder: None };
    let is_same = |action: &Action| action.about == about;
    if let Some(first) = first_answer(&relay, &body.id, ActionKind::Check, is_same).await? {
        return Ok(first);
    }
    response_once_recorded(operator::check(&relay, &rung, &body, &operator.name)).await
}

/// Take an action back
#[utoipa::path(
    post, path = "/admin/v1/actions/{id}/undo", tag = "changes", operation_id = "undo",
    params(("id" = String, Path, description = "The action's id.")),
    request_body = ActionBody,
    responses((status = 200, description = "What was so before is so again.", body = ChangeAnswer), Gated, Read, Doing),
)]
pub(super) async fn undo(
    State(relay): Shared,
    operator: Operator,
    Part(id): Part,
    Wanted(body): Wanted<ActionBody>,
) -> Result<Response, Problem> {
    let is_same = |action: &Action| action.undoes.as_ref() == Some(&id);
    if let Some(first) = first_answer(&relay, &body.id, ActionKind::Undo, is_same).await? {
        return Ok(first);
    }
    let action = find(&relay, &id).await?;
    response_once_recorded(operator::undo(&relay, &action, &body, &operator.name)).await
}

/// Pin a note
#[utoipa::path(
    post, path = "/admin/v1/notes", tag = "changes", operation_id = "note",
    request_body = NewNote,
    responses((status = 200, description = "It stands until it is ended.", body = Done), Gated, Doing),
)]
pub(super) async fn note(
    State(relay): Shared,
    operator: Operator,
    Wanted(note): Wanted<NewNote>,
) -> Result<Response, Problem> {
    let is_same = |action: &Action| action.about == note.about && action.reason == note.text;
    if let Some(first) = first_answer(&relay, &note.id, ActionKind::Note, is_same).await? {
        return Ok(first);
    }
    response_once_recorded(operator::note(&relay, &note, &operator.name)).await
}

/// End a note
#[utoipa::path(
    delete, path = "/admin/v1/notes/{id}", tag = "changes", operation_id = "end_note",
    params(("id" = String, Path, description = "The note's id.")),
    request_body = ActionBody,
    responses((status = 200, description = "It has ended.", body = Done), Gated, Doing),
)]
pub(super) async fn end_note(
    State(relay): Shared,
    operator: Operator,
    Part(id): Part,
    Wanted(body): Wanted<ActionBody>,
) -> Result<Response, Problem> {
    let is_same = |action: &Action| action.undoes.as_ref() == Some(&id);
    if let Some(first) = first_answer(&relay, &body.id, ActionKind::Undo, is_same).await? {
        return Ok(first);
    }
    response_once_recorded(operator::end_note(&relay, &id, &body, &operator.name)).await
}

/// An action by its id: the journal's word, or, where that cannot be had, this life's.
pub(super) async fn find(relay: &Arc<Hub>, id: &str) -> Result<Action, Problem> {
    if let Some(action) = operator::find_action(relay, id) {
        return Ok(action);
    }
    let key = id.to_owned();
    let found = read(relay.journal.reader(), move |reader| reader.action(&key)).await?;
    found.map(|(action, _answer)| action).ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_FOUND,
            "There is no action with this id: nothing was done under it. The list of actions has \
             those that were done.",
        )
    })
}
