//! Upstream IO: calls to providers, over reqwest.
//!
//! A [`Provider`] is an account at one endpoint, ready to be called; a
//! [`Call`] is one upstream call that is polled for its events. Nothing is
//! judged here: what a status or a break means is the policy core's business.

mod body;
mod call;
mod client;
mod endpoint;
mod fresh;
mod lookup;
pub mod redact;

pub use call::{Call, CallEvent};
pub use client::{Ask, CannotBuild, Provider};
