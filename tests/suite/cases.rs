//! Public bug reports as tests; the numbers are those of the project's
//! collection of cases. Upstream bodies lie in `fixtures/`.

mod cancel;
mod fallback;
mod headers;
mod parse;
mod rows;
mod timeout;
mod usage;
