//! `POST /admin/v1/changes` and `/preview`, and their short forms for one rung or ladder.

use super::body::Wanted;
use super::openapi::filters::{MustHaveSeen, Seen};
use super::openapi::refusals::{Doing, Gated, Named, Ordering, Versioned};
use super::part::Part;
use super::problem::Problem;
use super::requests::read;
use super::tokens::Operator;
use crate::drive::{Answer, Hub, operator, snapshot};
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use policy::operator::Refused;
use shared::OverrideMode;
use shared::admin::actions::{Action, ActionKind, Preview};
use shared::admin::changes::{
    ActionBody, Change, ChangeAnswer, ChangeRequest, ConfigWord, NewOrder, OrderNow, OverrideNow,
    PutOrder, PutOverride, Refusal, Target,
};
use std::sync::Arc;
use std::time::Duration;

type Shared = State<Arc<Hub>>;

/// A change waits this long for what the journal knows of its id, and is made without it then.
const EARLIER_LIFE: Duration = Duration::from_millis(500);

/// Several changes at once, all or nothing
#[utoipa::path(
    post, path = "/admin/v1/changes", tag = "changes", operation_id = "change",
    request_body = ChangeRequest,
    responses((status = 200, description = "Done, and in force.", body = ChangeAnswer), Gated, Doing, Versioned, Ordering),
)]
pub(super) async fn change(
    State(relay): Shared,
    operator: Operator,
    Wanted(request): Wanted<ChangeRequest>,
) -> Result<Response, Problem> {
    make(&relay, &operator, &request).await
}

/// What a change would do; nothing is changed
#[utoipa::path(
    post, path = "/admin/v1/preview", tag = "changes", operation_id = "preview",
    request_body = ChangeRequest,
    responses((status = 200, description = "By the last requests of each ladder.", body = Preview), Gated, Doing,
        (status = 500, description = "The preview failed inside the relay.", body = Refusal),
    ),
)]
pub(super) async fn preview(
    State(relay): Shared,
    operator: Operator,
    Wanted(request): Wanted<ChangeRequest>,
) -> Result<Json<Preview>, Problem> {
    let by = operator.name;
    // It warns of what is more than usual.
    snapshot::prepare(&relay).await;
    // Thousands of walks are planned: not on a thread that others wait for.
    let preview =
        tokio::task::spawn_blocking(move || operator::preview(&relay, &request, &by)).await;
    match preview {
        Ok(preview) => Ok(Json(preview?)),
        Err(_panicked) => Err(Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "The preview failed inside the relay; its log says why. The change itself may work.",
        )),
    }
}

/// A rung's override
#[utoipa::path(
    get, path = "/admin/v1/rungs/{rung}/override", tag = "changes", operation_id = "override_now",
    params(("rung" = String, Path, description = "Its name in the config.")),
    responses((status = 200, description = "As it is now.", body = OverrideNow,
            headers(("ETag" = String, description = "Its version, for If-Match."))), Gated, Named),
)]
pub(super) async fn override_now(
    State(relay): Shared,
    Part(rung): Part,
) -> Result<Response, Problem> {
    let now = operator::override_now(&relay, &rung)?;
    Ok((etag(now.version), Json(now)).into_response())
}

/// A ladder's order
#[utoipa::path(
    get, path = "/admin/v1/ladders/{ladder}/order", tag = "changes", operation_id = "order_now",
    params(("ladder" = String, Path, description = "Its name in the config.")),
    responses((status = 200, description = "As it is now.", body = OrderNow,
            headers(("ETag" = String, description = "Its version, for If-Match."))), Gated, Named),
)]
pub(super) async fn order_now(
    State(relay): Shared,
    Part(ladder): Part,
) -> Result<Response, Problem> {
    let now = operator::order_now(&relay, &ladder)?;
    Ok((etag(now.version), Json(now)).into_response())
}

/// Override a rung's breaker
#[utoipa::path(
    put, path = "/admin/v1/rungs/{rung}/override", tag = "changes", operation_id = "put_override",
    params(("rung" = String, Path, description = "Its name in the config."),
        Seen),
    request_body = PutOverride,
    responses((status = 200, description = "Done, and in force.", body = ChangeAnswer), Gated, Doing, Versioned),
)]
pub(super) async fn put_override(
    State(relay): Shared,
    operator: Operator,
    Part(rung): Part,
    headers: HeaderMap,
    Wanted(put): Wanted<PutOverride>,
) -> Result<Response, Problem> {
    let PutOverride { id, reason, ttl, mode, cut_streams, accept } = put;
    if cut_streams && mode != OverrideMode::ForcedOpen {
        let message =
            "cut_streams goes with forced_open only. Leave it out, or force the rung open.";
        return Err(Problem::new(StatusCode::BAD_REQUEST, message));
    }
    let expect = expected(&headers, || Ok(operator::override_now(&relay, &rung)?.version))?;
    let expect = expect.map(|version| (format!("rung/{rung}"), version)).into_iter().collect();
    let change = Change::Override { target: Target::Rung(rung), mode, cut_streams };
    let request = ChangeRequest { id, reason, ttl, changes: vec![change], expect, accept };
    make(&relay, &operator, &request).await
}

