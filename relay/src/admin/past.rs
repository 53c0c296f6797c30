//! `GET /admin/v1/transitions`, `/series` and `/summary`: what was.

use super::openapi::filters;
use super::openapi::refusals::{Gated, Read};
use super::problem::Problem;
use super::requests::{read, value};
use crate::drive::Hub;
use crate::wall;
use axum::Json;
use axum::extract::{Query, State};
use http::StatusCode;
use journal::{GroupBy, SeriesQuery, SummaryQuery, TransitionFilter};
use shared::UnixMillis;
use shared::admin::{Series, Summary, TransitionPage};
use std::sync::Arc;
use std::time::Duration;

type Pairs = Query<Vec<(String, String)>>;

/// What is looked back on unless said otherwise, in milliseconds: an hour.
const BACK: i64 = 3_600_000;
/// The longest span in milliseconds: what is kept, and a day.
const LONGEST: i64 = 31 * 24 * 3_600_000;
/// Steps of a curve at the most.
const MOST_STEPS: i64 = 2_000;
/// The shortest step: what the journal has.
const STEP: Duration = Duration::from_secs(60);

/// When breakers turned, and why, newest first
#[utoipa::path(
    get, path = "/admin/v1/transitions", tag = "past", operation_id = "transitions",
    params(filters::TransitionQuery),
    responses((status = 200, description = "A page.", body = TransitionPage), Gated, Read),
)]
pub(super) async fn transitions(
    State(relay): State<Arc<Hub>>,
    Query(query): Pairs,
) -> Result<Json<TransitionPage>, Problem> {
    let mut filter = TransitionFilter::default();
    for (key, text) in query {
        match key.as_str() {
            "rung" => filter.rung = Some(text),
            "since" => filter.since = Some(value(&key, &text)?),
            "until" => filter.until = Some(value(&key, &text)?),
            "limit" => filter.limit = Some(value(&key, &text)?),
            "cursor" => filter.cursor = Some(text),
            _ => return Err(Problem::unknown("rung, since, until, limit, cursor")),
        }
    }
    let page = read(relay.journal.reader(), move |reader| reader.transitions(&filter)).await?;
    Ok(Json(page))
}

/// Curves, a minute or more a step
#[utoipa::path(
    get, path = "/admin/v1/series", tag = "past", operation_id = "series",
    params(filters::SeriesQuery),
    responses((status = 200, description = "The curves.", body = Series), Gated, Read),
)]
pub(super) async fn series(
    State(relay): State<Arc<Hub>>,
    Query(query): Pairs,
) -> Result<Json<Series>, Problem> {
    let (mut since, mut until) = (None, None);
    let mut asked = SeriesQuery {
        by_ladder: false,
        rung: None,
        ladder: None,
        since: UnixMillis(0),
        until: UnixMillis(0),
        step: STEP,
    };
    for (key, text) in query {
        match key.as_str() {
            "by" => asked.by_ladder = by(&text)?,
            "rung" => asked.rung = Some(text),
            "ladder" => asked.ladder = Some(text),
            "since" => since = Some(value(&key, &text)?),
            "until" => until = Some(value(&key, &text)?),
            "step" => asked.step = step(&text)?,
            _ => return Err(Problem::unknown("by, rung, ladder, since, until, step")),
        }
    }
    (asked.since, asked.until) = span(since, until)?;
    let step = i64::try_from(asked.step.as_millis()).unwrap_or(i64::MAX);
    if (asked.until.0 - asked.since.0) / step > MOST_STEPS {
        let text =
            format!("More than {MOST_STEPS} steps. Ask for a longer step or a shorter span.");
        return Err(Problem::new(StatusCode::BAD_REQUEST, text));
    }
    let series = read(relay.journal.reader(), move |reader| reader.series(&asked)).await?;
    Ok(Json(series))
}

/// Sums
#[utoipa::path(
    get, path = "/admin/v1/summary", tag = "past", operation_id = "summary",
    params(filters::SummaryQuery),
    responses((status = 200, description = "The sums.", body = Summary), Gated, Read),
)]
pub(super) async fn summary(
    State(relay): State<Arc<Hub>>,
    Query(query): Pairs,
) -> Result<Json<Summary>, Problem> {
    let (mut since, mut until) = (None, None);
    let (mut group, mut ladder) = (GroupBy::Rung, None);
    for (key, text) in query {
        match key.as_str() {
            "group" => group = group_by(&text)?,
            "ladder" => ladder = Some(text),
            "since" => since = Some(value(&key, &text)?),
            "until" => until = Some(value(&key, &text)?),
            _ => return Err(Problem::unknown("group, ladder, since, until")),
        }
    }
    let (since, until) = span(since, until)?;
    let asked = SummaryQuery { group, ladder, since, until };
    let summary = read(relay.journal.reader(), move |reader| reader.summary(&asked)).await?;
    Ok(Json(summary))
}

fn by(text: &str) -> Result<bool, Problem> {
    match text {
        "rung" => Ok(false),
        "ladder" => Ok(true),
        _ => Err(Problem::new(StatusCode::BAD_REQUEST, "by: there are curves by rung and ladder.")),
    }
}

fn group_by(text: &str) -> Result<GroupBy, Problem> {
    let found = GroupBy::ALL.into_iter().find(|group| group.as_str() == text);
    found.ok_or_else(|| {
        let text = "group: there are sums by rung, outcome, ladder and tenant.";
        Problem::new(StatusCode::BAD_REQUEST, text)
    })
}

fn step(text: &str) -> Result<Duration, Problem> {
    let step = humantime::parse_duration(text)
        .map_err(|error| Problem::new(StatusCode::BAD_REQUEST, format!("step: {error}.")))?;
    // The journal has whole minutes.
    let is_whole = step >= STEP && step.subsec_nanos() == 0 && step.as_secs() % 60 == 0;
    is_whole.then_some(step).ok_or_else(|| {
        Problem::new(StatusCode::BAD_REQUEST, "step: a whole number of minutes, such as 5m.")
    })
}

/// The last hour, unless something else is asked for.
fn span(
    since: Option<UnixMillis>,
    until: Option<UnixMillis>,
) -> Result<(UnixMillis, UnixMillis), Problem> {
    let until = until.unwrap_or_else(wall::unix);
    let since = since.unwrap_or(UnixMillis(until.0.saturating_sub(BACK)));
    let wrong = |text: &str| Err(Problem::new(StatusCode::BAD_REQUEST, text));
    if since >= until {
        return wrong("since: it must lie before until.");
    }
    if until.0.saturating_sub(since.0) > LONGEST {
        return wrong("since: 31 days are the most that is summed up at a time.");
    }
    Ok((since, until))
}
