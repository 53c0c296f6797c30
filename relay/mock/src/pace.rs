//! One request's schedule.
//!
//! Every wait is measured from the planned end of the wait before, not from its actual end, so that
//! a stream of a thousand tokens does not get slower by a thousand rounding errors. All of it runs
//! on tokio's clock: a test that pauses that clock controls the mock's time.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

/// When a request came, and how far its schedule has got.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    start: Instant,
    due: Instant,
}

impl Pace {
    /// A schedule that begins now.
    pub(super) fn start() -> Self {
        let start = sleep(Duration::ZERO).deadline();
        Self { start, due: start }
    }

    /// Waits until this long after the last wait was due.
    ///
    /// Yields at least once, even if it is late: what was written before a wait is on the wire when
    /// the wait ends.
    pub(super) async fn wait(&mut self, time: Duration) {
        self.due += time.min(A_YEAR);
        tokio::task::yield_now().await;
        sleep_until(self.due).await;
    }

    /// Milliseconds since the start.
    pub(super) fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Longer than any test; instants overflow somewhere beyond.
const A_YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
