//! What a prompt token adds to the time to first token, learned for each rung.
//!
//! Providers differ by a factor of three and more, and a wrong value makes every long prompt slow.
//! So the slope follows the median: a call that took longer than expected raises it, a faster one
//! lowers it. The step is larger the longer the prompt is, compared to most. Only the sign counts,
//! so a very late call moves the slope no further than any other call. Until prompts of different
//! sizes have been seen, the limits allow for a slope three times as steep.

use std::time::Duration;

/// The slope until something has been learned, in seconds per prompt token.
const ASSUMED: f64 = 12e-6;
/// How many times as steep the limits take the slope to be until then.
const UNSURE: f64 = 3.0;
/// The size of prompts up to this many tokens adds no time.
const SMALL_PROMPT: u64 = 550;
/// A prompt with this many tokens beyond a small one has half the weight of an endless one.
const HALF: f64 = 8_000.0;
/// How far one call moves the slope (its logarithm), at first and in the end.
const FIRST_STEP: f64 = 0.4;
const LAST_STEP: f64 = 0.05;
/// After this much evidence the slope is as good as known: the squared distance of each call's
/// weight from the usual one, summed over calls.
const KNOWN: f64 = 2.0;
/// The usual weight moves by this share of its distance from each call's weight.
const FOLLOWS: f64 = 0.01;
/// The lowest and the highest slope, in seconds per prompt token.
const LEAST: f64 = 1e-6;
const MOST: f64 = 300e-6;

/// A rung's slope.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slope {
    per_token: f64,
    /// The usual weight of a call's prompt.
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
    /// The time that a prompt of this size adds to that of a small one.
    pub(super) fn term(&self, prompt_tokens: u64) -> Duration {
        Duration::try_from_secs_f64(self.per_token * beyond(prompt_tokens)).unwrap_or_default()
    }

    /// The most time that a prompt of this size may add before its call counts as slow.
    pub(super) fn most(&self, prompt_tokens: u64) -> Duration {
        let unsure = (UNSURE - 1.0).mul_add((-self.evidence / KNOWN).exp(), 1.0);
        self.term(prompt_tokens).mul_f64(unsure)
    }

    /// A call with this prompt took `span`, or was cut after `span`. A small prompt takes `small`.
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
        // A call that was cut before its token was expected is no evidence.
        if was_cut && !is_longer {
            return;
        }
        self.evidence += apart * apart;
        let step = (FIRST_STEP / (1.0 + self.evidence / KNOWN)).max(LAST_STEP);
        let sign = if is_longer { 1.0 } else { -1.0 };
        self.per_token = (self.per_token * (step * sign * apart).exp()).clamp(LEAST, MOST);
    }
}
