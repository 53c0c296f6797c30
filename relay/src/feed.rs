//! The feed for watchers: events in order, and how far each reader is.
//!
//! Two kinds of events, one row of numbers. *What happened* (a transition, an action)
//! is kept in a bounded log and read in full. *How it is* (a rung, a ladder, the tick)
//! has one place each, in which only the newest is kept: a reader that is slow, or was
//! away, reads it once, and so costs the relay no memory. Nobody waits for a reader;
//! one that has fallen behind the log starts again from a snapshot.
//!
//! Invariants:
//! - A number is given once, under the lock; a reader sees them in ascending order.
//! - After number N has been read, whatever is newer is read or an error says that the
//!   log has forgotten some of it.
//! - How it is costs nothing while nobody watches: see [`Feed::is_watched`].

mod log;

pub use log::listener::Listener;
pub use log::{Feed, Topics};
