//! Where providers of chat are called.

use crate::endpoint::{Address, Endpoint};

pub(crate) const ADDRESS: Address = Address {
    version: "",
    paths: &[
        (Endpoint::Answer, "/chat/completions"),
        (Endpoint::Completions, "/completions"),
        (Endpoint::Embeddings, "/embeddings"),
        (Endpoint::Moderations, "/moderations"),
    ],
    model_prefix: "",
    query: None,
    headers: &[],
    credential: ("authorization", "Bearer "),
    along: &[],
};
