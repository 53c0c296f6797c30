//! `POST /v1/chat/completions`, `/v1/messages`, `/v1/responses`: checks what came in, then
//! lets a driver answer.

use super::answer::{First, Guarded, StreamBody};
use super::body;
use super::decode::Encoding;
use super::keys;
use super::reject::{Rejection, respond};
use crate::config::ClientConfig;
use crate::drive::{
    Drain, Driver, Held, Hub, InForce, Incoming, Ladder, Peer, SMALL, WorkPool, reject_record,
};
use crate::wall;
use axum::body::Body;
use axum::extract::{Extension, Request, State};
use axum::response::{IntoResponse, Response};
use dialect::request::{ClientRequest, Endpoint};
use dialect::schema::Schema;
use http::{HeaderMap, StatusCode, header};
use shared::{Dialect, RequestId};
use std::sync::Arc;
use std::time::Duration;

/// A schema that takes longer to be made ready is refused.
const SCHEMA_TIME: Duration = Duration::from_secs(2);

/// A name that is no ladder's is journaled up to here, in characters.
const MODEL: usize = 256;

/// Names a variant of the ladder's system prompt.
const PROMPT: &str = "x-belay-prompt";

/// What is known of a request that is turned away, for its record.
#[derive(Default)]
pub(super) struct Identified {
    model: Option<String>,
    stream: bool,
}

type Extracted = (State<Arc<Hub>>, Extension<Arc<Peer>>, Request);

/// A request as it came.
pub(super) struct RawRequest<'a> {
    pub(super) dialect: Dialect,
    pub(super) endpoint: Endpoint,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: Body,
}

pub(super) async fn chat(
    relay: State<Arc<Hub>>,
    peer: Extension<Arc<Peer>>,
    request: Request,
) -> Response {
    complete(Dialect::OpenaiChat, Endpoint::Answer, (relay, peer, request)).await
}

/// An endpoint of OpenAI's whose answers pass through.
pub(super) async fn through(
    Extension(endpoint): Extension<Endpoint>,
    relay: State<Arc<Hub>>,
    peer: Extension<Arc<Peer>>,
    request: Request,
) -> Response {
    complete(Dialect::OpenaiChat, endpoint, (relay, peer, request)).await
}

pub(super) async fn messages(
    relay: State<Arc<Hub>>,
    peer: Extension<Arc<Peer>>,
    request: Request,
) -> Response {
    complete(Dialect::AnthropicMessages, Endpoint::Answer, (relay, peer, request)).await
}

pub(super) async fn responses(
    relay: State<Arc<Hub>>,
    peer: Extension<Arc<Peer>>,
    request: Request,
) -> Response {
    complete(Dialect::OpenaiResponses, Endpoint::Answer, (relay, peer, request)).await
}

