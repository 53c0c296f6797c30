//! A rung's price: written in USD per million tokens, kept in whole nano-dollars.

use super::tree::Value;
use shared::Price;

/// No price is near a million dollars per million tokens; a slip may be.
const HIGHEST: f64 = 1e6;

/// Reads `{ input, cached_input, cache_write, output }`.
pub(super) fn read(value: &Value<'_>) -> Option<Price> {
    let table = value.table()?;
    let part = |value: Value<'_>| value.number(0.0..=HIGHEST).map(nanos);
    let input = table.need("input", "2.5").and_then(part);
    let cached_input = table.get("cached_input").and_then(part);
    let cache_write = table.get("cache_write").and_then(part);
    let output = table.need("output", "10.0").and_then(part);
    table.check_keys();
    Some(Price { input: input?, cached_input, cache_write, output: output? })
}

/// Dollars as nano-dollars, rounded to the nearest.
fn nanos(usd: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "0 to HIGHEST only, so at most 1e15"
    )]
    let nanos = (usd * 1e9).round() as u64;
    nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dollars_become_whole_nano_dollars() {
        for (usd, expected) in [
            (0.0, 0),
            (2.5, 2_500_000_000),
            (0.1, 100_000_000),
            (0.07, 70_000_000),
            (1e-9, 1),
            (4e-10, 0),
            (6e-10, 1),
            (1e6, 1_000_000_000_000_000),
        ] {
            assert_eq!(nanos(usd), expected, "{usd}");
        }
    }
}
