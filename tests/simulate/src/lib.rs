//! Belay's policy in virtual time: the real core against providers that fail.
//!
//! The world is simulated: arrivals, prompts, times to first token, incidents. [`policy`] itself is
//! driven, input by input, as the relay's driver does it. Every policy meets the same random draws,
//! so that differences are the policies' own; the same seed gives the same figures on every
//! machine.
//!
//! This library is the world and one run through it; the program beside it compares policies
//! and judges ours.

pub mod chance;
mod cooldown;
pub mod core;
pub mod incident;
mod load;
pub mod policies;
pub mod run;
pub mod stats;
pub mod world;
