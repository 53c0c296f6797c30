//! The times of a call on a rung: its mark, its hedge delay, its clocks.

use super::{A_CHANCE, Board};
use crate::index::RungIndex;
use crate::ladder::{HedgeSpec, Size};
use std::time::Duration;

impl Board {
    /// The slow mark of a call; `None` without a reference of its kind, unless the configured limit
    /// on the p95 sets it.
    #[must_use]
    pub fn mark(&self, rung: RungIndex, size: Size) -> Option<Duration> {
        self.rungs.get(rung.0)?.mark(size)
    }

    /// How long a call may be silent on an opened rung before it fails over; `None` for an index
    /// that is not on the board.
    pub(crate) fn chance(&self, rung: RungIndex, size: Size) -> Option<Duration> {
        let health = self.rungs.get(rung.0)?;
        Some(health.mark(size).unwrap_or_else(|| A_CHANCE.max(health.soft_clock(size) / 2)))
    }

    /// Whether `rung` has a reference for calls of this kind.
    pub(crate) fn has_reference(&self, rung: RungIndex, size: Size) -> bool {
        self.rungs.get(rung.0).is_some_and(|health| health.has_reference(size.kind))
    }

    /// The soft first clock of a call; `None` for an index that is not on the board.
    pub(crate) fn soft_clock(&self, rung: RungIndex, size: Size) -> Option<Duration> {
        self.rungs.get(rung.0).map(|health| health.soft_clock(size))
    }

    /// How long to wait for `rung` before a hedge goes to `rival`.
    #[must_use]
    pub fn hedge_delay(
        &self,
        rung: RungIndex,
        rival: RungIndex,
        spec: &HedgeSpec,
        size: Size,
    ) -> Duration {
        let rival = self.rungs.get(rival.0).and_then(|health| health.median(size.kind));
        let delay = self.rungs.get(rung.0).map(|health| health.hedge_delay(spec, size, rival));
        delay.unwrap_or(spec.initial)
    }

    /// The share of requests that is moved past `rung` where its ladder sheds.
    #[cfg(test)]
    pub(crate) fn shed_share(&self, rung: RungIndex, now: crate::Time) -> f64 {
        self.rungs.get(rung.0).map(|health| health.shed_share(now)).unwrap_or_default()
    }
}
