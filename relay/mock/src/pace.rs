//! One request's schedule.
//!
//! Every wait is measured from the end of the last one as it was planned, not
//! as it happened, so that a stream of a thousand tokens is not slower than its
//! pace by a thousand roundings. All of it runs on tokio's clock: a test that
//! pauses that one has the mock's time in its hand.

use std::time::Duration;

use tokio::time::{Instant, sleep, sleep_until};

/// When a request came, and how far its schedule has got.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    start: Instant,
    due: Instant,
}

impl Pace {
    /// A schedule that begins here.
    pub(super) fn start() -> Self {
        let start = sleep(Duration::ZERO).deadline();
        Self { start, due: start }
    }

    /// Waits until this long after the last wait was due.
    ///
    /// Gives way at least once, late or not: what was written before a wait is
    /// on the wire when it ends.
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
