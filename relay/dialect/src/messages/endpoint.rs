//! Where providers of messages are called.

use crate::endpoint::{Address, Endpoint};

pub(crate) const ADDRESS: Address = Address {
    // Anthropic's own clients take an address without a version.
    version: "/v1",
    paths: &[(Endpoint::Answer, "/messages"), (Endpoint::CountTokens, "/messages/count_tokens")],
    model_prefix: "",
    query: None,
    // Required by Anthropic; used if the client does not send it.
    headers: &[("anthropic-version", "2023-06-01")],
    credential: ("x-api-key", ""),
    along: &["anthropic-version", "anthropic-beta"],
};
