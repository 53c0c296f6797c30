//! The last snapshot for watchers, and what it was made from.

use journal::Usual;
use policy::Time;
use shared::admin::{LadderState, RungState};

/// Everything that moves, and the number of the last event that it contains.
#[derive(Debug, Clone)]
pub(super) struct Snapshot {
    pub(super) seq: u64,
    pub(super) rungs: Vec<RungState>,
    pub(super) ladders: Vec<LadderState>,
}

/// The last snapshot, and what it was made from.
#[derive(Debug, Default)]
pub(super) struct SnapshotCache {
    /// Steps of the curves that watchers have: rungs', then ladders'.
    pub(super) steps: Vec<u64>,
    /// The last snapshot, and when it was made.
    pub(super) last: Option<(Time, Snapshot)>,
    pub(super) usual: Usual,
    pub(super) usual_at: Option<Time>,
}

impl SnapshotCache {
    /// The rungs and ladders are others now; what is usual stays, it goes by names.
    pub(super) fn forget(&mut self) {
        self.steps.clear();
        self.last = None;
    }
}
