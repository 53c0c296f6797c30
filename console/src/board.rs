//! The Board: how everything stands, by ladders, providers or domains.

pub mod cell;
pub mod groups;
mod msg;
pub mod order;
mod state;
pub mod update;
pub mod view;

pub use msg::Msg;
pub use state::{Selected, Turn};
