//! Errors: what a provider's errors mean, and the relay's own errors.

pub mod classify;
pub mod client_error;
pub mod provider_error;
pub mod rows;

pub use classify::{Matcher, classify, names_own_field};
pub use provider_error::{Evidence, ProviderError, parse_error, parse_error_event};
pub use rows::Field;
