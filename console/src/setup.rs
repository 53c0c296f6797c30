//! Setup: which relays are watched, and how the console looks and alerts.

mod msg;
pub mod update;
pub mod view;

pub use msg::Msg;
