//! The dialects: the only file that names all four. A row each.

use crate::chat::Chat;
use crate::endpoint::{Address, Endpoint};
use crate::gemini::Gemini;
use crate::messages::Messages;
use crate::responses::Responses;
use crate::spec::{ClientSpec, Spec};
use shared::Dialect;

/// A dialect by its name.
pub(crate) const fn spec(dialect: Dialect) -> &'static dyn Spec {
    match dialect {
        Dialect::OpenaiChat => &Chat,
        Dialect::OpenaiResponses => &Responses,
        Dialect::AnthropicMessages => &Messages,
        Dialect::Gemini => &Gemini,
    }
}

/// A dialect as clients speak it. Where no client does, nothing is ever written for one: it is
/// chat then.
pub(crate) fn client(dialect: Dialect) -> &'static dyn ClientSpec {
    spec(dialect).client().unwrap_or(&Chat)
}

/// Where and how providers of a dialect are called.
#[must_use]
pub fn address(dialect: Dialect) -> &'static Address {
    spec(dialect).address()
}

/// The dialect whose providers alone have this endpoint; `None`: all have it.
#[must_use]
pub fn owner(endpoint: Endpoint) -> Option<Dialect> {
    let has = |dialect: &Dialect| address(*dialect).path(endpoint).is_some();
    let mut owners = Dialect::ALL.iter().copied().filter(has);
    owners.next().filter(|_| owners.next().is_none())
}
