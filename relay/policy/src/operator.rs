//! The rules of what operators change: request and board in, a change or a refusal out.
//!
//! The board holds what is in force; [`Attributions`] hold what the board has no use for: who,
//! why, by which action. Whatever they say of an override or an order carries the version that
//! it made: once the board is at another one, it is no longer about what is in force, and nothing
//! need clear it away.
//!
//! Invariants:
//! - A change is made as a whole, or nothing of it is.
//! - An order is changed on the version that its author saw; of two operators who saw the same
//!   one, one is refused.
//! - A ladder is left with forced-open rungs alone only if its name is given.
//! - What was done is taken back only if nothing later stands on it.
//!
//! The parts: [`names`] what the config calls things, [`steps`] what a request is to do, [`undo`]
//! what takes an action back, [`mod@apply`] does it, [`present`] what is in force now.

pub mod apply;
pub mod attribution;
pub mod names;
pub mod present;
pub mod probe;
pub mod refused;
pub mod steps;
pub mod undo;

pub use apply::{Applied, Moment, Stale, apply, make};
pub use attribution::{Attribution, Attributions};
pub use names::{LadderName, Names, RungName};
pub use refused::{RefusalKind, Refused, check_id, check_reason};
pub use steps::{Steps, Thing, plan_change};
pub use undo::{fit_order, plan_undo};
