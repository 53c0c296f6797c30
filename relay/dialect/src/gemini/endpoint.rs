//! Where Gemini is called.

use crate::endpoint::{Address, Endpoint};

pub(crate) const ADDRESS: Address = Address {
    // Google's own clients take an address without a version.
    version: "/v1beta",
    paths: &[(Endpoint::Answer, "/models/{model}:streamGenerateContent")],
    // Some clients write the name as Gemini's list of models does.
    model_prefix: "models/",
    query: Some(("alt", "sse")),
    headers: &[],
    credential: ("x-goog-api-key", ""),
    along: &[],
};
