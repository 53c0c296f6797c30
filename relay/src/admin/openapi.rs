//! `GET /admin/v1/openapi.json`: the admin API, described for programs.
//!
//! A call is routed and described by the same line of `admin.rs`, so no route is
//! missing here. Types say in `shared` what they look like, handlers what they take and
//! give; what most of them have in common stands in the files below this one.

pub(super) mod filters;
pub(super) mod refusals;

use axum::Extension;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderValue, header};
use refusals::Gated;
use serde_json::{Map, Value};
use shared::admin::actions::Action;
use shared::admin::feed::Operators;
use shared::admin::{
    Board, ConfigState, Curve, FeedKind, LadderState, RequestBatch, RungState, Tick, TransitionRow,
};
use std::sync::LazyLock;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Components, OpenApi};
use utoipa::{Modify, OpenApi as _};

/// What is not said by routes.
#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Belay's admin API",
        version = "1",
        description = "What operators and their tools call: how everything stands, what was, and \
            what can be changed. Units: `_ms` whole milliseconds; `_at` RFC 3339, UTC, by the \
            relay's clock; shares 0..1; `_nps` nano-dollars per second. `null` is unknown, which \
            is never 0. Answers may get more fields; bodies with unknown ones are refused.",
    ),
    components(schemas(
        Action,
        Board,
        ConfigState,
        Curve,
        FeedKind,
        LadderState,
        Operators,
        RequestBatch,
        RungState,
        Tick,
        TransitionRow,
    )),
    modifiers(&Token),
    security(("token" = []), ()),
    tags(
        (name = "now", description = "How everything stands."),
        (name = "past", description = "What was, by the journal."),
        (name = "changes", description = "What operators change, and what they did."),
        (name = "process", description = "For supervisors and scrapers."),
    )
)]
struct Preface;

/// Who may call.
struct Token;

impl Modify for Token {
    fn modify(&self, document: &mut OpenApi) {
        let mut scheme = Http::new(HttpAuthScheme::Bearer);
        scheme.description = Some(
            "A token of `admin.tokens`: role `viewer` to look, `operator` to change. Without \
             tokens in the config none is needed: the listener is on loopback then."
                .to_owned(),
        );
        let components = document.components.get_or_insert_with(Components::new);
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// The document of these routes, as it is sent.
pub(super) fn document(routes: OpenApi) -> Bytes {
    let mut document = Preface::openapi();
    document.merge(routes);
    let json = serde_json::to_value(document).and_then(|mut document| {
        plain(&mut document);
        serde_json::to_vec(&document)
    });
    let json = json.unwrap_or_else(|error| {
        tracing::error!(%error, "the OpenAPI document could not be written");
        b"{}".to_vec()
    });
    json.into()
}

/// Puts right what is said for Rust and not for JSON: a field that may be null is always
/// there, `None` is written as null, and there are no links into the source.
fn plain(part: &mut Value) {
    match part {
        Value::Object(fields) => {
            mark_nullable(fields);
            if let Some(Value::String(text)) = fields.get_mut("description") {
                *text = text.replace("`None`", "`null`").replace("[`", "`").replace("`]", "`");
            }
            fields.values_mut().for_each(plain);
        }
        Value::Array(items) => items.iter_mut().for_each(plain),
        _ => {}
    }
}

fn mark_nullable(schema: &mut Map<String, Value>) {
    let Some(Value::Object(fields)) = schema.get("properties") else { return };
    let nulls: Vec<_> = fields
        .iter()
        .filter(|(_, field)| may_be_null(field))
        .map(|(name, _)| name.clone())
        .collect();
    if nulls.is_empty() {
        return;
    }
    let required = schema.entry("required").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(required) = required {
        for name in nulls.into_iter().map(Value::String) {
            if !required.contains(&name) {
                required.push(name);
            }
        }
    }
}

fn may_be_null(field: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let has_null = |kinds: &Vec<Value>| kinds.iter().any(is_null);
    let one_of =
        |kinds: &Vec<Value>| kinds.iter().any(|kind| kind.get("type").is_some_and(is_null));
    field.get("type").and_then(Value::as_array).is_some_and(has_null)
        || field.get("oneOf").and_then(Value::as_array).is_some_and(one_of)
}

/// The document, made when it is first asked for.
#[derive(Clone, Copy)]
pub(super) struct Document(pub(super) &'static LazyLock<Bytes>);

/// This document
#[utoipa::path(
    get, path = "/admin/v1/openapi.json", tag = "process", operation_id = "openapi",
    responses((status = 200, description = "OpenAPI 3.1.", body = Value), Gated),
)]
pub(super) async fn show(Extension(Document(document)): Extension<Document>) -> Response {
    let kind = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, kind)], (*document).clone()).into_response()
}
