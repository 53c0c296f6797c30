//! What both of Belay's programs, the relay and the console, share.
//!
//! Plain data only: ids, units, the closed sets of outcomes, the admin API's types, and the words
//! for them. No clock, and few dependencies, so that neither program needs the other's
//! dependencies. No IO either, except in `remote`, which calls a relay from outside: both programs
//! switch it on, and the schemas do without it.

pub mod action_words;
pub mod admin;
pub mod attempt;
pub mod breaker;
pub mod degrade;
pub mod diagnose;
pub mod dialect;
pub mod figures;
pub mod histogram;
pub mod id;
pub mod order;
pub mod outcome;
pub mod price;
pub mod refused;
#[cfg(feature = "remote")]
pub mod remote;
#[cfg(feature = "openapi")]
pub mod schemas;
pub mod signature;
pub mod time;
pub mod usage;
mod words;

pub use attempt::{AttemptKind, Cause, PassedOver, StreamVerdict, TokenVerdict};
pub use breaker::{BreakerState, OverrideMode, TransitionRule};
pub use degrade::Degrade;
pub use dialect::Dialect;
pub use id::RequestId;
pub use order::OrderSource;
pub use outcome::{AttemptOutcome, RequestOutcome};
pub use price::{NanoUsd, Price};
pub use refused::RefusedReason;
pub use signature::Signature;
pub use time::UnixMillis;
pub use usage::Usage;
pub use words::{UnknownWord, Word, Words};
