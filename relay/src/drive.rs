//! The IO shell around the policy core: one [`Driver`] drives one request.
//!
//! It decides nothing. Sockets and timers become inputs, actions become calls;
//! there are no thresholds and no status codes here.
//!
//! A driver is polled, not spawned: it lives in its client's connection task.
//! So nothing is copied between tasks per token, a client that does not read
//! stops the upstream reads by itself, and a client that leaves drops the
//! driver and with it every upstream call.

mod announce;
mod attempt_io;
mod breaker_history;
mod capture;
mod checking;
mod closing;
mod composing;
pub mod config_state;
pub mod count_tokens;
mod current_minute;
mod detached;
mod driver;
mod facts;
mod failed;
mod failure_text;
pub mod gauges;
mod held;
mod hub;
mod in_force;
mod items;
mod labels;
mod log;
mod machine;
mod memory;
mod minutes;
mod naps;
mod numbers;
pub mod operator;
mod operator_state;
mod past;
mod peer;
mod reading;
pub mod reload;
mod reply;
pub mod restore;
mod running;
mod signals;
pub mod snapshot;
mod snapshot_cache;
mod stalls;
mod timer;
mod work_pool;

#[cfg(test)]
pub(crate) use driver::PANIC_FOR;
pub use driver::{Driver, Incoming};
pub use held::Held;
pub use hub::Hub;
pub use in_force::{InForce, Ladder, Rung};
pub use log::reject_record;
pub use naps::nap;
pub use operator_state::Answer;
pub use peer::Peer;
pub use reply::{AskAgain, Head, Out, Reply, error_reply, set_id};
pub use running::Running;
pub use signals::Drain;
pub use stalls::{beat, watch_workers};
pub use work_pool::{SMALL, WorkPool};
