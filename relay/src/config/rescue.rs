//! How a ladder is rescued: its hedges, its budgets, and its rungs' circuit breakers.

use super::tree::{Table, Value};
use super::units::CLOCK;
use policy::{BreakerSpec, HedgeDelay, HedgeSpec, RetrySpec};
use toml::de::DeValue;

/// Reads a ladder's `hedge`.
pub(super) fn hedge(value: &Value<'_>) -> HedgeSpec {
    let default = HedgeSpec::default();
    let Some(table) = value.table() else { return default };
    let delay = table.get("delay").map(|value| delay(&value));
    let hedge = HedgeSpec {
        enabled: table.flag("enabled").unwrap_or(default.enabled) && delay != Some(None),
        delay: delay.flatten().unwrap_or(default.delay),
        min: table.duration("min", &CLOCK).unwrap_or(default.min),
        max: table.duration("max", &CLOCK).unwrap_or(default.max),
        initial: table.duration("initial", &CLOCK).unwrap_or(default.initial),
        share: number(&table, "budget").unwrap_or(default.share),
        burst: count(&table, "burst", 1000).map_or(default.burst, f64::from),
    };
    if hedge.min > hedge.max {
        value.warn("min is longer than max", "swap them: the delay is kept between the two");
    }
    if matches!(hedge.delay, HedgeDelay::Fixed(_)) {
        value.warn(
            "a fixed delay may cut slow attempts before the breaker has judged them",
            "leave delay at \"auto\", unless you know why not",
        );
    }
    table.check_keys();
    hedge
}

/// Reads a ladder's `retry_budget`.
pub(super) fn retry_budget(value: &Value<'_>) -> RetrySpec {
    let default = RetrySpec::default();
    let Some(table) = value.table() else { return default };
    let retry = RetrySpec {
        share: number(&table, "budget").unwrap_or(default.share),
        burst: count(&table, "burst", 1000).map_or(default.burst, f64::from),
    };
    table.check_keys();
    retry
}

/// A word or a duration; `None`: none.
fn delay(value: &Value<'_>) -> Option<HedgeDelay> {
    match value.raw {
        DeValue::String(text) if text == "auto" => Some(HedgeDelay::Auto),
        DeValue::String(text) if text == "none" => None,
        _ => Some(value.duration(&CLOCK).map_or(HedgeDelay::Auto, HedgeDelay::Fixed)),
    }
}

/// Reads a rung's `breaker`.
pub(super) fn breaker(value: &Value<'_>) -> BreakerSpec {
    let default = BreakerSpec::default();
    let Some(table) = value.table() else { return default };
    let breaker = BreakerSpec {
        enabled: default.enabled,
        open_consecutive: count(&table, "open_consecutive", 1000)
            .unwrap_or(default.open_consecutive),
        open_rate: number(&table, "open_rate").unwrap_or(default.open_rate),
        min_samples: count(&table, "min_samples", 100_000).unwrap_or(default.min_samples),
        window: table.duration("window", &CLOCK).unwrap_or(default.window),
        open_ttft_p95: table.duration("open_ttft_p95", &CLOCK),
        cooldown: table.duration("cooldown", &CLOCK).unwrap_or(default.cooldown),
        max_cooldown: table.duration("max_cooldown", &CLOCK).unwrap_or(default.max_cooldown),
        jitter: number(&table, "jitter").unwrap_or(default.jitter),
        close_successes: count(&table, "close_successes", 100).unwrap_or(default.close_successes),
    };
    if let Some(probes) = table.get("probes")
        && probes.integer(1..=1).is_some()
    {
        probes.warn("is always 1", "take it out: one probe at a time is what there is");
    }
    table.check_keys();
    breaker
}

fn count(table: &Table<'_>, key: &'static str, most: u64) -> Option<u32> {
    table.integer(key, 1..=most).and_then(|count| u32::try_from(count).ok())
}

/// A share, 0 to 1.
pub(super) fn number(table: &Table<'_>, key: &'static str) -> Option<f64> {
    table.get(key).and_then(|value| value.number(0.0..=1.0))
}
