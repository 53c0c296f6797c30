//! How a ladder is rescued: its hedges, its budgets, and its rungs' circuit breakers.

use super::tree::{Table, Value};
use super::units::CLOCK;
use std::time::Duration;
use toml::de::DeValue;

/// When a hedge starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HedgeDelay {
    /// From what the rung's first tokens usually take.
    Auto,
    /// Always after this.
    Fixed(Duration),
}

/// A ladder's hedging.
#[derive(Debug, Clone, PartialEq)]
pub struct Hedge {
    /// Default true; `delay = "none"` switches it off as well.
    pub enabled: bool,
    /// Default `auto`.
    pub delay: HedgeDelay,
    /// The shortest `auto` delay. Default 250 ms.
    pub min: Duration,
    /// The longest `auto` delay. Default 4 s.
    pub max: Duration,
    /// The delay until 30 first tokens have been seen. Default 2 s.
    pub initial: Duration,
    /// Hedges per request, 0 to 1. Default 0.10.
    pub budget: f64,
    /// Hedges that may be saved up, 1 to 1000. Default 20.
    pub burst: f64,
}

impl Eq for Hedge {}

impl Default for Hedge {
    fn default() -> Self {
        Self {
            enabled: true,
            delay: HedgeDelay::Auto,
            min: Duration::from_millis(250),
            max: Duration::from_secs(4),
            initial: Duration::from_secs(2),
            budget: 0.10,
            burst: 20.0,
        }
    }
}

/// What a ladder's retries, soft-clock failovers and later failovers are paid from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RetryBudget {
    /// Such calls per request, 0 to 1. Default 0.20.
    pub budget: f64,
    /// Such calls that may be saved up, 1 to 1000. Default 20.
    pub burst: f64,
}

impl Eq for RetryBudget {}

impl Default for RetryBudget {
    fn default() -> Self {
        Self { budget: 0.20, burst: 20.0 }
    }
}

/// A rung's circuit breaker.
#[derive(Debug, Clone, PartialEq)]
pub struct Breaker {
    /// So many bad in a row open it, 1 to 1000. Default 5.
    pub open_consecutive: u32,
    /// This share of bad calls in the window opens it, 0 to 1. Default 0.5.
    pub open_rate: f64,
    /// But only of so many calls, 1 to 100,000. Default 10.
    pub min_samples: u32,
    /// Default 30 s.
    pub window: Duration,
    /// A p95 of the time to first token above this opens it. Default none.
    pub open_ttft_p95: Option<Duration>,
    /// The first cool-down. Default 5 s.
    pub cooldown: Duration,
    /// The longest one. Default 10 s.
    pub max_cooldown: Duration,
    /// Cool-downs vary by this share, 0 to 1. Default 0.3.
    pub jitter: f64,
    /// Good probes that close it, 1 to 100. Default 2.
    pub close_successes: u32,
}

impl Eq for Breaker {}

impl Default for Breaker {
    fn default() -> Self {
        Self {
            open_consecutive: 5,
            open_rate: 0.5,
            min_samples: 10,
            window: Duration::from_secs(30),
            open_ttft_p95: None,
            cooldown: Duration::from_secs(5),
            max_cooldown: Duration::from_secs(10),
            jitter: 0.3,
            close_successes: 2,
        }
    }
}

/// Reads a ladder's `hedge`.
pub(super) fn hedge(value: &Value<'_>) -> Hedge {
    let default = Hedge::default();
    let Some(table) = value.table() else { return default };
    let delay = table.get("delay").map(|value| delay(&value));
    let hedge = Hedge {
        enabled: table.flag("enabled").unwrap_or(true) && delay != Some(None),
        delay: delay.flatten().unwrap_or(HedgeDelay::Auto),
        min: table.duration("min", &CLOCK).unwrap_or(default.min),
        max: table.duration("max", &CLOCK).unwrap_or(default.max),
        initial: table.duration("initial", &CLOCK).unwrap_or(default.initial),
        budget: number(&table, "budget").unwrap_or(default.budget),
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
pub(super) fn retry_budget(value: &Value<'_>) -> RetryBudget {
    let default = RetryBudget::default();
    let Some(table) = value.table() else { return default };
    let retry = RetryBudget {
        budget: number(&table, "budget").unwrap_or(default.budget),
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
pub(super) fn breaker(value: &Value<'_>) -> Breaker {
    let default = Breaker::default();
    let Some(table) = value.table() else { return default };
    let breaker = Breaker {
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
