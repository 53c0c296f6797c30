//! Where providers of responses are called.

use crate::endpoint::{Address, Endpoint};

pub(crate) const ADDRESS: Address = Address {
    version: "",
    paths: &[(Endpoint::Answer, "/responses")],
    model_prefix: "",
    query: None,
    headers: &[],
    credential: ("authorization", "Bearer "),
    along: &[],
};
