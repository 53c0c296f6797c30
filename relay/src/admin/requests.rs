//! `GET /admin/v1/requests` and `/admin/v1/requests/{id}`: the journal, read only.

use super::openapi::filters::RequestQuery;
use super::openapi::refusals::{Gated, Named, Read};
use super::part::Part;
use super::problem::Problem;
use crate::drive::Hub;
use axum::Json;
use axum::extract::{Query, State};
use http::StatusCode;
use journal::{ReadError, Reader, RequestFilter};
use shared::RequestId;
use shared::admin::{RequestDetail, RequestPage};
use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;

/// Requests, newest first
#[utoipa::path(
    get, path = "/admin/v1/requests", tag = "past", operation_id = "requests",
    params(RequestQuery),
    responses((status = 200, description = "A page.", body = RequestPage), Gated, Read),
)]
pub(super) async fn list(
    State(relay): State<Arc<Hub>>,
    Query(query): Query<Vec<(String, String)>>,
) -> Result<Json<RequestPage>, Problem> {
    let filter = filter(query)?;
    let page = read(relay.journal.reader(), move |reader| reader.requests(&filter)).await?;
    Ok(Json(page))
}

/// One request, and what was tried for it
#[utoipa::path(
    get, path = "/admin/v1/requests/{id}", tag = "past", operation_id = "request",
    params(("id" = inline(RequestId), Path, description = "The request's id.")),
    responses((status = 200, description = "The request.", body = RequestDetail), Gated, Named, Read),
)]
pub(super) async fn one(
    State(relay): State<Arc<Hub>>,
    Part(id): Part,
) -> Result<Json<RequestDetail>, Problem> {
    let id: RequestId = value("id", &id)?;
    let found = read(relay.journal.reader(), move |reader| reader.request(id)).await?;
    found.map(Json).ok_or_else(|| {
        Problem::new(
            StatusCode::NOT_FOUND,
            format!(
                "There is no request {id}; it may have been pruned, or be too young to be written."
            ),
        )
    })
}

fn filter(query: Vec<(String, String)>) -> Result<RequestFilter, Problem> {
    let mut filter = RequestFilter::default();
    for (key, text) in query {
        match key.as_str() {
            "ladder" => filter.ladder = Some(text),
            "tried" => filter.tried = Some(text),
            "answered_by" => filter.answered_by = Some(text),
            "outcome" => filter.outcome = Some(value(&key, &text)?),
            "kind" => filter.kind = Some(value(&key, &text)?),
            "since" => filter.since = Some(value(&key, &text)?),
            "until" => filter.until = Some(value(&key, &text)?),
            "id" => filter.id = Some(value(&key, &text)?),
            "client" => filter.client = Some(text),
            "min_ttft_ms" => filter.min_ttft_ms = Some(value(&key, &text)?),
            "trouble" => filter.trouble = value(&key, &text)?,
            "rescued" => filter.rescued = value(&key, &text)?,
            "ended" => filter.ended = Some(value(&key, &text)?),
            "sort" => filter.sort = value(&key, &text)?,
            "limit" => filter.limit = value(&key, &text)?,
            "cursor" => filter.cursor = Some(text),
            _ => {
                return Err(Problem::new(
                    StatusCode::BAD_REQUEST,
                    "Unknown filter. These are known: ladder, tried, answered_by, outcome, kind, \
                     since, until, id, client, min_ttft_ms, ended, trouble, rescued, sort, limit, cursor.",
                ));
            }
        }
    }
    Ok(filter)
}

pub(super) fn value<T: FromStr<Err: Display>>(key: &str, text: &str) -> Result<T, Problem> {
    text.parse().map_err(|error| Problem::new(StatusCode::BAD_REQUEST, format!("{key}: {error}.")))
}

/// A disk that does not answer holds a reader up for so long.
const LONGEST: Duration = Duration::from_secs(5);
/// So many read at the same time: each takes a thread, and a disk that hangs keeps it.
static READERS: Semaphore = Semaphore::const_new(32);

/// Reads the journal off the async threads.
pub(super) async fn read<T: Send + 'static>(
    reader: Reader,
    query: impl FnOnce(&Reader) -> Result<T, ReadError> + Send + 'static,
) -> Result<T, Problem> {
    let reading = async {
        let place = READERS.acquire().await;
        tokio::task::spawn_blocking(move || {
            let _until_it_has_answered = place;
            query(&reader)
        })
        .await
    };
    match tokio::time::timeout(LONGEST, reading).await {
        Ok(Ok(Ok(answer))) => Ok(answer),
        Ok(Ok(Err(error))) => {
            let status = match error {
                ReadError::Cursor(_) | ReadError::TooMuch => StatusCode::BAD_REQUEST,
                _ => StatusCode::SERVICE_UNAVAILABLE,
            };
            Err(Problem::new(status, error.to_string()))
        }
        Ok(Err(_panicked)) => Err(Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The query failed inside the relay; its log says why.",
        )),
        Err(_elapsed) => Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            format!(
                "The journal's disk did not answer within {LONGEST:?}. Terminal at the disk; the board \
                 and all changes work without it."
            ),
        )),
    }
}
