//! A change that is being thought of: what it would do, and how sending it went.

mod about;
mod msg;
pub mod opening;
mod order;
mod scope;
mod state;
pub mod update;
pub mod view;

pub use about::{About, OtherAction};
pub use msg::{Msg, Open};
pub use order::Move;
pub use state::{Dialog, PATIENCE, Sent, TYPING, is_order};
