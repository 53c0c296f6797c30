//! `capture` of a ladder: which requests and answers are kept for grading elsewhere.
//!
//! The only place where a prompt is ever stored, so it is off unless somebody says so.

use super::tree::Value;
use toml::de::DeValue;

/// Which requests are kept whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Capture {
    /// The share of those that were answered below rung one, 0 to 1. Default 1.
    pub sample: f64,
}

impl Eq for Capture {}

const WHEN: &[(&str, bool)] = &[("failover", true), ("off", false)];

/// Reads `"failover"`, `"off"` or `{ when = "failover", sample = 0.1 }`.
pub(super) fn read(value: &Value<'_>) -> Option<Capture> {
    let capture = kept(value)?;
    if !value.report.failed(&value.at.key) {
        let text = "keeps prompts and answers of its clients in the journal";
        value.warn(text, "make sure that they agree, or take it out");
    }
    Some(capture)
}

fn kept(value: &Value<'_>) -> Option<Capture> {
    if !matches!(value.raw, DeValue::Table(_)) {
        return value.word(WHEN)?.then_some(Capture { sample: 1.0 });
    }
    let table = value.table()?;
    let when = table.need("when", "\"failover\"").and_then(|value| value.word(WHEN));
    let sample = table.get("sample").and_then(|value| value.number(0.0..=1.0)).unwrap_or(1.0);
    table.check_keys();
    when?.then_some(Capture { sample })
}
