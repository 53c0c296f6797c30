//! Token counts as Anthropic writes them.

use crate::common::json::{members, newest, number, raw_members};
use serde_json::value::RawValue;
use shared::Usage;

/// The counts of all `usage` objects so far. Each is cumulative, so the last value of a field is
/// right; a field that is absent keeps its value.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    thinking: Option<u64>,
}

raw_members! {
    Members {
        input_tokens: "input_tokens",
        output_tokens: "output_tokens",
        cache_read_input_tokens: "cache_read_input_tokens",
        cache_creation_input_tokens: "cache_creation_input_tokens",
        output_tokens_details: "output_tokens_details",
    }
}

raw_members! {
    Details {
        thinking_tokens: "thinking_tokens",
    }
}

impl Counts {
    pub(crate) fn replace(&mut self, usage: &RawValue) {
        let later: Members<'_> = members(Some(usage));
        let details: Details<'_> = members(later.output_tokens_details);
        self.input = newest(number(later.input_tokens), self.input);
        // The output is preliminary until the end; a refusal has none.
        self.output = number(later.output_tokens).or(self.output);
        self.cache_read = number(later.cache_read_input_tokens).or(self.cache_read);
        self.cache_write = number(later.cache_creation_input_tokens).or(self.cache_write);
        self.thinking = number(details.thinking_tokens).or(self.thinking);
    }

    /// The same in the neutral form: there the input includes what is cached.
    pub(crate) fn usage(&self) -> Usage {
        let cached = [self.cache_read, self.cache_write].into_iter().flatten();
        Usage {
            input: self.input.map(|fresh| cached.fold(fresh, u64::saturating_add)),
            output: self.output,
            cached: self.cache_read,
            cache_write: self.cache_write,
            reasoning: self.thinking,
        }
    }
}

/// Writes counts in Anthropic's form: there the input is only what came from no cache.
pub(crate) fn write(usage: &Usage) -> String {
    let (cached, written) = (usage.cached.unwrap_or(0), usage.cache_write.unwrap_or(0));
    let fresh = usage.input.unwrap_or(0).saturating_sub(cached).saturating_sub(written);
    let output = usage.output.unwrap_or(0);
    format!(
        r#"{{"input_tokens":{fresh},"cache_creation_input_tokens":{written},"cache_read_input_tokens":{cached},"output_tokens":{output}}}"#
    )
}