/// Leave a rung to its breaker again
#[utoipa::path(
    delete, path = "/admin/v1/rungs/{rung}/override", tag = "changes", operation_id = "end_override",
    params(("rung" = String, Path, description = "Its name in the config."),
        Seen),
    request_body = ActionBody,
    responses((status = 200, description = "Done, and in force.", body = ChangeAnswer), Gated, Doing, Versioned),
)]
pub(super) async fn end_override(
    State(relay): Shared,
    operator: Operator,
    Part(rung): Part,
    headers: HeaderMap,
    Wanted(body): Wanted<ActionBody>,
) -> Result<Response, Problem> {
    let ActionBody { id, reason, accept } = body;
    let expect = expected(&headers, || Ok(operator::override_now(&relay, &rung)?.version))?;
    let expect = expect.map(|version| (format!("rung/{rung}"), version)).into_iter().collect();
    let target = Target::Rung(rung);
    let change = Change::Override { target, mode: OverrideMode::Auto, cut_streams: false };
    let request = ChangeRequest { id, reason, ttl: None, changes: vec![change], expect, accept };
    make(&relay, &operator, &request).await
}

/// Put a ladder's rungs in another order
#[utoipa::path(
    put, path = "/admin/v1/ladders/{ladder}/order", tag = "changes", operation_id = "put_order",
    params(("ladder" = String, Path, description = "Its name in the config."),
        MustHaveSeen),
    request_body = PutOrder,
    responses((status = 200, description = "Done, and in force.", body = ChangeAnswer), Gated, Doing, Versioned, Ordering),
)]
pub(super) async fn put_order(
    State(relay): Shared,
    operator: Operator,
    Part(ladder): Part,
    headers: HeaderMap,
    Wanted(put): Wanted<PutOrder>,
) -> Result<Response, Problem> {
    let PutOrder { id, reason, ttl, rungs } = put;
    let expect = expected(&headers, || Ok(operator::order_now(&relay, &ladder)?.version))?;
    let expect = expect.map(|version| (format!("ladder/{ladder}"), version)).into_iter().collect();
    let changes = vec![Change::Order { ladder, order: NewOrder::Rungs(rungs) }];
    let request = ChangeRequest { id, reason, ttl, changes, expect, accept: Vec::new() };
    make(&relay, &operator, &request).await
}

/// Give a ladder its config's order again
#[utoipa::path(
    delete, path = "/admin/v1/ladders/{ladder}/order", tag = "changes", operation_id = "end_order",
    params(("ladder" = String, Path, description = "Its name in the config."),
        MustHaveSeen),
    request_body = ActionBody,
    responses((status = 200, description = "Done, and in force.", body = ChangeAnswer), Gated, Doing, Versioned, Ordering),
)]
pub(super) async fn end_order(
    State(relay): Shared,
    operator: Operator,
    Part(ladder): Part,
    headers: HeaderMap,
    Wanted(body): Wanted<ActionBody>,
) -> Result<Response, Problem> {
    let ActionBody { id, reason, accept } = body;
    let expect = expected(&headers, || Ok(operator::order_now(&relay, &ladder)?.version))?;
    let expect = expect.map(|version| (format!("ladder/{ladder}"), version)).into_iter().collect();
    let order = NewOrder::Config(ConfigWord::Config);
    let changes = vec![Change::Order { ladder, order }];
    let request = ChangeRequest { id, reason, ttl: None, changes, expect, accept };
    make(&relay, &operator, &request).await
}

async fn make(
    relay: &Arc<Hub>,
    operator: &Operator,
    request: &ChangeRequest,
) -> Result<Response, Problem> {
    let is_same =
        |action: &Action| action.changes == request.changes && action.reason == request.reason;
    if let Some(first) = first_answer(relay, &request.id, ActionKind::Change, is_same).await? {
        return Ok(first);
    }
    response_once_recorded(operator::change(relay, request, &operator.name)).await
}

/// What was answered the first time, if this id was used already: by this relay, or by an
/// earlier life of it. A journal that cannot be read is no reason to do nothing.
pub(super) async fn first_answer(
    relay: &Arc<Hub>,
    id: &str,
    kind: ActionKind,
    is_same: impl Fn(&Action) -> bool,
) -> Result<Option<Response>, Problem> {
    if let Some(answer) = operator::answered(relay, id, kind, &is_same)? {
        return response_once_recorded(Ok(answer)).await.map(Some);
    }
    let key = id.to_owned();
    let found = read(relay.journal.reader(), move |reader| reader.action(&key));
    let Ok(Ok(Some(found))) = tokio::time::timeout(EARLIER_LIFE, found).await else {
        return Ok(None);
    };
    response_once_recorded(operator::answered_before(&found, kind, is_same)).await.map(Some)
}

/// The answer, once it is known how its record fared.
pub(super) async fn response_once_recorded(
    answer: Result<Answer, Refused>,
) -> Result<Response, Problem> {
    let Some(json) = answer?.json().await else {
        return Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "The relay is ending. Ask for the action by its id once it is back.",
        ));
    };
    let kind = HeaderValue::from_static("application/json");
    Ok(([(header::CONTENT_TYPE, kind)], json.to_string()).into_response())
}

/// The version in If-Match; `*` stands for whichever it is now.
fn expected(
    headers: &HeaderMap,
    present: impl FnOnce() -> Result<u64, Refused>,
) -> Result<Option<u64>, Problem> {
    let Some(value) = headers.get(header::IF_MATCH) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(Some(present()?));
    }
    let version = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    version.parse().map(Some).map_err(|_| {
        let message = "If-Match must be the version that you saw, such as \"7\", or *.";
        Problem::new(StatusCode::BAD_REQUEST, message)
    })
}

fn etag(version: u64) -> [(header::HeaderName, String); 1] {
    [(header::ETAG, format!("\"{version}\""))]
}
