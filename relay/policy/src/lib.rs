//! The policy core: what to do next for one request, and nothing else.
//!
//! A pure state machine. It is given inputs and the time and returns actions;
//! it reads no clock, touches no socket and no lock, and draws chance only
//! from a generator that it was handed. So the rules of walking a ladder can
//! be tested by tables, by random orders of events, and in virtual time.
//!
//! ```text
//!            Start              first token (streaming)
//!   planned ───────▶ walking ──────────────────────────▶ committed ──▶ ended
//!                    │  ▲  │                                            ▲
//!   failure, retry or│  │  │ proper end (non-streaming), exhausted,     │
//!   next rung        └──┘  └────────────────────────────────────────────┘
//! ```
//!
//! **The law of use**: one input, then all actions in their order, then sleep
//! until [`Walk::next_deadline`] at the latest, then the next input. Time never
//! goes back. Every started attempt is answered by exactly one
//! [`Action::AttemptEnded`], every walk by exactly one of [`Action::Complete`],
//! [`Action::Fail`] and [`Action::Abandon`], and nothing follows it.
//!
//! A rung that cannot be reached, and the next one:
//!
//! ```
//! use policy::walk::Walk;
//! use policy::{Action, Board, Ending, Input, LadderSpec, NoHead};
//! use policy::{LadderIndex, Need, RungIndex, RungSpec, Time};
//! use std::sync::Arc;
//!
//! let (first, second) = (RungIndex(0), RungIndex(1));
//! let ladder = Arc::new(LadderSpec { rungs: vec![first, second], ..LadderSpec::default() });
//! let rng = fastrand::Rng::with_seed(1);
//! let rungs = vec![RungSpec::default(), RungSpec::default()];
//! let mut board = Board::new(rungs, vec![Arc::clone(&ladder)], rng.clone());
//! let mut walk = Walk::new(Time::from_millis(0), LadderIndex(0), ladder, Need::default(), rng);
//!
//! let mut actions = Vec::new();
//! walk.handle(Time::from_millis(0), Input::Start, &mut board, &mut actions);
//! let Some(Action::Dial { attempt, rung, .. }) = actions.pop() else { panic!() };
//! assert_eq!(rung, first);
//!
//! let ended = Input::Ended(attempt, Ending::NoHead(NoHead::NotConnected));
//! walk.handle(Time::from_millis(0), ended, &mut board, &mut actions);
//! assert!(matches!(actions.last(), Some(Action::Dial { rung, .. }) if *rung == second));
//! ```
//!
//! Where to look: [`walk`] is the walk, [`plan`] chooses candidates, [`outcome`] judges endings,
//! [`table`] is the outcome table, [`exhausted`] ranks the errors for the client, [`hold`],
//! [`order`] and [`board`] are what walks share, [`preview`] replans past requests, [`remembered`]
//! is what outlives the relay, [`operator`] is what operators may change.

pub mod action;
pub mod attempt;
pub mod board;
pub mod breaker;
pub mod budget;
mod capability;
pub mod exhausted;
mod hanging;
pub mod health;
pub mod histogram;
pub mod hold;
mod hollow;
mod index;
pub mod input;
pub mod ladder;
mod lateness;
pub mod operator;
pub mod order;
pub mod outcome;
pub mod plan;
pub mod preview;
pub mod probe;
mod profile;
pub mod remembered;
mod returning;
mod slope;
pub mod table;
pub mod time;
pub mod transition;
pub mod walk;
mod witness;

#[cfg(test)]
mod tests;

pub use action::{Action, Failure, FailureReason};
pub use board::{Board, Placed, places};
pub use breaker::BreakerSpec;
pub use capability::{Capabilities, Capability};
pub use index::{AttemptId, LadderIndex, RungIndex};
pub use input::{Answer, Break, Ending, Input, NoHead};
pub use ladder::{
    Effort, HedgeDelay, HedgeSpec, Kind, LadderSpec, Need, OnEmpty, OnRefusal, RetrySpec, RungSpec,
    Size,
};
pub use order::Order;
pub use probe::Probe;
pub use remembered::{Reference, Remembered, RememberedBreaker, RememberedHold, RememberedState};
pub use time::Time;
pub use transition::Transition;
pub use walk::Walk;
