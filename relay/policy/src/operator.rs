//! The rules of what operators change: request and board in, a change or a refusal out.
//!
//! The board holds what is in force. [`Attributions`] hold what the board does not need: who made
//! it, why, and by which action. The attribution of an override or an order carries the version
//! that it made. Once the board is at another version, the attribution no longer applies, so
//! nothing has to be cleared.
//!
//! Invariants:
//! - A change is made as a whole, or nothing of it is.
//! - An order is changed on the version that its author saw. If two operators saw the same version,
//!   the second one is refused.
//! - A ladder is left with forced-open rungs only if the request accepts it by name.
//! - An action is undone only if nothing later has changed what it made.
//!
//! The parts: [`names`] are the names in the config, [`steps`] is what a request changes, [`undo`]
//! is what undoes an action, [`mod@apply`] makes the change, [`present`] is what is in force now.

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
