//! The last requests of each ladder, as far as planning them anew takes: what they
//! needed and how large they were. No text.

use parking_lot::Mutex;
use policy::{LadderIndex, Need};
use shared::{UnixMillis, Usage};
use std::collections::VecDeque;

/// How many requests are kept of each ladder.
const KEPT: usize = 500;

/// One request of late.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gone {
    pub(super) at: UnixMillis,
    pub(super) need: Need,
    /// What its answer took; unknown without one.
    pub(super) usage: Usage,
}

/// The last requests, by the ladder's place on the board.
#[derive(Debug, Default)]
pub(super) struct Past(Mutex<Vec<VecDeque<Gone>>>);

impl Past {
    /// A request of this ladder has ended.
    pub(super) fn keep(&self, ladder: LadderIndex, gone: Gone) {
        let mut all = self.0.lock();
        if all.len() <= ladder.0 {
            all.resize_with(ladder.0 + 1, VecDeque::new);
        }
        let Some(kept) = all.get_mut(ladder.0) else { return };
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back(gone);
    }

    /// The last ones, the oldest first.
    pub(super) fn of_ladder(&self, ladder: LadderIndex) -> Vec<Gone> {
        let all = self.0.lock();
        all.get(ladder.0).map(|kept| kept.iter().copied().collect()).unwrap_or_default()
    }
}
