//! Breakers: how they turned, over first-token times and failures.

mod curve;
mod msg;
mod state;
pub mod update;
pub mod view;

pub use msg::Msg;
pub use state::{Breakers, SPANS};
