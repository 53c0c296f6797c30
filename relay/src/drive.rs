//! The IO shell around the policy core: one [`Driver`] drives one request.
//!
//! It decides nothing. Sockets and timers become inputs, actions become calls;
//! there are no thresholds and no status codes here.
//!
//! A driver is polled, not spawned: it lives in its client's connection task.
//! So nothing is copied between tasks per token, a client that does not read
//! stops the upstream reads by itself, and a client that leaves drops the
//! driver and with it every upstream call.

mod alarm;
mod aside;
mod capture;
mod checking;
mod closing;
mod composing;
mod count_tokens;
mod driver;
mod facts;
mod failed;
mod held;
mod in_force;
mod items;
mod line;
mod log;
mod look;
mod memory;
mod minutes;
mod numbers;
mod operator;
mod reading;
mod relay;
mod reload;
mod reply;
mod restore;
mod standing;
mod still;
mod story;
mod tell;
mod turn;
mod unseen;

pub use aside::{Aside, SMALL};
#[cfg(test)]
pub(crate) use driver::PANIC_FOR;
pub use driver::{Driver, Incoming};
pub use held::Held;
pub use in_force::{InForce, Ladder, Rung};
pub use log::reject_record;
pub use look::{next, watch};
pub use operator::Answer;
pub use relay::{Drain, Peer, Relay, Running};
pub use reload::{CannotReload, Reloaded};
pub use reply::{AskAgain, Head, Out, Reply, error_reply, set_id};
pub use restore::look_after_rungs;
pub use still::{beat, watch_workers};
pub use turn::nap;
