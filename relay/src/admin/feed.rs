//! `GET /admin/v1/feed`: what changes, as it changes, as server-sent events.
//!
//! The reader is asked for nothing: as long as it does not read, nothing is made for
//! it. What it then gets is how things are, not every step on the way there.

use super::openapi::filters::{FeedQuery, Resume};
use super::openapi::refusals::Gated;
use super::problem::Problem;
use crate::drive::{self, Drain, Hub};
use crate::feed::{Listener, Topics};
use crate::wall;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::response::Response;
use futures_util::stream;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use shared::admin::board::OperatorHere;
use shared::admin::{FeedKind, You};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// Readers at the same time: fewer than there may be connections, so that there is always one
/// left for a health check, a scraper and a change.
const MOST: usize = 200;
/// The longest name of a program that is shown.
const VIA_CHARS: usize = 32;

/// What changes, as it changes
///
/// Server-sent events without an end: a `snapshot`, then what changes, and a `tick` every
/// second. An event's `id` is `boot.seq`, its `event` a `FeedKind`, its `data` one line of JSON
/// with the schema that `x-events` names.
#[utoipa::path(
    get, path = "/admin/v1/feed", tag = "now", operation_id = "feed",
    params(FeedQuery, Resume),
    responses(
        (status = 200, description = "The events.", body = String, content_type = "text/event-stream"),
        Gated,
    ),
    extensions(("x-events" = json!(events()))),
)]
pub(super) async fn open(
    State(relay): State<Arc<Hub>>,
    Extension(you): Extension<You>,
    Query(query): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let topics = topics(&query)?;
    if relay.feed.present().len() >= MOST {
        return Err(Problem {
            retry_after: Some(Duration::from_secs(60)),
            ..Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                format!("{MOST} programs have the feed open. Close some, or read the board."),
            )
        });
    }
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let who = OperatorHere { name: you.name.clone(), since_at: wall::unix(), via: via(&headers) };
    drive::snapshot::prepare(&relay).await;
    let listener = Listener::new(&relay.feed, who, topics, last);
    let events = stream::unfold((listener, relay, you), async |(mut listener, relay, you)| {
        let bytes = tokio::select! {
            bytes = drive::snapshot::next(&mut listener, &relay, &you) => bytes,
            () = relay.signals.until(Drain::Cut) => return None,
        };
        Some((Ok::<_, Infallible>(bytes), (listener, relay, you)))
    });
    let mut response = Response::new(Body::from_stream(events));
    for (name, value) in [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache, no-transform"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// What the events' data are.
fn events() -> serde_json::Value {
    let schemas = FeedKind::ALL.iter().map(|kind| {
        let schema = match kind {
            FeedKind::Snapshot => "Board",
            FeedKind::Tick => "Tick",
            FeedKind::Rung => "RungState",
            FeedKind::Ladder => "LadderState",
            FeedKind::Curve => "Curve",
            FeedKind::Transition => "TransitionRow",
            FeedKind::Config => "ConfigState",
            FeedKind::Action | FeedKind::Note => "Action",
            FeedKind::Operators => "Operators",
            FeedKind::Requests => "RequestBatch",
        };
        let place = format!("#/components/schemas/{schema}");
        (kind.as_str().to_owned(), serde_json::json!({ "$ref": place }))
    });
    serde_json::Value::Object(schemas.collect())
}

fn topics(query: &[(String, String)]) -> Result<Topics, Problem> {
    let mut topics = Topics::default();
    for (key, text) in query {
        if key != "topics" {
            return Err(Problem::unknown("topics"));
        }
        for topic in text.split(',').filter(|topic| !topic.is_empty()) {
            if topic != "requests" {
                return Err(Problem::new(
                    StatusCode::BAD_REQUEST,
                    "Unknown topic. The feed has all but 'requests' without being asked.",
                ));
            }
            topics.requests = true;
        }
    }
    Ok(topics)
}

/// The program's name, as far as it is a plain one: it is shown to others.
fn via(headers: &HeaderMap) -> String {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
    let name = agent.unwrap_or_default().split(['/', ' ']).next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_' || c == '.';
    let name: String = name.chars().filter(|c| is_plain(*c)).take(VIA_CHARS).collect();
    if name.is_empty() { "api".to_owned() } else { name }
}
