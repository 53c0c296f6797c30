//! A window of time in slots: old ones are forgotten as new ones begin.

use super::At;
use std::collections::VecDeque;

/// Counts of one slot. A slot is used again and again, so it is emptied, not dropped.
pub(super) trait Slot: Default {
    /// Back to nothing.
    fn clear(&mut self);
}

/// The last `slots × width` milliseconds.
#[derive(Debug)]
pub(super) struct Ring<T> {
    width: u64,
    /// The newest one last.
    slots: VecDeque<T>,
    /// Which one since the clock's zero the newest is.
    newest: u64,
}

impl<T: Slot> Ring<T> {
    pub(super) fn new(slots: usize, width: u64) -> Self {
        let slots = (0..slots.max(1)).map(|_| T::default()).collect();
        Self { width: width.max(1), slots, newest: 0 }
    }

    /// The slot that runs at `now`.
    pub(super) fn at(&mut self, now: At) -> Option<&mut T> {
        self.turn(now);
        self.slots.back_mut()
    }

    /// The slot that ran so many slots before the one that runs at `now`; `None`: it is forgotten.
    pub(super) fn before(&mut self, now: At, slots: u64) -> Option<&mut T> {
        self.turn(now);
        let last = self.slots.len().checked_sub(1)?;
        self.slots.get_mut(last.checked_sub(usize::try_from(slots).ok()?)?)
    }

    /// All slots that are not too old, the oldest first.
    pub(super) fn slots(&mut self, now: At) -> impl Iterator<Item = &T> {
        self.turn(now);
        self.slots.iter()
    }

    /// How many milliseconds the slots cover at `now`: all of them but the rest of the one
    /// that runs.
    pub(super) fn span(&self, now: At) -> u64 {
        let whole = self.width.saturating_mul(self.slots.len().saturating_sub(1) as u64);
        whole.saturating_add(now % self.width).max(1)
    }

    /// Which slot runs.
    pub(super) const fn newest(&self) -> u64 {
        self.newest
    }

    fn turn(&mut self, now: At) {
        let number = now / self.width;
        let turns = number.saturating_sub(self.newest);
        for _ in 0..turns.min(self.slots.len() as u64) {
            if let Some(mut oldest) = self.slots.pop_front() {
                oldest.clear();
                self.slots.push_back(oldest);
            }
        }
        self.newest = self.newest.max(number);
    }
}

/// A count per second over `span` milliseconds.
pub(super) fn per_second(count: u64, span: u64) -> f64 {
    count as f64 * 1000.0 / span.max(1) as f64
}

/// Whole units per second over `span` milliseconds.
pub(super) fn rate(sum: u64, span: u64) -> u64 {
    let each = u128::from(sum) * 1000 / u128::from(span.max(1));
    u64::try_from(each).unwrap_or(u64::MAX)
}
