//! What operators see in a terminal: pure functions from the admin API's types to lines.
//!
//! Nothing here reads a clock, a socket or the terminal: width, colours and the time
//! are handed in, so that every screen is tested as text.

mod actions;
mod board;
mod preview;
mod requests;
#[cfg(test)]
mod tests;
mod text;
mod waterfall;

pub use actions::{actions, changed, checked, done, present};
pub use board::{LastBoard, View, board};
pub use preview::preview;
pub use requests::{Listed, requests};
pub use text::{Line, Style, Terminal, moment};
pub use waterfall::waterfall;
