//! Actions: what operators have in force, and what they did.

mod msg;
pub mod rows;
pub mod update;
pub mod view;

pub use msg::Msg;
