//! Bearer tokens of operators and viewers.

use super::Problem;
use crate::config::Token;
use http::{HeaderMap, StatusCode, header};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Whether the call carries one of `tokens`; without any configured, all may read.
pub(super) fn check(tokens: &[Token], headers: &HeaderMap) -> Result<(), Problem> {
    if tokens.is_empty() {
        return Ok(());
    }
    let presented = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.strip_prefix("Bearer "));
    let hash: [u8; 32] = Sha256::digest(presented.unwrap_or_default().as_bytes()).into();
    // All are compared, so that the time tells nothing about which one came close.
    let known = tokens
        .iter()
        .fold(subtle::Choice::from(0), |known, token| known | token.sha256.ct_eq(&hash));
    if presented.is_some() && bool::from(known) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNAUTHORIZED,
        "No valid token. Send one of admin.tokens as 'Authorization: Bearer TOKEN'.",
    ))
}
