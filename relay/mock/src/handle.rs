//! Handles one request for an answer, in any dialect.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, Uri};
use serde_json::{Map, Value};

use super::chat::Chat;
use super::dialect::{Call, Dialect, Refusal};
use super::gemini::Gemini;
use super::messages::Messages;
use super::pace::Pace;
use super::play::play;
use super::request::record;
use super::responses::Responses;
use super::script::Script;
use super::state::{Shared, Ticket};
use super::wish::Own;

/// `POST /v1/chat/completions`.
pub(super) async fn chat(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    RawRequest { dialect: &Chat, path: uri.path(), headers, model: None, stream: None }
        .answer(shared, &body)
        .await
}

/// `POST /v1/messages`.
pub(super) async fn messages(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    RawRequest { dialect: &Messages, path: uri.path(), headers, model: None, stream: None }
        .answer(shared, &body)
        .await
}

/// `POST /v1/responses`.
pub(super) async fn responses(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    RawRequest { dialect: &Responses, path: uri.path(), headers, model: None, stream: None }
        .answer(shared, &body)
        .await
}

/// `POST /v1beta/models/{model}:{verb}`, or `/v1/`, which newer Google clients use.
pub(super) async fn gemini(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    Path(call): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let (model, verb) = call.rsplit_once(':').unwrap_or((&call, ""));
    let sse = uri.query().unwrap_or_default().split('&').any(|pair| pair == "alt=sse");
    let (dialect, stream): (&dyn Dialect, bool) = match verb {
        "generateContent" => (&Gemini { array: false }, false),
        "streamGenerateContent" if sse => (&Gemini { array: false }, true),
        // Without `alt=sse` a stream is a JSON array; the mock sends it in one piece.
        "streamGenerateContent" => (&Gemini { array: true }, false),
        _ => {
            let refusal = Script::refusal(&Gemini { array: false }.of_status(404, None));
            let call = Call {
                path: uri.path(),
                headers: &headers,
                model: Some(model),
                stream: None,
                body: &Map::new(),
            };
            return play(refusal, shared.admit(record(&call, "gemini"), Pace::start())).await;
        }
    };
    RawRequest { dialect, path: uri.path(), headers, model: Some(model), stream: Some(stream) }
        .answer(shared, &body)
        .await
}

struct RawRequest<'a> {
    dialect: &'static dyn Dialect,
    path: &'a str,
    headers: HeaderMap,
    model: Option<&'a str>,
    stream: Option<bool>,
}

impl RawRequest<'_> {
    /// Answers the request, or misbehaves as its fault says.
    async fn answer(self, shared: Arc<Shared>, body: &[u8]) -> Response {
        let pace = Pace::start();
        let fields = serde_json::from_slice::<Map<String, Value>>(body);
        let empty = Map::new();
        let call = Call {
            path: self.path,
            headers: &self.headers,
            model: self.model,
            stream: self.stream,
            body: fields.as_ref().unwrap_or(&empty),
        };
        let ticket = shared.admit(record(&call, self.dialect.name()), pace);
        let script = match &fields {
            Ok(_) => script(self.dialect, &shared, &call, &ticket),
            Err(_) => {
                let words = "We could not parse the JSON body of your request.";
                Err(self.dialect.bad_request(None, words))
            }
        };
        play(script.unwrap_or_else(|refusal| Script::refusal(&refusal)), ticket).await
    }
}

fn script(
    dialect: &dyn Dialect,
    shared: &Shared,
    call: &Call<'_>,
    ticket: &Ticket,
) -> Result<Script, Refusal> {
    let request = dialect.read(call)?;
    let own = request.x_mock.clone().map(Own::read).transpose();
    let own = own.map_err(|bad| dialect.bad_request(Some("x_mock"), &bad.to_string()))?;
    let own = own.unwrap_or_default();
    let fault = shared.strike(&request, own.fault.as_ref());
    if let Some(fault) = &fault {
        ticket.struck(fault);
    }
    let wish = shared.wish(&own);
    Ok(Script::of(dialect, &request, fault.as_ref(), &wish, &shared.options))
}
