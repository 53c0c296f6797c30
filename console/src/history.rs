//! History: the list of requests, from one relay or from several, and the selected one.

mod filter;
mod msg;
pub mod row;
mod rows;
mod state;
pub mod update;
pub mod view;

pub use filter::{Filter, Preset, Sort, Window};
pub use msg::Msg;
pub use rows::{Group, Rows};
pub use state::History;
