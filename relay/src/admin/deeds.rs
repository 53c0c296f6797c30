//! Probes, checks, undo and notes.

use super::Problem;
use super::body::Wanted;
use super::changes::{first_answer, told};
use super::requests::read;
use super::tokens::Operator;
use crate::drive::Relay;
use axum::extract::{Path, State};
use axum::response::Response;
use http::StatusCode;
use shared::admin::actions::{About, Action, ActionKind, NewNote};
use shared::admin::changes::Deed;
use std::sync::Arc;

type Shared = State<Arc<Relay>>;

pub(super) async fn probe(
    State(relay): Shared,
    operator: Operator,
    Path(rung): Path<String>,
    Wanted(deed): Wanted<Deed>,
) -> Result<Response, Problem> {
    let about = About { rung: Some(rung.clone()), ladder: None };
    let is_same = |action: &Action| action.about == about;
    if let Some(first) = first_answer(&relay, &deed.id, ActionKind::Probe, is_same).await? {
        return Ok(first);
    }
    told(relay.probe(&rung, &deed, &operator.name)).await
}

pub(super) async fn check(
    State(relay): Shared,
    operator: Operator,
    Path(rung): Path<String>,
    Wanted(deed): Wanted<Deed>,
) -> Result<Response, Problem> {
    let about = About { rung: Some(rung.clone()), ladder: None };
    let is_same = |action: &Action| action.about == about;
    if let Some(first) = first_answer(&relay, &deed.id, ActionKind::Check, is_same).await? {
        return Ok(first);
    }
    told(relay.check(&rung, &deed, &operator.name)).await
}

pub(super) async fn undo(
    State(relay): Shared,
    operator: Operator,
    Path(id): Path<String>,
    Wanted(deed): Wanted<Deed>,
) -> Result<Response, Problem> {
    let is_same = |action: &Action| action.undoes.as_ref() == Some(&id);
    if let Some(first) = first_answer(&relay, &deed.id, ActionKind::Undo, is_same).await? {
        return Ok(first);
    }
    let action = find(&relay, &id).await?;
    told(relay.undo(&action, &deed, &operator.name)).await
}

pub(super) async fn note(
    State(relay): Shared,
    operator: Operator,
    Wanted(note): Wanted<NewNote>,
) -> Result<Response, Problem> {
    let is_same = |action: &Action| action.about == note.about && action.reason == note.text;
    if let Some(first) = first_answer(&relay, &note.id, ActionKind::Note, is_same).await? {
        return Ok(first);
    }
    told(relay.note(&note, &operator.name)).await
}

pub(super) async fn end_note(
    State(relay): Shared,
    operator: Operator,
    Path(id): Path<String>,
    Wanted(deed): Wanted<Deed>,
) -> Result<Response, Problem> {
    let is_same = |action: &Action| action.undoes.as_ref() == Some(&id);
    if let Some(first) = first_answer(&relay, &deed.id, ActionKind::Undo, is_same).await? {
        return Ok(first);
    }
    told(relay.end_note(&id, &deed, &operator.name)).await
}

/// An action by its id: the journal's word, or, where that cannot be had, this life's.
pub(super) async fn find(relay: &Arc<Relay>, id: &str) -> Result<Action, Problem> {
    if let Some(action) = relay.action(id) {
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
