//! Which rungs are known to send finish reasons: if such a rung sends an answer without one, the
//! answer was cut.

use super::Board;
use crate::index::RungIndex;

impl Board {
    /// A rung has sent a finish reason.
    pub(crate) fn finished(&mut self, rung: RungIndex) {
        let news = self.rungs.get_mut(rung.0).filter(|health| !health.finishes);
        if let Some(health) = news {
            health.finishes = true;
            self.changed.push(rung);
        }
    }

    /// Whether a rung is known to send finish reasons.
    #[must_use]
    pub fn finishes(&self, rung: RungIndex) -> bool {
        self.rungs.get(rung.0).is_some_and(|health| health.finishes)
    }
}
