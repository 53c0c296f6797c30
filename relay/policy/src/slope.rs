//! What a prompt token adds to the time to first token, learned for each rung.
//!
//! Providers differ by three times and more, and a wrong guess calls every long prompt slow. So
//! the slope follows the median: a call that took longer than was expected raises it, one that
//! was faster lowers it, each by as much as its prompt is longer than most. Only the sign counts,
//! so that a straggler moves it no further than anybody else does. Until prompts of different
//! sizes have been seen, the limits allow for a slope three times as steep.

use std::time::Duration;

/// What is assumed until something has been learned, in seconds.
const ASSUMED: f64 = 12e-6;
/// And how much steeper the limits take it for, until then.
const UNSURE: f64 = 3.0;
/// Prompts up to here take no longer for their size.
const SMALL_PROMPT: u64 = 550;
/// A prompt of so many further tokens weighs half as much as an endless one.
const HALF: f64 = 8_000.0;
/// How far one call moves it, at first and in the end.
const FIRST_STEP: f64 = 0.4;
const LAST_STEP: f64 = 0.05;
/// The spread of weights, summed over calls, after which it is as good as known.
const KNOWN: f64 = 2.0;
/// The usual weight follows this share of each call's.
const FOLLOWS: f64 = 0.01;
/// It is never taken for less, or for more.
const LEAST: f64 = 1e-6;
const MOST: f64 = 300e-6;

/// A rung's slope.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slope {
    per_token: f64,
    /// What a call's prompt usually weighs.
    usual: f64,
    /// How much evidence prompts of different sizes have given.
    evidence: f64,
}

impl Default for Slope {
    fn default() -> Self {
        Self { per_token: ASSUMED, usual: 0.0, evidence: 0.0 }
    }
}

fn beyond(prompt_tokens: u64) -> f64 {
    prompt_tokens.saturating_sub(SMALL_PROMPT) as f64
}

impl Slope {
    /// What a prompt of this size takes beyond a small one.
    pub(super) fn term(&self, prompt_tokens: u64) -> Duration {
        Duration::try_from_secs_f64(self.per_token * beyond(prompt_tokens)).unwrap_or_default()
    }

    /// What it may take at the most and be no slower than others.
    pub(super) fn most(&self, prompt_tokens: u64) -> Duration {
        let unsure = (UNSURE - 1.0).mul_add((-self.evidence / KNOWN).exp(), 1.0);
        self.term(prompt_tokens).mul_f64(unsure)
    }

    /// A call with this prompt took `span`, or was cut then, where a small one takes `small`.
    pub(super) fn learn(
        &mut self,
        prompt_tokens: u64,
        span: Duration,
        small: Duration,
        was_cut: bool,
    ) {
        let size = beyond(prompt_tokens);
        let weight = size / (size + HALF);
        let apart = weight - self.usual;
        self.usual += FOLLOWS * apart;
        let is_longer = span > small.saturating_add(self.term(prompt_tokens));
        // A call that was cut sooner than it was expected says nothing.
        if was_cut && !is_longer {
            return;
        }
        self.evidence += apart * apart;
        let step = (FIRST_STEP / (1.0 + self.evidence / KNOWN)).max(LAST_STEP);
        let sign = if is_longer { 1.0 } else { -1.0 };
        self.per_token = (self.per_token * (step * sign * apart).exp()).clamp(LEAST, MOST);
    }
}
