//! Bearer tokens of operators and viewers.

use super::Problem;
use super::limiter::Limiter;
use crate::config::{self, Token};
use crate::policy::Time;
use http::{HeaderMap, StatusCode, header};
use sha2::{Digest as _, Sha256};
use shared::admin::{Role, You};
use std::net::IpAddr;
use subtle::{Choice, ConditionallySelectable as _, ConstantTimeEq as _};

/// Who may enter, and who has tried too often.
#[derive(Debug)]
pub(super) struct Gate {
    tokens: Vec<Token>,
    failed: Limiter,
}

impl Gate {
    pub(super) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, failed: Limiter::default() }
    }

    /// Who this is, by the token; without any configured, anybody, with every right.
    ///
    /// # Errors
    /// No valid token, or too many wrong ones from this address.
    pub(super) fn pass(
        &self,
        headers: &HeaderMap,
        address: Option<IpAddr>,
        now: Time,
    ) -> Result<You, Problem> {
        if self.tokens.is_empty() {
            return Ok(You { name: None, role: Role::Operator });
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
        let presented = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.strip_prefix("Bearer "));
        if let Some(token) = presented {
            if let Some(known) = self.find(token) {
                let role = match known.role {
                    config::Role::Viewer => Role::Viewer,
                    config::Role::Operator => Role::Operator,
                };
                return Ok(You { name: Some(known.name.clone()), role });
            }
            // Who sends none is not guessing.
            self.failed.note(address, now);
        }
        Err(Problem::new(
            StatusCode::UNAUTHORIZED,
            "No valid token. Send one of admin.tokens as 'Authorization: Bearer TOKEN'.",
        ))
    }

    fn find(&self, token: &str) -> Option<&Token> {
        let hash: [u8; 32] = Sha256::digest(token.as_bytes()).into();
        let mut found = u64::MAX;
        // All are compared, so that the time tells nothing about which one came close.
        for (index, known) in self.tokens.iter().enumerate() {
            let same: Choice = known.sha256.ct_eq(&hash);
            found.conditional_assign(&(index as u64), same);
        }
        self.tokens.get(usize::try_from(found).ok()?)
    }
}
