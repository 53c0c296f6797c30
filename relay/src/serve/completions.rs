//! `POST /v1/chat/completions`, `/v1/messages`, `/v1/responses`: checks what came in, then
//! lets a driver answer.

use super::answer::{First, Guarded, StreamBody};
use super::decode::Encoding;
use super::keys;
use super::reject::{Rejection, respond};
use crate::config::Client;
use crate::dialect::request::{ClientRequest, Endpoint};
use crate::dialect::schema::Schema;
use crate::drive::{Drain, Driver, InForce, Incoming, Ladder, Peer, Relay, reject_record};
use crate::wall;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use http_body::Body as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use shared::{Dialect, RequestId};
use std::sync::Arc;
use std::time::Duration;

/// A client that takes longer to send its request is not a chat frontend.
const BODY_TIME: Duration = Duration::from_secs(60);

/// Names a variant of the ladder's system prompt.
const PROMPT: &str = "x-belay-prompt";

/// What is known of a request that is turned away, for its record.
#[derive(Default)]
pub(super) struct Known {
    model: Option<String>,
    stream: bool,
}

type Asked = (State<Arc<Relay>>, Extension<Arc<Peer>>, Request);

pub(super) async fn chat(
    relay: State<Arc<Relay>>,
    peer: Extension<Arc<Peer>>,
    request: Request,
) -> Response {
    complete(Dialect::OpenaiChat, Endpoint::Answer, (relay, peer, request)).await
}

/// An endpoint of OpenAI's whose answers pass through.
pub(super) async fn through(
    Extension(endpoint): Extension<Endpoint>,
    relay: State<Arc<Relay>>,
    peer: Extension<Arc<Peer>>,
    request: Request,
) -> Response {
    complete(Dialect::OpenaiChat, endpoint, (relay, peer, request)).await
}

pub(super) async fn messages(
    relay: State<Arc<Relay>>,
    peer: Extension<Arc<Peer>>,
    request: Request,
) -> Response {
    complete(Dialect::AnthropicMessages, Endpoint::Answer, (relay, peer, request)).await
}

pub(super) async fn responses(
    relay: State<Arc<Relay>>,
    peer: Extension<Arc<Peer>>,
    request: Request,
) -> Response {
    complete(Dialect::OpenaiResponses, Endpoint::Answer, (relay, peer, request)).await
}

async fn complete(
    dialect: Dialect,
    endpoint: Endpoint,
    (State(relay), Extension(peer), request): Asked,
) -> Response {
    let (id, at, accepted) = (wall::request_id(), wall::unix(), wall::now());
    let (head, body) = request.into_parts();
    // Before the key is known nothing is read and nothing is journaled: strangers
    // must not be able to fill either.
    // Taken once: a reload in the middle of this request does not concern it.
    let in_force = relay.in_force();
    let client = match keys::client(&in_force.config.clients, &head.headers) {
        Ok(client) => client,
        Err(rejection) => {
            relay.metrics.turned_away(rejection.code);
            return rejection.with_id(id).to(dialect).into_response();
        }
    };
    // From here on a drain waits for it, and it counts among the running ones.
    let running = relay.enter();
    let stamp = in_force.config.stamp(client);
    let name: Option<Arc<str>> = client.map(|client| client.name.as_str().into());
    let mut known = Known::default();
    let asked = (dialect, endpoint, &head.headers, body);
    let checked = check(&relay, &in_force, client, asked, &mut known).await;
    let (ladder, request) = match checked {
        Ok(checked) => checked,
        Err(rejection) => {
            let rejection = rejection.with_id(id).to(dialect);
            relay.metrics.turned_away(rejection.code);
            record(&relay, id, at, name, &known, rejection.status);
            return rejection.into_response();
        }
    };
    let Some(ladder) = in_force.ladders.get(ladder).map(Arc::clone) else {
        return unknown_model().with_id(id).to(dialect).into_response();
    };
    let along = along(dialect, &head.headers);
    let asked = comparable(&ladder, endpoint)
        .and_then(|()| prompt(&ladder, &head.headers))
        .and_then(|prompt| Ok((prompt, schema(&in_force, &ladder, &request)?)));
    let (prompt, schema) = match asked {
        Ok(asked) => asked,
        Err(rejection) => {
            let rejection = rejection.with_id(id).to(dialect);
            relay.metrics.turned_away(rejection.code);
            record(&relay, id, at, name, &known, rejection.status);
            return rejection.into_response();
        }
    };
    let incoming = Incoming {
        id,
        at,
        accepted,
        client: name,
        in_force,
        ladder,
        request,
        along,
        prompt,
        schema,
        stamp,
        peer,
        running,
    };
    let mut guarded = Guarded::new(Driver::start(&relay, incoming));
    match guarded.first().await {
        Ok(First::Whole(reply)) => respond(reply),
        Ok(First::Stream(head)) => StreamBody::response(guarded, head),
        Err(_fault) => fault().with_id(id).to(dialect).into_response(),
    }
}

