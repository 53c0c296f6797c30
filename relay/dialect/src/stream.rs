//! Reads an answer: its events are decoded, observed, and passed through or translated.

pub mod facts;
pub(crate) mod frame;
pub(crate) mod observer;
pub(crate) mod pass_through;
pub(crate) mod replay;
mod restoring;
pub mod sse;
pub(crate) mod transform;
pub(crate) mod translate;
