//! Public bug reports as tests; the numbers are those of the project's
//! collection of cases. Upstream bodies lie in `fixtures/`.

mod account;
mod breaker;
mod budget;
mod cancel;
pub(crate) mod client;
mod cost;
mod fallback;
mod headers;
mod holds;
mod pair;
mod parse;
mod races;
mod rows;
mod speech;
mod timeout;
mod translate;
mod usage;
