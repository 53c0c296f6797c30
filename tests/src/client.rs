//! A client on a plain socket: it sees every read and when it came, and can
//! leave at any moment, politely or not.

mod answer;
mod exchange;
mod http;
mod sse;

pub use answer::{Answer, Read};
pub use exchange::{End, Exchange};
pub(crate) use http::completion as http_completion;
pub use http::{Head, dechunk, request};
pub use sse::Event;
