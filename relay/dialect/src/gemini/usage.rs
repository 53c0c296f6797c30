//! Token counts as Gemini writes them.

use crate::common::json::{members, newest, number, raw_members};
use serde_json::value::RawValue;
use shared::Usage;

/// The counts of all chunks so far. Each is cumulative. A field that is zero or not yet known is
/// left out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    prompt: Option<u64>,
    tool_prompt: Option<u64>,
    candidates: Option<u64>,
    thoughts: Option<u64>,
    cached: Option<u64>,
    total: Option<u64>,
}

raw_members! {
    Members {
        prompt_token_count: "promptTokenCount",
        tool_use_prompt_token_count: "toolUsePromptTokenCount",
        candidates_token_count: "candidatesTokenCount",
        thoughts_token_count: "thoughtsTokenCount",
        cached_content_token_count: "cachedContentTokenCount",
        total_token_count: "totalTokenCount",
    }
}

impl Counts {
    pub(crate) fn replace(&mut self, usage: &RawValue) {
        let later: Members<'_> = members(Some(usage));
        self.prompt = newest(number(later.prompt_token_count), self.prompt);
        self.tool_prompt = number(later.tool_use_prompt_token_count).or(self.tool_prompt);
        self.candidates = newest(number(later.candidates_token_count), self.candidates);
        self.thoughts = number(later.thoughts_token_count).or(self.thoughts);
        self.cached = number(later.cached_content_token_count).or(self.cached);
        self.total = number(later.total_token_count).or(self.total);
    }

    /// The same in the neutral form: there the output includes reasoning, and the input includes
    /// the results of the provider's own tools.
    pub(crate) fn usage(&self) -> Usage {
        let tool_prompt = self.tool_prompt.unwrap_or(0);
        let input = self.prompt.map(|prompt| prompt.saturating_add(tool_prompt));
        let said = self.candidates.is_some() || self.thoughts.is_some();
        let output = self.candidates.unwrap_or(0).saturating_add(self.thoughts.unwrap_or(0));
        // Without a count of the output, a total that equals the input shows that there was none.
        let is_told = said || (self.total.is_some() && self.total == input);
        Usage {
            input,
            output: is_told.then_some(output),
            cached: self.cached,
            cache_write: None,
            reasoning: self.thoughts,
        }
    }
}
