//! Gemini's `streamGenerateContent`, on the providers' side alone.

mod write_request;

pub use write_request::write_request;
