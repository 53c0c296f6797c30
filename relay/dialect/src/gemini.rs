//! Gemini's `streamGenerateContent`, on the providers' side alone.

mod args;
mod beside;
pub(super) mod finish;
mod reader;
mod usage;
mod write_request;

pub(super) use reader::GeminiReader;
pub use write_request::{can_be_told, write_request};