/// Everything that can be wrong with a request, before any provider hears of it.
pub(super) async fn check(
    relay: &Relay,
    in_force: &InForce,
    client: Option<&Client>,
    (dialect, endpoint, headers, body): (Dialect, Endpoint, &HeaderMap, Body),
    known: &mut Known,
) -> Result<(usize, ClientRequest), Rejection> {
    let server = &in_force.config.server;
    if relay.drain() != Drain::Serving {
        return Err(Rejection::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "draining",
            "The relay is shutting down. Send the request again.",
        )
        .retry_after(Duration::from_secs(1)));
    }
    // This one is counted already.
    if relay.running() > server.max_requests {
        return Err(Rejection::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "too_many_requests_running",
            "The relay runs as many requests as server.max_requests allows. Send it again shortly.",
        )
        .retry_after(Duration::from_secs(1)));
    }
    if !is_json(headers) {
        return Err(Rejection::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "Send the request as JSON, with 'Content-Type: application/json'.",
        ));
    }
    let encoding = Encoding::of(headers)?;
    let body = read(body, server.max_body).await?;
    let body = if encoding == Encoding::Identity {
        body
    } else {
        let limit = server.max_body;
        let decoding = tokio::task::spawn_blocking(move || encoding.decode(body, limit));
        decoding.await.map_err(|_panicked| fault())??
    };
    let request = match endpoint {
        Endpoint::Answer => ClientRequest::parse(dialect, &body),
        other => ClientRequest::parse_for(other, &body),
    };
    let owner = client.map(|client| client.name.as_str().into());
    let find = |id: &str| relay.items.find(wall::now(), &owner, id);
    let request = request.and_then(|request| request.following(&find)).map_err(Rejection::of)?;
    let request = request.ignoring(Arc::clone(&server.ignore_fields));
    known.model = Some(request.model().to_owned());
    known.stream = request.stream();
    let ladder = in_force
        .ladder(request.model())
        .filter(|&ladder| keys::may_use(client, ladder))
        .ok_or_else(unknown_model)?;
    Ok((ladder, request))
}

/// The headers of a client's that mean something to providers of its own dialect: what
/// its SDK was made for, and what it wants to try. Nothing else crosses the relay.
pub(super) fn along(dialect: Dialect, headers: &HeaderMap) -> HeaderMap {
    const ANTHROPIC: [&str; 2] = ["anthropic-version", "anthropic-beta"];
    let names = if dialect == Dialect::AnthropicMessages { &ANTHROPIC[..] } else { &[] };
    let mut along = HeaderMap::new();
    for name in names {
        for value in headers.get_all(*name) {
            along.append(*name, value.clone());
        }
    }
    along
}

