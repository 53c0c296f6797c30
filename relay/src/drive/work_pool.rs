//! Long work on threads of its own, so that it blocks no worker.
//!
//! A worker serves many requests on one thread. What takes time in proportion to something
//! that a client or a provider sent (a large body, a schema) would make all of them wait.
//! It is done here instead, the smallest first: a large request is then slower, and no other one
//! else is.
//!
//! There are two sets of threads. [`WorkPool::Bulk`] reads and writes requests: its work is
//! linear in their size. [`WorkPool::Checks`] makes schemas ready and checks answers against
//! them; that work is bounded, but by an estimate, so it may not stand in the way of the
//! first. A thread cannot be stopped, so a check is waited for with a deadline.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;
use tokio::sync::oneshot;

/// What is smaller than this is done at once, on the worker: that takes less than a
/// millisecond, and handing it over takes time as well.
pub const SMALL: usize = 128 * 1024;

/// Schemas nest, and checking them recurses. Only what is used of it becomes memory.
const STACK: usize = 64 * 1024 * 1024;

/// A set of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkPool {
    /// Large requests: read, translated, let go.
    Bulk,
    /// Schemas, and answers that are checked against them.
    Checks,
}

struct Job {
    size: usize,
    number: u64,
    work: Box<dyn FnOnce() + Send>,
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for Job {}

impl PartialOrd for Job {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Job {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl Job {
    /// The greatest is taken first: the smallest, and of those the oldest.
    const fn order(&self) -> Reverse<(usize, u64)> {
        Reverse((self.size, self.number))
    }
}

#[derive(Default)]
struct Waiting {
    jobs: BinaryHeap<Job>,
    count: u64,
    threads: usize,
    idle: usize,
}

#[derive(Default)]
struct Set {
    waiting: Mutex<Waiting>,
    more: Condvar,
}

static BULK: LazyLock<Set> = LazyLock::new(Set::default);
static CHECKS: LazyLock<Set> = LazyLock::new(Set::default);

impl WorkPool {
    /// Does `work`, of this size in bytes. What is returned fails if the work panics; who
    /// drops it no longer waits.
    pub fn run<T: Send + 'static>(
        self,
        size: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (tell, told) = oneshot::channel();
        let work = move || {
            // Nobody waits any more: a client that has left is worth no work.
            if !tell.is_closed() {
                let _nobody_waits = tell.send(work());
            }
        };
        self.start(size, Box::new(work));
        told
    }

    /// Lets `what` go: dropping a tree of a million parts takes time as well.
    pub fn discard<T: Send + 'static>(self, size: usize, what: T) {
        self.start(size, Box::new(move || drop(what)));
    }

    fn start(self, size: usize, work: Box<dyn FnOnce() + Send>) {
        let set = self.set();
        let mut waiting = set.lock();
        waiting.count = waiting.count.wrapping_add(1);
        let number = waiting.count;
        waiting.jobs.push(Job { size, number, work });
        if waiting.jobs.len() > waiting.idle && waiting.threads < threads() {
            let thread = std::thread::Builder::new()
                .name(format!("aside-{self:?}").to_ascii_lowercase())
                .stack_size(STACK)
                .spawn(move || self.set().serve());
            // Without one thread more those that are there do it, or the next call's.
            waiting.threads += usize::from(thread.is_ok());
        }
        drop(waiting);
        set.more.notify_one();
    }

    fn set(self) -> &'static Set {
        match self {
            Self::Bulk => &BULK,
            Self::Checks => &CHECKS,
        }
    }
}

/// As many as workers, and never one alone: beside the largest job a smaller one runs.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get).max(2)
}

impl Set {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing that panics runs under it.
        self.waiting.lock()
    }

    fn serve(&self) {
        let mut waiting = self.lock();
        loop {
            if let Some(job) = waiting.jobs.pop() {
                drop(waiting);
                // Who waits for it sees that it did not end well.
                let _panicked = catch_unwind(AssertUnwindSafe(job.work));
                waiting = self.lock();
            } else {
                waiting.idle += 1;
                self.more.wait(&mut waiting);
                waiting.idle -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::mpsc;

    #[test]
    fn the_smallest_is_first_and_a_panic_ends_nothing_but_its_own_job() {
        let gates: Vec<_> = (0..threads())
            .map(|_| {
                let (open, gate) = mpsc::channel::<()>();
                (open, WorkPool::Checks.run(0, move || gate.recv()))
            })
            .collect();
        let done: Arc<Mutex<Vec<usize>>> = Arc::default();
        let order = |size: usize| {
            let done = Arc::clone(&done);
            WorkPool::Checks.run(size, move || {
                done.lock().push(size);
                assert!(size != 1, "a panic that this test asked for");
            })
        };
        let jobs = [3, 1, 4, 2].map(order);
        // One thread alone, so that the order can be seen.
        let mut gates = gates.into_iter();
        drop(gates.next());
        let ended: Vec<bool> = jobs.into_iter().map(|job| job.blocking_recv().is_ok()).collect();
        assert_eq!(*done.lock(), [1, 2, 3, 4]);
        assert_eq!(ended, [true, false, true, true]);
        let left = WorkPool::Checks.run(9, || ());
        drop(gates);
        left.blocking_recv().unwrap();
    }
}
