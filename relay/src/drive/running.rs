//! How many requests run, and how much they hold.

use super::held::{AllHeld, Held};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What all running requests come to.
#[derive(Debug, Default)]
pub struct Load {
    running: Arc<AtomicUsize>,
    held: Arc<AllHeld>,
}

/// A request among the running ones, until it is dropped.
#[derive(Debug)]
pub struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Load {
    /// Requests running now, those whose body is still coming included.
    #[must_use]
    pub fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }

    /// Counts one more request, until what is returned is dropped.
    #[must_use]
    pub fn enter(&self) -> Running {
        self.running.fetch_add(1, Ordering::Relaxed);
        Running(Arc::clone(&self.running))
    }

    /// Bytes that running requests hold.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.bytes()
    }

    /// Counts what a request holds, from nothing on.
    #[must_use]
    pub fn holds_nothing(&self) -> Held {
        self.held.nothing()
    }
}
