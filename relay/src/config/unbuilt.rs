//! Keys of parts that later versions build: known, checked, and without effect.
//!
//! They are accepted so that one config can serve two versions, and warned
//! about so that nobody believes a hedge or a breaker to be on that is not.

use super::tree::{Table, Value};
use super::units::CLOCK;
use toml::de::DeValue;

/// Keys with the check of their values.
type Keys = [(&'static str, fn(&Value<'_>))];

const RUNG: &Keys = &[("degrade", anything), ("breaker", breaker)];

const LADDER: &Keys = &[
    ("hedge", hedge),
    ("retry_budget", anything),
    ("max_in_flight", count),
    ("max_hedges", count),
    ("race", count),
    ("shed", shed),
    ("drill", share),
    ("capture", anything),
];

const BREAKER: &Keys = &[
    ("open_consecutive", count),
    ("open_rate", share),
    ("min_samples", count),
    ("window", clock),
    ("open_ttft_p95", clock),
    ("cooldown", clock),
    ("max_cooldown", clock),
    ("jitter", share),
    ("probes", count),
    ("close_successes", count),
];

const HEDGE: &Keys = &[
    ("enabled", flag),
    ("delay", delay),
    ("min", clock),
    ("max", clock),
    ("initial", clock),
    ("budget", share),
    ("burst", count),
];

/// `[fleet]`.
pub(super) fn root(table: &Table<'_>) {
    warn_each(table, &[("fleet", anything)]);
}

/// Of a `[rungs.*]`.
pub(super) fn rung(table: &Table<'_>) {
    warn_each(table, RUNG);
}

/// Of a `[ladders.*]`.
pub(super) fn ladder(table: &Table<'_>) {
    warn_each(table, LADDER);
}

fn warn_each(table: &Table<'_>, keys: &Keys) {
    for (key, check) in keys {
        if let Some(value) = table.get(key) {
            check(&value);
            let fix = "take it out, or keep it for a version that has it";
            value.report.warn(&value.key_at(), "has no effect in this version", fix);
        }
    }
}

fn within(value: &Value<'_>, keys: &Keys) {
    let Some(table) = value.table() else { return };
    for (key, check) in keys {
        if let Some(value) = table.get(key) {
            check(&value);
        }
    }
    table.check_keys();
}

fn breaker(value: &Value<'_>) {
    within(value, BREAKER);
}

fn hedge(value: &Value<'_>) {
    within(value, HEDGE);
}

/// For values whose shape is not fixed yet.
fn anything(_: &Value<'_>) {}

fn flag(value: &Value<'_>) {
    value.flag();
}

fn count(value: &Value<'_>) {
    value.integer(0..=1_000_000);
}

fn share(value: &Value<'_>) {
    value.number(0.0..=1.0);
}

fn clock(value: &Value<'_>) {
    value.duration(&CLOCK);
}

fn shed(value: &Value<'_>) {
    value.word(&[("proportional", ()), ("off", ())]);
}

/// A word or a duration.
fn delay(value: &Value<'_>) {
    if !matches!(value.raw, DeValue::String(text) if text == "auto" || text == "none") {
        value.duration(&CLOCK);
    }
}
