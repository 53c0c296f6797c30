//! The last requests of each ladder, as far as planning them anew takes: what they
//! needed and how large they were. No text.

use crate::policy::{LadderIndex, Need};
use shared::{UnixMillis, Usage};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// So many of each ladder.
const KEPT: usize = 500;

/// One request of late.
#[derive(Debug, Clone, Copy)]
pub(in crate::drive) struct Gone {
    pub(in crate::drive) at: UnixMillis,
    pub(in crate::drive) need: Need,
    /// What its answer took; unknown without one.
    pub(in crate::drive) usage: Usage,
}

/// The last requests, by ladder.
#[derive(Debug)]
pub(in crate::drive) struct Past(Vec<Mutex<VecDeque<Gone>>>);

impl Past {
    pub(in crate::drive) fn of(ladders: usize) -> Self {
        Self((0..ladders).map(|_| Mutex::default()).collect())
    }

    /// A request of this ladder has ended.
    pub(in crate::drive) fn keep(&self, ladder: LadderIndex, gone: Gone) {
        let Some(kept) = self.0.get(ladder.0) else { return };
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= KEPT {
            kept.pop_front();
        }
        kept.push_back(gone);
    }

    /// The last ones, the oldest first.
    pub(in crate::drive) fn of_ladder(&self, ladder: LadderIndex) -> Vec<Gone> {
        let kept =
            self.0.get(ladder.0).map(|kept| kept.lock().unwrap_or_else(PoisonError::into_inner));
        kept.map(|kept| kept.iter().copied().collect()).unwrap_or_default()
    }
}
