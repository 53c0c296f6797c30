//! Token counts as responses write them.

use crate::common::json::{members, number, raw_members};
use serde_json::value::RawValue;
use shared::Usage;

raw_members! {
    Members {
        input_tokens: "input_tokens",
        output_tokens: "output_tokens",
        input_tokens_details: "input_tokens_details",
        output_tokens_details: "output_tokens_details",
        cached_tokens: "cached_tokens",
        cache_write_tokens: "cache_write_tokens",
        reasoning_tokens: "reasoning_tokens",
    }
}

/// The counts of a `usage` object; `None`: it has none.
pub(crate) fn counts(usage: &RawValue) -> Option<Usage> {
    let counts: Members<'_> = members(Some(usage).filter(|raw| raw.get().starts_with('{')));
    let (input, output) = (number(counts.input_tokens), number(counts.output_tokens));
    let input_details: Members<'_> = members(counts.input_tokens_details);
    let output_details: Members<'_> = members(counts.output_tokens_details);
    (input.is_some() || output.is_some()).then(|| Usage {
        input,
        output,
        cached: number(input_details.cached_tokens),
        cache_write: number(input_details.cache_write_tokens),
        reasoning: number(output_details.reasoning_tokens),
    })
}