async fn complete(
    dialect: Dialect,
    endpoint: Endpoint,
    (State(relay), Extension(peer), request): Extracted,
) -> Response {
    let (id, at, accepted) = (wall::request_id(), wall::unix(), wall::now());
    let (head, body) = request.into_parts();
    // Taken once: a reload in the middle of this request does not concern it.
    let in_force = relay.in_force();
    // Before the key is known nothing is read and nothing is journaled: strangers
    // must not be able to fill either.
    let client = match keys::client(&in_force.config.clients, &head.headers) {
        Ok(client) => client,
        Err(rejection) => {
            relay.metrics.rejected(rejection.code);
            return rejection.with_id(id).to(dialect).into_response();
        }
    };
    // From here on a drain waits for it, and it counts among the running ones.
    let running = relay.load.enter();
    let stamp = in_force.config.stamp(client);
    let name: Option<Arc<str>> = client.map(|client| client.name.as_str().into());
    let mut known = Identified::default();
    let asked = RawRequest { dialect, endpoint, headers: &head.headers, body };
    let checked = check(&relay, &in_force, client, asked, &mut known).await;
    let (ladder, request, held) = match checked {
        Ok(checked) => checked,
        Err(rejection) => {
            let rejection = rejection.with_id(id).to(dialect);
            relay.metrics.rejected(rejection.code);
            record(&relay, id, at, name, &known, rejection.status);
            return rejection.into_response();
        }
    };
    let Some(ladder) = in_force.ladders.get(ladder).map(Arc::clone) else {
        return unknown_model().with_id(id).to(dialect).into_response();
    };
    let along = along(dialect, &head.headers);
    let asked = comparable(&ladder, endpoint).and_then(|()| prompt(&ladder, &head.headers));
    let asked = match asked {
        Ok(prompt) => schema(&in_force, &ladder, &request).await.map(|schema| (prompt, schema)),
        Err(rejection) => Err(rejection),
    };
    let (prompt, schema) = match asked {
        Ok(asked) => asked,
        Err(rejection) => {
            let rejection = rejection.with_id(id).to(dialect);
            relay.metrics.rejected(rejection.code);
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
        held,
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

/// Checks a request completely before any provider is called.
pub(super) async fn check(
    relay: &Arc<Hub>,
    in_force: &InForce,
    client: Option<&ClientConfig>,
    asked: RawRequest<'_>,
    known: &mut Identified,
) -> Result<(usize, Arc<ClientRequest>, Held), Rejection> {
    let RawRequest { dialect, endpoint, headers, body } = asked;
    let server = &in_force.config.server;
    if relay.signals.drain() != Drain::Serving {
        return Err(Rejection::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "draining",
            "The relay is shutting down. Send the request again.",
        )
        .retry_after(Duration::from_secs(1)));
    }
    // This one is counted already.
    if relay.load.running() > server.max_requests {
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
    let mut held = relay.load.holds_nothing();
    let body = body::read(body, server, &mut held).await?;
    let (came, limit) = (body.len(), server.max_body);
    // What is compressed may become anything.
    let size = if encoding == Encoding::Identity { came } else { came.max(SMALL) };
    let owner: Option<Arc<str>> = client.map(|client| client.name.as_str().into());
    let (items, ignored) = (Arc::clone(relay), Arc::clone(&server.ignore_fields));
    let parsing = here_or_on_pool(size, move || {
        let body = encoding.decode(body, limit)?;
        let request = match endpoint {
            Endpoint::Answer => ClientRequest::parse(dialect, &body),
            other => ClientRequest::parse_for(other, &body),
        };
        let find = |id: &str| items.items.find(wall::now(), &owner, id);
        let request = request.and_then(|request| request.following(&find));
        request.map(|request| request.ignoring(ignored)).map_err(Rejection::of)
    });
    let request = parsing.await??;
    let size = request.size();
    body::grow(&mut held, size.saturating_sub(came), server)?;
    known.model = Some(request.model().chars().take(MODEL).collect());
    known.stream = request.stream();
    let ladder = in_force.ladder(request.model()).filter(|&ladder| keys::may_use(client, ladder));
    let Some((ladder, named)) = ladder.and_then(|at| Some((at, in_force.ladders.get(at)?))) else {
        if size >= SMALL {
            WorkPool::Bulk.discard(size, request);
        }
        return Err(unknown_model());
    };
    // Who plans asks what each rung can be told; of a large request that is found here.
    let rungs = named.spec.rungs.iter().filter_map(|rung| in_force.rung(*rung));
    let dialects: Vec<Dialect> = rungs.map(|rung| rung.provider.dialect()).collect();
    let told = here_or_on_pool(size, move || {
        for dialect in dialects {
            let _remembered = request.supported_by(dialect);
        }
        request
    });
    Ok((ladder, Arc::new(told.await?), held))
}

/// Does `work` on something of this size: here, or on the work pool if it is large.
async fn here_or_on_pool<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Rejection> {
    if size < SMALL {
        return Ok(work());
    }
    WorkPool::Bulk.run(size, work).await.map_err(|_panicked| fault())
}

/// The headers of a client's that mean something to providers of its own dialect: what
/// its SDK was made for, and what it wants to try. Nothing else crosses the relay.
pub(super) fn along(dialect: Dialect, headers: &HeaderMap) -> HeaderMap {
    let mut along = HeaderMap::new();
    for name in dialect::table::address(dialect).along {
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
async fn schema(
    in_force: &InForce,
    ladder: &Ladder,
    request: &Arc<ClientRequest>,
) -> Result<Option<Arc<Schema>>, Rejection> {
    // A stream has left before it could be checked.
    if request.stream() || !request.needs().json_schema {
        return Ok(None);
    }
    let mut rungs = ladder.spec.rungs.iter().filter_map(|rung| in_force.rung(*rung));
    if !ladder.validate && !rungs.any(|rung| rung.spec.degrade.json_schema) {
        return Ok(None);
    }
    let asked = Arc::clone(request);
    let making = WorkPool::Checks.run(request.size(), move || asked.schema().map(Schema::new));
    let schema = match tokio::time::timeout(SCHEMA_TIME, making).await {
        Ok(Ok(schema)) => schema.transpose().map_err(|why| why.to_string()),
        Ok(Err(_panicked)) => return Err(fault()),
        Err(_elapsed) => Err(format!("it was not ready within {SCHEMA_TIME:?}")),
    };
    schema.map(|schema| schema.map(Arc::new)).map_err(|why| {
        Rejection::new(
            StatusCode::BAD_REQUEST,
            "invalid_schema",
            format!(
                "The relay cannot check the answer against its JSON schema: {why}. Mend the \
                 schema, or leave it out."
            ),
        )
    })
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.and_then(|kind| kind.split(';').next())
        .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
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
    relay: &Hub,
    id: RequestId,
    at: shared::UnixMillis,
    client: Option<Arc<str>>,
    known: &Identified,
    status: StatusCode,
) {
    let model = known.model.as_deref();
    let record = reject_record(id, at, client, model, known.stream, status.as_u16());
    relay.metrics.request(&record);
    // The answer to a request that never ran does not wait for its record.
    drop(relay.journal.end(record));
}
