//! The admin plane: what on-call engineers and their tools call.
//!
//! It reads: readiness, numbers, the board and the feed, and what the journal has of
//! requests, transitions, minutes and actions; a viewer's token is enough for all of it.
//! And it changes: overrides, orders, probes, checks, notes, for whoever has an operator's
//! token. Who may change what, in which words it is asked and with which status it is
//! refused stands here; what a change is and whether it is made is the drive's affair.

mod actions;
mod board;
mod body;
mod changes;
mod feed;
mod health;
mod limiter;
mod metrics;
mod openapi;
mod part;
mod past;
mod probe_undo_note;
mod problem;
mod requests;
mod tokens;

use crate::drive::{Hub, Peer};
use crate::listen::Guard;
use crate::wall;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::IntoResponse as _;
use axum::{Extension, Router};
use bytes::Bytes;
use http::StatusCode;
use openapi::Document;
use problem::Problem;
use std::sync::{Arc, LazyLock};
use tokens::Gate;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What anybody may call.
fn open() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new().routes(routes!(health::alive)).routes(routes!(health::ready))
}

/// What needs a token, where there are any.
fn gated() -> OpenApiRouter<Arc<Hub>> {
    OpenApiRouter::new()
        .routes(routes!(openapi::show))
        .routes(routes!(metrics::page))
        .routes(routes!(requests::list))
        .routes(routes!(requests::one))
        .routes(routes!(board::show))
        .routes(routes!(feed::open))
        .routes(routes!(past::transitions))
        .routes(routes!(past::series))
        .routes(routes!(past::summary))
        .routes(routes!(changes::change))
        .routes(routes!(changes::preview))
        .routes(routes!(changes::override_now, changes::put_override, changes::end_override))
        .routes(routes!(changes::order_now, changes::put_order, changes::end_order))
        .routes(routes!(probe_undo_note::probe))
        .routes(routes!(probe_undo_note::check))
        .routes(routes!(probe_undo_note::note))
        .routes(routes!(probe_undo_note::end_note))
        .routes(routes!(actions::list))
        .routes(routes!(actions::one))
        .routes(routes!(probe_undo_note::undo))
}

/// The admin API's OpenAPI document: of every route, whatever the config.
#[must_use]
pub fn document() -> Bytes {
    openapi::document(open().merge(gated()).into_openapi())
}

static DOCUMENT: LazyLock<Bytes> = LazyLock::new(document);

/// The admin plane's routes.
pub fn router(relay: &Arc<Hub>) -> Router {
    let guarding = Arc::clone(relay);
    let guard = move || Guard {
        relay: Arc::clone(&guarding),
        keyed: !guarding.in_force().config.admin.tokens.is_empty(),
        origins: Arc::new([]),
        refuse: |foreign| Problem::new(foreign.status(), foreign.advice()).into_response(),
    };
    let gate = Arc::new(Gate::default());
    let checking = Arc::clone(relay);
    let api = gated().split_for_parts().0.layer(Extension(Document(&DOCUMENT)));
    let api = api.layer(middleware::from_fn(move |mut request: Request, next: Next| {
        let peer = request.extensions().get::<Arc<Peer>>();
        let address = peer.and_then(|peer| peer.address());
        let in_force = checking.in_force();
        let tokens = &in_force.config.admin.tokens;
        let (headers, query) = (request.headers(), request.uri().query());
        let allowed = gate.pass(tokens, headers, query, address, wall::now());
        async move {
            match allowed {
                Ok(caller) => {
                    request.extensions_mut().insert(caller.you());
                    request.extensions_mut().insert(caller);
                    next.run(request).await
                }
                Err(problem) => problem.into_response(),
            }
        }
    }));
    let open = open().split_for_parts().0;
    open.merge(api)
        .fallback(async || {
            Problem::new(
                StatusCode::NOT_FOUND,
                "There is nothing at this path. What there is, and how it is called, is said by \
                 /admin/v1/openapi.json.",
            )
        })
        .method_not_allowed_fallback(async || {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "This path is not called with this method. What is read is read with GET; what \
                 can be changed, and how, is in the README under 'Changing things live'.",
            )
        })
        .layer(middleware::from_fn(move |request, next| guard().pass(request, next)))
        .with_state(Arc::clone(relay))
}
