//! Live numbers: the last seconds and minutes of rungs and ladders, for watchers.
//!
//! Told at the same places as the metrics: once per dial, first token, end of an
//! attempt and end of a request, never per token. Being told is a few increments
//! under a short lock of one rung or one ladder; all arithmetic, such as a
//! percentile, is done for who asks.
//!
//! Invariants:
//! - Memory is bounded by the config: fixed windows, fixed buckets. Only what waits
//!   for a first token is kept one by one.
//! - Every attempt and every request that was begun is ended once.
//! - No names: rungs and ladders are numbers here, in the config's order.
//!
//! The parts: `ring` the windows, `curve` the last 15 minutes, `counts` the buckets,
//! `waits` who waits since when, `rung` and `ladder` what is kept of each,
//! [`minute`] what goes to the journal.

mod counts;
mod curve;
mod ladder;
pub mod minute;
mod ring;
mod rung;
#[cfg(test)]
mod tests;
mod ticket;
mod waits;

pub use curve::PastMinute;
pub use ladder::LadderNumbers;
pub use minute::{LadderMinute, StepMinute};
pub use rung::RungNumbers;
pub use ticket::{At, Pair, Ticket};

use ladder::LadderLive;
use parking_lot::{Mutex, RwLock};
use record::{AttemptEnd, RequestEnd};
use rung::RungLive;
use shared::TokenVerdict;
use std::sync::Arc;

/// What happened lately, of every rung and ladder.
#[derive(Debug)]
pub struct Live {
    rungs: RwLock<Vec<Arc<Mutex<RungLive>>>>,
    ladders: RwLock<Vec<Arc<Mutex<LadderLive>>>>,
}

impl Live {
    /// Nothing has happened yet. `ladders` names the rungs of each by number.
    #[must_use]
    pub fn new(rungs: usize, ladders: &[Vec<usize>]) -> Self {
        let live = Self { rungs: RwLock::default(), ladders: RwLock::default() };
        let numbered: Vec<_> = ladders.iter().cloned().enumerate().collect();
        live.reshape(rungs, &numbered);
        live
    }

    /// Makes room for so many rungs, and for these ladders, each by its number and with
    /// its rungs'. What is known of those that are there already stays; a number is never
    /// given to another one.
    pub fn reshape(&self, rungs: usize, ladders: &[(usize, Vec<usize>)]) {
        // A panic under the lock leaves whole entries.
        let mut known = self.rungs.write();
        let room = known.len().max(rungs);
        known.resize_with(room, Arc::default);
        drop(known);
        let mut known = self.ladders.write();
        for (number, rungs) in ladders {
            let room = known.len().max(number.saturating_add(1));
            known.resize_with(room, Arc::default);
            if let Some(ladder) = known.get(*number) {
                ladder.lock().learn(rungs);
            }
        }
    }

    /// Works on one rung; `None` for a number that nobody has.
    fn rung<T>(&self, rung: usize, work: impl FnOnce(&mut RungLive) -> T) -> Option<T> {
        let known = self.rungs.read();
        // A panic under the lock leaves plain numbers usable.
        Some(work(&mut known.get(rung)?.lock()))
    }

    /// The same for a ladder.
    fn ladder<T>(&self, ladder: usize, work: impl FnOnce(&mut LadderLive) -> T) -> Option<T> {
        let known = self.ladders.read();
        Some(work(&mut known.get(ladder)?.lock()))
    }

    /// A request came to this ladder.
    pub fn began(&self, ladder: usize, now: At) -> Ticket {
        self.ladder(ladder, |ladder| ladder.began(now)).unwrap_or_default()
    }

    /// A request's first token went to its client.
    pub fn committed(&self, ladder: usize, ticket: Ticket) {
        self.ladder(ladder, |ladder| ladder.committed(ticket));
    }

    /// A request ended.
    pub fn ended(&self, ladder: usize, now: At, ticket: Ticket, end: &RequestEnd) {
        self.ladder(ladder, |ladder| ladder.ended(now, ticket, end));
    }

    /// An attempt goes out; whether it is its request's first one.
    pub fn dialled(&self, of: Pair, now: At, is_first: bool) -> Ticket {
        if is_first {
            self.ladder(of.ladder, |ladder| ladder.first(now, of.rung));
        }
        self.rung(of.rung, |rung| rung.dialled(now)).unwrap_or_default()
    }

    /// An attempt's first token came, `ttft` milliseconds after its dial.
    pub fn token(&self, of: Pair, now: At, ticket: Ticket, ttft: u64, verdict: TokenVerdict) {
        self.rung(of.rung, |rung| rung.token(now, ticket, ttft, verdict));
        self.ladder(of.ladder, |ladder| ladder.token(of.rung, ttft, verdict));
    }

    /// An attempt ended.
    pub fn attempt(&self, ladder: usize, now: At, ticket: Ticket, end: &AttemptEnd) {
        let had_token = self.rung(end.start.place, |rung| rung.ended(now, ticket, end));
        let had_token = had_token.unwrap_or_default();
        self.ladder(ladder, |ladder| ladder.attempt(now, end, had_token));
    }

    /// A request that was begun is gone without an end of its own: the relay failed.
    pub fn forget_request(&self, ladder: usize, ticket: Ticket) {
        self.ladder(ladder, |ladder| ladder.forget(ticket));
    }

    /// The same for an attempt.
    pub fn forget_attempt(&self, rung: usize, ticket: Ticket) {
        self.rung(rung, |rung| rung.forget(ticket));
    }

    /// What a ladder's users call late, and how often its budgets have refused since the
    /// start: read from the board once a second.
    pub fn standing(&self, ladder: usize, now: At, late_ms: Option<u64>, refused: (u64, u64)) {
        self.ladder(ladder, |ladder| ladder.standing(now, late_ms, refused));
    }

    /// Fills a rung's curve with minutes from before a restart.
    pub fn recall_rung(&self, rung: usize, now: At, minutes: &[PastMinute]) {
        self.rung(rung, |rung| rung.recall(now, minutes));
    }

    /// The same for a ladder.
    pub fn recall_ladder(&self, ladder: usize, now: At, minutes: &[PastMinute]) {
        self.ladder(ladder, |ladder| ladder.recall(now, minutes));
    }

    /// How a rung was lately.
    #[must_use]
    pub fn rung_numbers(&self, rung: usize, now: At) -> RungNumbers {
        self.rung(rung, |rung| rung.seen(now)).unwrap_or_default()
    }

    /// How a ladder was lately.
    #[must_use]
    pub fn ladder_numbers(&self, ladder: usize, now: At) -> LadderNumbers {
        self.ladder(ladder, |ladder| ladder.seen(now)).unwrap_or_default()
    }

    fn ladder_count(&self) -> usize {
        self.ladders.read().len()
    }

    /// Requests that wait for their first token now.
    #[must_use]
    pub fn waiting(&self) -> u64 {
        let ladders = (0..self.ladder_count()).filter_map(|n| self.ladder(n, |l| l.waiting()));
        ladders.sum()
    }

    /// Takes what has been counted since this was last asked, for the minute that is over:
    /// by ladder the requests, by ladder and rung the attempts. What did not occur is left
    /// out.
    #[must_use]
    pub fn take_minute(&self) -> Vec<(usize, minute::OfLadder)> {
        let ladders = (0..self.ladder_count()).filter_map(|number| {
            let (ladder, steps) = self.ladder(number, LadderLive::take_minute)?;
            (!ladder.is_empty() || !steps.is_empty()).then_some((number, (ladder, steps)))
        });
        ladders.collect()
    }
}
