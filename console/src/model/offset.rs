//! How far a relay's clock is from ours.

use std::collections::VecDeque;

/// So many ticks are looked at.
const TICKS: usize = 30;

/// Relay's clock minus ours, in milliseconds. A tick is older when it arrives than when it
/// was written, never younger: so the largest difference of the last ticks is nearest to
/// the truth.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Offset(VecDeque<i64>);

impl Offset {
    /// A tick that says `relay` arrived at `ours`.
    pub fn note(&mut self, relay: i64, ours: i64) {
        if self.0.len() == TICKS {
            self.0.pop_front();
        }
        self.0.push_back(relay - ours);
    }

    /// The best guess; 0 before the first tick.
    #[must_use]
    pub fn get(&self) -> i64 {
        self.0.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quickest_of_the_last_ticks_tells_the_clock() {
        let mut offset = Offset::default();
        assert_eq!(offset.get(), 0);
        // The relay is 5 s ahead; ticks take 3, 80 and 20 ms.
        for (sent, took) in [(1_000, 3), (2_000, 80), (3_000, 20)] {
            offset.note(sent + 5_000, sent + took);
        }
        assert_eq!(offset.get(), 4_997);
        // Its clock is put right: that is believed once the old ticks have gone.
        for sent in 0..30 {
            offset.note(sent * 1_000, sent * 1_000 + 10);
        }
        assert_eq!(offset.get(), -10);
    }
}
