//! How much a request asks the model to reason before it answers.
//!
//! A model that reasons longer is not a slow provider. The fields are read loosely, and in the same
//! way for every dialect: a value that the provider will refuse is ignored here.

use crate::common::fields::Fields;
use crate::common::json::string_inner;
use crate::common::values::member;
use serde_json::value::RawValue;

/// How much to reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinks {
    /// The request does not say.
    #[default]
    AsUsual,
    /// Not at all, or almost not.
    Little,
    /// A little.
    Low,
    /// More, or as much as the model decides.
    Medium,
    /// As much as it takes.
    High,
}

/// The words for each degree.
const WORDS: [(&str, Thinks); 9] = [
    ("none", Thinks::Little),
    ("minimal", Thinks::Little),
    ("disabled", Thinks::Little),
    ("low", Thinks::Low),
    ("medium", Thinks::Medium),
    ("adaptive", Thinks::Medium),
    ("high", Thinks::High),
    ("xhigh", Thinks::High),
    ("max", Thinks::High),
];
/// Token budgets: below the first number it is `Little`, below the second `Low`, and so on.
const BUDGETS: [(u64, Thinks); 3] =
    [(1, Thinks::Little), (4_096, Thinks::Low), (16_384, Thinks::Medium)];

/// How much the request asks the model to reason.
pub(crate) fn thinks(fields: &Fields) -> Thinks {
    let within = |field: &str, key: &str| member(fields.get(field)?, key);
    let off = within("thinking", "type").and_then(by_word).filter(|said| *said == Thinks::Little);
    let disabled = || {
        let enabled = within("reasoning", "enabled").map(RawValue::get);
        (enabled == Some("false")).then_some(Thinks::Little)
    };
    // The first field that says how much counts.
    off.or_else(disabled)
        .or_else(|| fields.get("reasoning_effort").and_then(by_word))
        .or_else(|| within("reasoning", "effort").and_then(by_word))
        .or_else(|| within("reasoning", "max_tokens").and_then(by_budget))
        .or_else(|| within("thinking", "budget_tokens").and_then(by_budget))
        .or_else(|| within("output_config", "effort").and_then(by_word))
        .or_else(|| within("thinking", "type").and_then(by_word))
        .unwrap_or_default()
}

fn by_word(raw: &RawValue) -> Option<Thinks> {
    let said = string_inner(raw.get())?;
    WORDS.iter().find(|(word, _)| *word == said).map(|(_, thinks)| *thinks)
}

fn by_budget(raw: &RawValue) -> Option<Thinks> {
    let budget: u64 = raw.get().parse().ok()?;
    let row = BUDGETS.iter().find(|(below, _)| budget < *below);
    Some(row.map_or(Thinks::High, |(_, thinks)| *thinks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_how_much_is_to_be_thought_is_read_from_every_dialects_words() {
        for (said, wanted) in [
            ("{}", Thinks::AsUsual),
            (r#"{"reasoning_effort":null}"#, Thinks::AsUsual),
            (r#"{"reasoning_effort":"unheard of"}"#, Thinks::AsUsual),
            (r#"{"reasoning_effort":7}"#, Thinks::AsUsual),
            (r#"{"reasoning_effort":"none"}"#, Thinks::Little),
            (r#"{"reasoning_effort":"minimal"}"#, Thinks::Little),
            (r#"{"reasoning_effort":"low"}"#, Thinks::Low),
            (r#"{"reasoning_effort":"high"}"#, Thinks::High),
            (r#"{"reasoning":{"effort":"xhigh","summary":"auto"}}"#, Thinks::High),
            (r#"{"reasoning":{"max_tokens":5000}}"#, Thinks::Medium),
            (r#"{"reasoning":{"enabled":false,"effort":"high"}}"#, Thinks::Little),
            (r#"{"reasoning":"high"}"#, Thinks::AsUsual),
            (
                r#"{"thinking":{"type":"disabled"},"output_config":{"effort":"max"}}"#,
                Thinks::Little,
            ),
            (r#"{"thinking":{"type":"enabled","budget_tokens":1024}}"#, Thinks::Low),
            (r#"{"thinking":{"type":"enabled","budget_tokens":4096}}"#, Thinks::Medium),
            (r#"{"thinking":{"type":"enabled","budget_tokens":32000}}"#, Thinks::High),
            (r#"{"thinking":{"type":"adaptive"}}"#, Thinks::Medium),
            (r#"{"thinking":{"type":"adaptive"},"output_config":{"effort":"low"}}"#, Thinks::Low),
        ] {
            let fields: Fields = serde_json::from_str(said).unwrap();
            assert_eq!(thinks(&fields), wanted, "{said}");
        }
    }
}
