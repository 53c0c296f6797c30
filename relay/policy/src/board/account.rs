//! Refused accounts: which refusal takes a rung down.

use super::{Board, Report, frozen};
use crate::breaker::State;
use crate::health::Witness;
use crate::index::RungIndex;
use crate::time::Time;
use crate::transition::Tip;
use shared::TransitionRule;
use std::time::Duration;

/// How long a refused account is not called.
const HARD_DOWN: Duration = Duration::from_secs(300);

impl Board {
    /// Whether a refusal takes the rung down. One request takes down at most one rung, and alone
    /// never a ladder's last one: the refusal may be about the request. A refusal that is only
    /// suspected to be about the account needs a second one with no token between, and never takes
    /// down a ladder's last rung.
    pub(super) fn is_believed(&mut self, rung: RungIndex, now: Time, report: &Report) -> bool {
        let witness = Witness { walk: report.walk, client: report.client };
        let mut others = self.rungs.iter().enumerate().filter(|(at, _)| *at != rung.0);
        let has_taken_one = others.any(|(_, health)| health.taken_by == Some(witness.walk));
        let is_last = self.is_needed(rung, now);
        let Some(health) = self.rungs.get_mut(rung.0) else { return false };
        // The refused call used an older key.
        if health.account_since > report.dialled {
            return false;
        }
        let confirmed = health.suspect.get_or_insert(witness).confirms(witness);
        let is_enough = match (report.suspected, confirmed) {
            (true, confirmed) => confirmed && !is_last,
            (false, confirmed) => confirmed || !is_last,
        };
        is_enough && !has_taken_one
    }

    pub(super) fn hard_down(&mut self, rung: RungIndex, now: Time, report: &Report, tip: Tip) {
        let Some(health) = self.rungs.get_mut(rung.0) else { return };
        if frozen(health.forced) || matches!(health.breaker.state(), State::Open { .. }) {
            return;
        }
        let from = health.breaker.state();
        health.suspect = None;
        health.taken_by = Some(report.walk);
        health.breaker.open(now, TransitionRule::Auth, Some(HARD_DOWN), &mut self.rng);
        self.note_with(rung, now, from, TransitionRule::Auth, tip, None);
    }
}
