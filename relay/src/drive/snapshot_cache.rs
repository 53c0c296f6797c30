//! What was looked at last, for whoever watches.

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

/// What was looked at last.
#[derive(Debug, Default)]
pub(super) struct SnapshotCache {
    /// Steps of the curves that watchers have been told of: rungs', then ladders'.
    pub(super) steps: Vec<u64>,
    /// The last look, and when it was.
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
