//! Signals for all running requests at once: the stop, forced-open rungs, breakers that
//! have opened.

use parking_lot::Mutex;
use shared::UnixMillis;
use tokio::sync::{Notify, watch};

/// How far the relay is on its way to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Drain {
    /// It serves.
    Serving,
    /// No new requests; running ones go on.
    Draining,
    /// Running ones end now.
    Cut,
}

/// Signals for all running requests at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signal {
    pub(super) drain: Drain,
    /// How often rungs have been forced open.
    pub(super) forced: u64,
    /// How often breakers have opened.
    pub(super) opened: u64,
}

/// The one signal that all listen to.
#[derive(Debug)]
pub struct Signals {
    signal: watch::Sender<Signal>,
    /// When the last requests are cut, if it drains.
    drain_ends: Mutex<Option<UnixMillis>>,
    account_refused: Notify,
}

impl Default for Signals {
    fn default() -> Self {
        Self {
            signal: watch::Sender::new(Signal { drain: Drain::Serving, forced: 0, opened: 0 }),
            drain_ends: Mutex::default(),
            account_refused: Notify::new(),
        }
    }
}

impl Signals {
    /// How far the relay is on its way to stop.
    #[must_use]
    pub fn drain(&self) -> Drain {
        self.signal.borrow().drain
    }

    /// When the last requests are cut, if it drains.
    pub(super) fn drain_ends(&self) -> Option<UnixMillis> {
        *self.drain_ends.lock()
    }

    /// Goes one step further on the way to stop; never back. `ends` is when a drain that begins
    /// now is over.
    pub(super) fn set_drain(&self, drain: Drain, ends: UnixMillis) {
        if drain == Drain::Draining {
            let mut slot = self.drain_ends.lock();
            slot.get_or_insert(ends);
        }
        self.signal.send_if_modified(|now| {
            let further = drain > now.drain;
            now.drain = drain.max(now.drain);
            further
        });
    }

    /// Waits until the relay is at `drain` or further.
    pub async fn until(&self, drain: Drain) {
        let mut signal = self.signal.subscribe();
        // The sender lives as long as this, so this cannot fail.
        let _never_closed = signal.wait_for(|now| now.drain >= drain).await;
    }

    /// Rungs have been forced open: running walks look whether they are on one.
    pub(super) fn notify_forced(&self) {
        self.signal.send_modify(|now| now.forced = now.forced.wrapping_add(1));
    }

    /// A breaker has opened: walks that wait there look whether to go on waiting.
    pub(super) fn notify_opened(&self) {
        self.signal.send_modify(|now| now.opened = now.opened.wrapping_add(1));
    }

    /// Gives every signal from now on. One that is on its way to stop already says so
    /// at once.
    pub(super) fn subscribe(&self) -> watch::Receiver<Signal> {
        let mut signals = self.signal.subscribe();
        if signals.borrow().drain == Drain::Cut {
            signals.mark_changed();
        }
        signals
    }

    /// A provider refused our account: its key may have been changed meanwhile.
    pub(super) fn notify_account_refused(&self) {
        self.account_refused.notify_one();
    }

    /// Waits until a provider refuses our account. For one who waits.
    pub async fn account_refused(&self) {
        self.account_refused.notified().await;
    }
}
