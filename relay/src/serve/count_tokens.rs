//! `POST /v1/messages/count_tokens`: how long a prompt is. Counted by a provider where one
//! on the ladder does, else estimated, and marked as that.

use super::completions::{RawRequest, along, check, fault};
use super::keys;
use super::reject::Rejection;
use crate::drive::{self, Hub};
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use dialect::request::Endpoint;
use http::{HeaderName, HeaderValue, header};
use shared::Dialect;
use std::sync::Arc;

const ESTIMATED: HeaderName = HeaderName::from_static("x-belay-estimated");

pub(super) async fn count_tokens(State(relay): State<Arc<Hub>>, request: Request) -> Response {
    let counted = count(&relay, request).await;
    let (body, estimated) = match counted {
        Ok(counted) => counted,
        Err(rejection) => {
            relay.metrics.rejected(rejection.code);
            return rejection.to(Dialect::AnthropicMessages).into_response();
        }
    };
    let estimated = HeaderValue::from_static(if estimated { "true" } else { "false" });
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json), (ESTIMATED, estimated)], body).into_response()
}

/// The answer's body, and whether it is an estimate.
async fn count(relay: &Arc<Hub>, request: Request) -> Result<(Bytes, bool), Rejection> {
    let (head, body) = request.into_parts();
    let in_force = relay.in_force();
    let client = keys::client(&in_force.config.clients, &head.headers)?;
    let _running = relay.load.enter();
    let asked = RawRequest {
        dialect: Dialect::AnthropicMessages,
        endpoint: Endpoint::CountTokens,
        headers: &head.headers,
        body,
    };
    let (ladder, request, _held) =
        check(relay, &in_force, client, asked, &mut Default::default()).await?;
    let ladder = in_force.ladders.get(ladder).ok_or_else(fault)?;
    let along = along(Dialect::AnthropicMessages, &head.headers);
    if let Some(body) =
        drive::count_tokens::count_tokens(relay, &in_force, ladder, &request, &along).await
    {
        return Ok((body, false));
    }
    let tokens = request.needs().prompt_tokens.max(1);
    let body = serde_json::json!({"input_tokens": tokens, "estimated": true});
    Ok((body.to_string().into(), true))
}
