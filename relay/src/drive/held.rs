//! Bytes that running requests hold: their bodies, and answers that are not yet passed on.
//!
//! Each is bounded for itself; this bounds them all together, so that no number of clients
//! can make the relay grow beyond it. What is counted is what came in. Its copies (parsed,
//! translated, on its way out) come on top, three times as much at the worst.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// All bytes that are held.
#[derive(Debug, Default)]
pub(super) struct AllHeld(AtomicUsize);

/// What one request or answer holds of them; given back when it is dropped.
#[derive(Debug)]
pub struct Held {
    all: Arc<AllHeld>,
    bytes: usize,
}

impl AllHeld {
    /// How many there are.
    pub(super) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// A request that holds nothing yet.
    pub(super) fn nothing(self: &Arc<Self>) -> Held {
        Held { all: Arc::clone(self), bytes: 0 }
    }
}

impl Held {
    /// Holds `more` bytes, unless all together were more than `most` then; returns whether
    /// it does.
    pub fn grow(&mut self, more: usize, most: usize) -> bool {
        let before = self.all.0.fetch_add(more, Ordering::Relaxed);
        if before.saturating_add(more) > most {
            self.all.0.fetch_sub(more, Ordering::Relaxed);
            return false;
        }
        self.bytes = self.bytes.saturating_add(more);
        true
    }

    /// Holds nothing any more.
    pub fn let_go(&mut self) {
        self.all.0.fetch_sub(std::mem::take(&mut self.bytes), Ordering::Relaxed);
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.let_go();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_given_back_and_never_more_than_the_most() {
        let all = Arc::new(AllHeld::default());
        let (mut one, mut other) = (all.nothing(), all.nothing());
        assert!(one.grow(60, 100) && other.grow(40, 100));
        assert!(!other.grow(1, 100));
        assert_eq!(all.bytes(), 100, "what was refused is not held");
        other.let_go();
        assert!(one.grow(40, 100) && !other.grow(1, 100));
        drop(one);
        assert!(other.grow(100, 100));
        drop(other);
        assert_eq!(all.bytes(), 0);
    }
}
