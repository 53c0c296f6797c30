//! `POST /v1/chat/completions`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Map, Value};

use super::fault::FaultSpec;
use super::pace::Pace;
use super::play::play;
use super::refusal::Refusal;
use super::request::{ChatRequest, record};
use super::script::Script;
use super::state::{Shared, Ticket};

/// Answers, or misbehaves.
pub(super) async fn chat(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let pace = Pace::start();
    let fields = serde_json::from_slice::<Map<String, Value>>(&body);
    let empty = Map::new();
    let ticket = shared.admit(record(&headers, fields.as_ref().unwrap_or(&empty)), pace);
    let script = match fields {
        Ok(fields) => script(&shared, &fields, &ticket),
        Err(_) => {
            let words = "We could not parse the JSON body of your request.";
            Err(Refusal::bad_request(None, words))
        }
    };
    play(script.unwrap_or_else(|refusal| Script::refusal(&refusal)), ticket).await
}

fn script(
    shared: &Shared,
    fields: &Map<String, Value>,
    ticket: &Ticket,
) -> Result<Script, Refusal> {
    let request = ChatRequest::read(fields)?;
    let own = request.x_mock.clone().map(FaultSpec::from_json).transpose();
    let own = own.map_err(|bad| Refusal::bad_request(Some("x_mock"), &bad.to_string()))?;
    let fault = shared.strike(&request, own.as_ref());
    if let Some(fault) = &fault {
        ticket.struck(fault);
    }
    Ok(Script::of(&request, fault.as_ref(), &shared.options))
}