/// The variant of the ladder's system prompt that the request, or else the ladder, names.
fn prompt(ladder: &Ladder, headers: &HeaderMap) -> Result<Option<usize>, Rejection> {
    let Some(wanted) = headers.get(PROMPT) else { return Ok(ladder.prompt) };
    let found =
        ladder.prompts.iter().position(|prompt| prompt.name.as_bytes() == wanted.as_bytes());
    found.map(Some).ok_or_else(|| {
        let names: Vec<_> = ladder.prompts.iter().map(|prompt| prompt.name.as_str()).collect();
        let there = if names.is_empty() { "it has none".to_owned() } else { names.join(", ") };
        Rejection::new(
            StatusCode::BAD_REQUEST,
            "unknown_prompt",
            format!(
                "This model has no prompt of the name in '{PROMPT}'. Leave the header out, or name \
                 one of its prompts: {there}."
            ),
        )
        .about(PROMPT)
    })
}

/// Vectors of two models have nothing in common, though nobody sees it: a ladder gives
/// embeddings only where its operator says that all of it is one model.
fn comparable(ladder: &Ladder, endpoint: Endpoint) -> Result<(), Rejection> {
    if endpoint != Endpoint::Embeddings || ladder.one_model {
        return Ok(());
    }
    Err(Rejection::new(
        StatusCode::BAD_REQUEST,
        "embeddings_not_comparable",
        "Several models may answer under this name, and their embeddings cannot be compared. Use \
         a name that stands for one model; its operator marks it with 'one_model = true'.",
    )
    .about("model"))
}

/// The schema that the answer must follow, where the relay may have to check it.
fn schema(
    in_force: &InForce,
    ladder: &Ladder,
    request: &ClientRequest,
) -> Result<Option<Arc<Schema>>, Rejection> {
    // A stream has left before it could be checked.
    let Some(raw) = request.schema().filter(|_| !request.stream()) else { return Ok(None) };
    let mut rungs = ladder.spec.rungs.iter().filter_map(|rung| in_force.rung(*rung));
    if !ladder.validate && !rungs.any(|rung| rung.degrade.json_schema) {
        return Ok(None);
    }
    let schema = Schema::new(raw).map_err(|_quotes_it| {
        Rejection::new(
            StatusCode::BAD_REQUEST,
            "invalid_schema",
            "The JSON schema of the answer is none that this relay can check: it is not valid, or \
             refers to something outside of it. Mend it, or leave it out.",
        )
    })?;
    Ok(Some(Arc::new(schema)))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

async fn read(body: Body, limit: usize) -> Result<Bytes, Rejection> {
    // What says that it is too large is not read, and not asked to continue.
    if usize::try_from(body.size_hint().lower()).map_or(true, |length| length > limit) {
        return Err(Rejection::too_large(limit));
    }
    let whole = tokio::time::timeout(BODY_TIME, Limited::new(body, limit).collect()).await;
    match whole {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Rejection::too_large(limit)),
        Ok(Err(_broken)) => Err(Rejection::new(
            StatusCode::BAD_REQUEST,
            "incomplete_body",
            "The request's body broke off. Send it again.",
        )),
        Err(_elapsed) => Err(Rejection::new(
            StatusCode::REQUEST_TIMEOUT,
            "slow_body",
            format!("The request's body did not come within {BODY_TIME:?}. Send it again."),
        )),
    }
}

pub(super) fn unknown_model() -> Rejection {
    Rejection::new(
        StatusCode::NOT_FOUND,
        "model_not_found",
        "There is no model of this name that you may use. 'model' must be one of those that \
         GET /v1/models lists.",
    )
    .about("model")
}

pub(super) fn fault() -> Rejection {
    Rejection::new(
        StatusCode::INTERNAL_SERVER_ERROR,
        "relay_fault",
        "The relay failed on this request alone. Send it again, and report its request id.",
    )
}

fn record(
    relay: &Relay,
    id: RequestId,
    at: shared::UnixMillis,
    client: Option<Arc<str>>,
    known: &Known,
    status: StatusCode,
) {
    let model = known.model.as_deref();
    let record = reject_record(id, at, client, model, known.stream, status.as_u16());
    relay.count_reject(&record);
    // The answer to a request that never ran does not wait for its record.
    drop(relay.journal.end(record));
}
