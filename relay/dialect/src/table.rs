//! The dialects: the only file that names all four. Each one has a row here.

use crate::chat::Chat;
use crate::endpoint::{Address, Endpoint};
use crate::gemini::Gemini;
use crate::messages::Messages;
use crate::responses::Responses;
use crate::spec::{ClientSpec, Spec};
use shared::Dialect;

/// The provider's side of a dialect.
pub(crate) const fn spec(dialect: Dialect) -> &'static dyn Spec {
    match dialect {
        Dialect::OpenaiChat => &Chat,
        Dialect::OpenaiResponses => &Responses,
        Dialect::AnthropicMessages => &Messages,
        Dialect::Gemini => &Gemini,
    }
}

/// The client's side of a dialect. For a dialect that no client speaks it is chat, but then nothing
/// is ever written with it.
pub(crate) fn client(dialect: Dialect) -> &'static dyn ClientSpec {
    spec(dialect).client().unwrap_or(&Chat)
}

/// The paths, headers and key header for calls of a dialect's providers.
#[must_use]
pub fn address(dialect: Dialect) -> &'static Address {
    spec(dialect).address()
}

/// The only dialect whose providers have this endpoint; `None`: several dialects have it.
#[must_use]
pub fn owner(endpoint: Endpoint) -> Option<Dialect> {
    let has = |dialect: &Dialect| address(*dialect).path(endpoint).is_some();
    let mut owners = Dialect::ALL.iter().copied().filter(has);
    owners.next().filter(|_| owners.next().is_none())
}
