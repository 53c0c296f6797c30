//! Bearer tokens of operators and viewers: who calls, and what they may.

use super::limiter::Limiter;
use super::problem::Problem;
use crate::config::{Role, Token};
use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use policy::Time;
use sha2::{Digest as _, Sha256};
use shared::admin::{self, You};
use std::net::IpAddr;
use std::sync::Arc;
use subtle::{ConditionallySelectable as _, ConstantTimeEq as _};

/// Who signs what is done where no token is configured.
const LOCAL: &str = "local";

/// Who calls.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// The token's name; `None`: no token is configured.
    name: Option<Arc<str>>,
    role: Role,
}

impl Caller {
    /// The same in the words of the API.
    pub(super) fn you(&self) -> You {
        let role = match self.role {
            Role::Viewer => admin::Role::Viewer,
            Role::Operator => admin::Role::Operator,
        };
        You { name: self.name.as_deref().map(str::to_owned), role }
    }
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
            Some(Caller { name, role: Role::Operator }) => {
                Ok(Self { name: name.clone().unwrap_or_else(|| LOCAL.into()) })
            }
            _ => Err(Problem::new(
                StatusCode::FORBIDDEN,
                "This token may look and not change. Use one with role = \"operator\" in admin.tokens.",
            )),
        }
    }
}

/// Lets in whoever has a token, and knows who has tried too often.
#[derive(Debug, Default)]
pub(super) struct Gate {
    failed: Limiter,
}

impl Gate {
    /// Who this is, by the token; without any configured, whoever is on this machine may
    /// do everything.
    ///
    /// # Errors
    /// No valid token, one in the address, or too many wrong ones from there.
    pub(super) fn pass(
        &self,
        tokens: &[Token],
        headers: &HeaderMap,
        query: Option<&str>,
        address: Option<IpAddr>,
        now: Time,
    ) -> Result<Caller, Problem> {
        let mut keys = query.into_iter().flat_map(|query| query.split('&'));
        if keys.any(|pair| matches!(pair.split('=').next(), Some("token" | "access_token"))) {
            // Addresses end up in logs and histories.
            return Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "A token does not belong in the address. Send it as 'Authorization: Bearer TOKEN', \
                 and make a new one: this one has been seen.",
            ));
        }
        if tokens.is_empty() {
            return Ok(Caller { name: None, role: Role::Operator });
        }
        let presented = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "));
        if let Some(presented) = presented {
            // Checked before wrong tokens are counted. Behind a proxy or a tunnel all callers share
            // one address, so wrong tokens of one caller must not lock out an operator.
            if let Some(token) = find(tokens, presented) {
                return Ok(Caller { name: Some(token.name.as_str().into()), role: token.role });
            }
            if let Some(wait) = self.failed.must_wait(address, now) {
                return Err(Problem {
                    retry_after: Some(wait),
                    ..Problem::new(
                        StatusCode::TOO_MANY_REQUESTS,
                        "Too many wrong tokens from this address. Wait, then send one of admin.tokens.",
                    )
                });
            }
            // Who sends none is not guessing.
            self.failed.note(address, now);
        }
        Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "No valid token. Send one of admin.tokens as 'Authorization: Bearer TOKEN'.",
        ))
    }
}

fn find<'a>(tokens: &'a [Token], presented: &str) -> Option<&'a Token> {
    let hash: [u8; 32] = Sha256::digest(presented.as_bytes()).into();
    // All are compared, so that the time tells nothing about which one came close.
    let place = (0_u32..).zip(tokens).fold(u32::MAX, |found, (place, token)| {
        u32::conditional_select(&found, &place, token.sha256.ct_eq(&hash))
    });
    tokens.get(usize::try_from(place).ok()?)
}
