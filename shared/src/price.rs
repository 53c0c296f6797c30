//! Money, in whole nano-dollars: sums of thousands of rows must not drift.

use crate::usage::Usage;
use serde::{Deserialize, Serialize};

/// An amount in billionths of a US dollar.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct NanoUsd(pub i64);

impl NanoUsd {
    /// In dollars, for display and for the stamp; never for sums.
    #[must_use]
    pub fn usd(self) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "display only; exact up to 9 million dollars"
        )]
        let nanos = self.0 as f64;
        nanos / 1e9
    }
}

/// A rung's price, in nano-dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Price {
    /// Fresh prompt tokens.
    pub input: u64,
    /// Prompt tokens read from the provider's cache. `None`: as `input`.
    pub cached_input: Option<u64>,
    /// Prompt tokens written to the provider's cache. `None`: as `input`.
    pub cache_write: Option<u64>,
    /// Answer tokens.
    pub output: u64,
}

impl Price {
    /// What `usage` costs; `None` where input or output is unknown.
    ///
    /// Inconsistent numbers (more cached than prompt) are clamped, so that a
    /// cost is never negative.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<NanoUsd> {
        let (input, output) = (usage.input?, usage.output?);
        let cached = usage.cached.unwrap_or(0).min(input);
        let written = usage.cache_write.unwrap_or(0).min(input.saturating_sub(cached));
        let fresh = input.saturating_sub(cached).saturating_sub(written);
        let part = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let sum = part(fresh, self.input)
            + part(cached, self.cached_input.unwrap_or(self.input))
            + part(written, self.cache_write.unwrap_or(self.input))
            + part(output, self.output);
        let nanos = (sum + 500_000) / 1_000_000;
        Some(NanoUsd(i64::try_from(nanos).unwrap_or(i64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price = Price {
        input: 3_000_000_000,
        cached_input: Some(300_000_000),
        cache_write: Some(3_750_000_000),
        output: 15_000_000_000,
    };

    #[test]
    fn cached_tokens_are_not_charged_twice() {
        let usage =
            Usage { input: Some(1000), cached: Some(800), output: Some(100), ..Usage::default() };
        assert_eq!(PRICE.cost(&usage), Some(NanoUsd(2_340_000)));
        let written = Usage { input: Some(1400), cache_write: Some(400), ..usage };
        assert_eq!(PRICE.cost(&written), Some(NanoUsd(3_840_000)));
    }

    #[test]
    fn inconsistent_numbers_never_go_below_zero() {
        let usage =
            Usage { input: Some(10), cached: Some(900), output: Some(0), ..Usage::default() };
        assert_eq!(PRICE.cost(&usage), Some(NanoUsd(3_000)));
        assert_eq!(PRICE.cost(&Usage::default()), None);
    }
}
