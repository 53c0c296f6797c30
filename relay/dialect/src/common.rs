//! What all dialects share. Nothing here knows a dialect's folder.

pub mod fields;
pub(crate) mod harmless;
pub(crate) mod json;
pub(crate) mod members;
pub mod needs;
pub(crate) mod openai;
pub mod quoted;
pub mod reject;
pub mod retry_after;
pub(crate) mod shape;
pub(crate) mod spots;
pub mod thinks;
pub(crate) mod values;
