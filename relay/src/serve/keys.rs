//! Client keys: who calls, and which ladders they may use.

use super::reject::Rejection;
use crate::config::ClientConfig;
use http::{HeaderMap, StatusCode, header};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// The client whose key the request carries; `None` if no client is configured.
///
/// # Errors
/// No key or a wrong one. The text is the same for both, and never repeats it.
pub(super) fn client<'a>(
    clients: &'a [ClientConfig],
    headers: &HeaderMap,
) -> Result<Option<&'a ClientConfig>, Rejection> {
    if clients.is_empty() {
        return Ok(None);
    }
    let presented = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, key)| key.trim())
        // Where Anthropic's SDKs put it.
        .or_else(|| headers.get("x-api-key").and_then(|value| value.to_str().ok()).map(str::trim));
    let hash: [u8; 32] = Sha256::digest(presented.unwrap_or_default().as_bytes()).into();
    // Every key is compared, so that the time does not reveal which one came close.
    let mut found = None;
    for client in clients {
        for key in &client.keys {
            if bool::from(key.ct_eq(&hash)) {
                found = Some(client);
            }
        }
    }
    found.filter(|_| presented.is_some()).map(Some).ok_or_else(|| {
        Rejection::new(
            StatusCode::UNAUTHORIZED,
            "invalid_api_key",
            "No valid key for this relay. Send the key that its operator gave you as \
             'Authorization: Bearer KEY' or 'x-api-key: KEY'; a provider's own key is not one.",
        )
    })
}

/// Whether `client` may use the ladder with this index.
pub(super) fn may_use(client: Option<&ClientConfig>, ladder: usize) -> bool {
    client.and_then(|client| client.ladders.as_ref()).is_none_or(|own| own.contains(&ladder))
}
