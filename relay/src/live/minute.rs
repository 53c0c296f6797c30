//! What one minute was, for the journal's `minutes` table.

use super::counts::Counts;
use super::ring::Slot as _;
use shared::histogram::Hist;
use shared::{AttemptOutcome, PassedOver, RequestOutcome};

/// Counts by a closed set of words; those that did not occur are left out.
pub type Words = Vec<(&'static str, u64)>;

/// A ladder's minute: its requests, and its rungs' attempts by the rung's number.
pub type OfLadder = (LadderMinute, Vec<(usize, StepMinute)>);

/// A minute of a ladder's requests.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LadderMinute {
    /// Requests that ended, by outcome.
    pub outcomes: Words,
    /// Those that ended well.
    pub ok: u64,
    /// Those that got an error.
    pub failed: u64,
    /// Those that failed in mid-stream.
    pub broken: u64,
    /// Those whose first token was late.
    pub late: u64,
    /// Those whose client left before a token.
    pub gone: u64,
    /// Those that ended well by a second attempt.
    pub rescued: u64,
    /// Those that went to a last resort.
    pub last_resort: u64,
    /// Accept to first token.
    pub hist: Hist,
    /// Prompt tokens of all attempts.
    pub input_tokens: u64,
    /// Answer tokens of all attempts.
    pub output_tokens: u64,
    /// Cost of all attempts, in nano-dollars, as far as it is known.
    pub cost: u64,
}

impl LadderMinute {
    /// Whether nothing happened.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }
}

/// A minute of a rung's attempts for one ladder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StepMinute {
    /// Attempts that ended, by outcome.
    pub outcomes: Words,
    /// Requests that passed it over, by reason.
    pub passed: Words,
    /// Attempts that were good by their first token.
    pub good: u64,
    /// Late ones.
    pub slow: u64,
    /// Failed ones, in mid-stream too.
    pub bad: u64,
    /// Requests that called it first.
    pub first: u64,
    /// Requests that it answered.
    pub answered: u64,
    /// Dial to first token.
    pub hist: Hist,
    /// Prompt tokens.
    pub input_tokens: u64,
    /// Answer tokens.
    pub output_tokens: u64,
    /// Cost in nano-dollars, as far as it is known.
    pub cost: u64,
    /// Cost of losers of races among it.
    pub lost: u64,
}

/// The counts of the minute that runs.
#[derive(Debug, Default)]
pub(super) struct Running {
    pub(super) attempts: [u64; AttemptOutcome::ALL.len()],
    pub(super) requests: [u64; RequestOutcome::ALL.len()],
    pub(super) passed: [u64; PassedOver::ALL.len()],
    pub(super) counts: Counts,
    pub(super) ladder: LadderMinute,
    pub(super) step: StepMinute,
}

impl Running {
    /// The ladder's minute; what was counted is forgotten.
    pub(super) fn take_ladder(&mut self) -> LadderMinute {
        let outcomes = words(RequestOutcome::ALL, &self.requests, RequestOutcome::as_str);
        let hist = self.take_hist();
        self.requests = Default::default();
        LadderMinute { outcomes, hist, ..std::mem::take(&mut self.ladder) }
    }

    /// The step's minute; `None` if nothing happened.
    pub(super) fn take_step(&mut self) -> Option<StepMinute> {
        let outcomes = words(AttemptOutcome::ALL, &self.attempts, AttemptOutcome::as_str);
        let passed = words(PassedOver::ALL, &self.passed, PassedOver::as_str);
        let hist = self.take_hist();
        (self.attempts, self.passed) = Default::default();
        let step = StepMinute { outcomes, passed, hist, ..std::mem::take(&mut self.step) };
        (step != StepMinute::default()).then_some(step)
    }

    fn take_hist(&mut self) -> Hist {
        let hist = self.counts.hist();
        self.counts.clear();
        hist
    }
}

fn words<T: Copy>(all: &[T], counts: &[u64], word: fn(T) -> &'static str) -> Words {
    let occurred = all.iter().zip(counts).filter(|(_, count)| **count > 0);
    occurred.map(|(one, count)| (word(*one), *count)).collect()
}
