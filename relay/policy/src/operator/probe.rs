//! An operator wants a rung's next request to be its probe.

use super::refused::Refused;
use crate::board::Board;
use crate::breaker::{Breaker, State};
use crate::index::RungIndex;
use crate::time::Time;
use shared::OverrideMode;
use shared::RefusedReason;

/// Ends the cool-down, hold or hard-down of the rung that is called `name`.
///
/// # Errors
/// An override has frozen the breaker, or there is nothing to end.
pub fn probe_now(board: &mut Board, rung: RungIndex, name: &str, now: Time) -> Result<(), Refused> {
    board.settle(now);
    let mode = board.forced(rung, now).map(|(mode, _)| mode).unwrap_or_default();
    if matches!(mode, OverrideMode::ForcedOpen | OverrideMode::ForcedClosed) {
        let message = format!(
            "'{name}' is {}: its breaker is frozen. End the override first; a check calls it \
             all the same.",
            mode.as_str()
        );
        return Err(Refused::new(RefusedReason::Overridden, message));
    }
    let state = board.breaker(rung).map(Breaker::state);
    let is_open = matches!(state, Some(State::Open { .. }));
    if !is_open && board.held_until(rung, now).is_none() {
        let message = format!(
            "'{name}' is neither open nor held: there is nothing to end, and requests reach it."
        );
        return Err(Refused::new(RefusedReason::NothingToProbe, message));
    }
    board.probe_now(rung, now);
    Ok(())
}
