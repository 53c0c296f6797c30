//! Bearer tokens of operators and viewers: who calls, and what they may.

use super::Problem;
use crate::config::{Role, Token};
use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

/// Who signs what is done where no token is configured.
const LOCAL: &str = "local";

/// Who calls.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    name: Arc<str>,
    role: Role,
}

/// A caller who may change things.
#[derive(Debug, Clone)]
pub(super) struct Operator {
    /// The token's name: the author of what is done.
    pub(super) name: Arc<str>,
}

impl<S: Sync> FromRequestParts<S> for Operator {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Problem> {
        match parts.extensions.get::<Caller>() {
            Some(Caller { name, role: Role::Operator }) => Ok(Self { name: Arc::clone(name) }),
            _ => Err(Problem::new(
                StatusCode::FORBIDDEN,
                "This token may look and not change. Use one with role = \"operator\" in admin.tokens.",
            )),
        }
    }
}

/// Who the call's token belongs to; without any configured, whoever is on this machine may
/// do everything.
pub(super) fn check(
    tokens: &[Token],
    headers: &HeaderMap,
    query: Option<&str>,
) -> Result<Caller, Problem> {
    let mut keys = query.into_iter().flat_map(|query| query.split('&'));
    if keys.any(|pair| matches!(pair.split('=').next(), Some("token" | "access_token"))) {
        // Addresses end up in logs and histories.
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            "A token does not belong in the address. Send it as 'Authorization: Bearer TOKEN', and \
             make a new one: this one has been seen.",
        ));
    }
    if tokens.is_empty() {
        return Ok(Caller { name: LOCAL.into(), role: Role::Operator });
    }
    let presented = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    let hash: [u8; 32] = Sha256::digest(presented.unwrap_or_default().as_bytes()).into();
    // All are compared, so that the time tells nothing about which one came close.
    let place = (0_u32..).zip(tokens).fold(u32::MAX, |found, (place, token)| {
        u32::conditional_select(&found, &place, token.sha256.ct_eq(&hash))
    });
    let known = usize::try_from(place).ok().and_then(|place| tokens.get(place));
    match known.filter(|_| presented.is_some()) {
        Some(token) => Ok(Caller { name: token.name.as_str().into(), role: token.role }),
        None => Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "No valid token. Send one of admin.tokens as 'Authorization: Bearer TOKEN'.",
        )),
    }
}
