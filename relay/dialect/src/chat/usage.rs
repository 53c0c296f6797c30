//! Token counts as chat providers write them.

use crate::common::json::{Object, One, count, skip};
use serde::de::MapAccess;
use serde_json::value::RawValue;
use shared::Usage;
use std::fmt::Write as _;

/// The counts of all `usage` objects of an answer so far, field by field.
///
/// They are kept as they were sent: their meaning can depend on several of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Whether there was a `usage` object at all.
    pub(crate) seen: bool,
    prompt: Option<u64>,
    completion: Option<u64>,
    total: Option<u64>,
    cached: Option<u64>,
    cache_hit: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
}

impl Counts {
    /// Adds the counts of `later`. Returns whether it is not older than the counts so far. Counts
    /// are cumulative: the largest is the newest, and a sum would bill a token several times.
    pub(crate) fn replace(&mut self, later: &Self) -> bool {
        let is_stale = later.prompt < self.prompt && later.prompt.is_some()
            || later.completion < self.completion && later.completion.is_some();
        self.seen |= later.seen;
        self.prompt = later.prompt.max(self.prompt);
        self.completion = later.completion.max(self.completion);
        self.total = later.total.max(self.total);
        self.cached = later.cached.max(self.cached);
        self.cache_hit = later.cache_hit.max(self.cache_hit);
        self.cache_write = later.cache_write.max(self.cache_write);
        self.reasoning = later.reasoning.max(self.reasoning);
        !is_stale
    }

    /// The same in the dialect-neutral form.
    pub(crate) fn usage(&self) -> Usage {
        Usage {
            input: self.prompt,
            output: self.output(),
            cached: self.cached.or(self.cache_hit),
            cache_write: self.cache_write,
            reasoning: self.reasoning,
        }
    }

    /// xAI leaves reasoning out of `completion_tokens`, all others include it. The total shows
    /// which of both it is.
    fn output(&self) -> Option<u64> {
        let completion = self.completion?;
        let (Some(prompt), Some(total), Some(reasoning)) =
            (self.prompt, self.total, self.reasoning)
        else {
            return Some(completion);
        };
        let with_reasoning = completion.saturating_add(reasoning);
        let apart = total == prompt.saturating_add(with_reasoning);
        Some(if apart { with_reasoning } else { completion })
    }
}

impl Object for Counts {
    fn begin(&mut self) {
        self.seen = true;
    }

    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let slot = match key {
            "prompt_tokens" => &mut self.prompt,
            "completion_tokens" => &mut self.completion,
            "total_tokens" => &mut self.total,
            // DeepSeek's name, and Together's.
            "prompt_cache_hit_tokens" | "cached_tokens" => &mut self.cache_hit,
            "prompt_tokens_details" => return map.next_value_seed(One(&mut PromptDetails(self))),
            "completion_tokens_details" => {
                return map.next_value_seed(One(&mut CompletionDetails(self)));
            }
            _ => return skip(map),
        };
        read(slot, map)
    }
}

struct PromptDetails<'c>(&'c mut Counts);

impl Object for PromptDetails<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "cached_tokens" => read(&mut self.0.cached, map),
            "cache_write_tokens" => read(&mut self.0.cache_write, map),
            _ => skip(map),
        }
    }
}

struct CompletionDetails<'c>(&'c mut Counts);

impl Object for CompletionDetails<'_> {
    fn field<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "reasoning_tokens" => read(&mut self.0.reasoning, map),
            _ => skip(map),
        }
    }
}

/// A count that is not a whole number counts as missing.
fn read<'de, A: MapAccess<'de>>(slot: &mut Option<u64>, map: &mut A) -> Result<(), A::Error> {
    let raw: &RawValue = map.next_value()?;
    if let Some(count) = count(raw.get()) {
        *slot = Some(count);
    }
    Ok(())
}

/// Writes counts in OpenAI's form.
pub(crate) fn write(usage: &Usage) -> String {
    let (input, output) = (usage.input.unwrap_or(0), usage.output.unwrap_or(0));
    let total = input.saturating_add(output);
    let mut json =
        format!(r#"{{"prompt_tokens":{input},"completion_tokens":{output},"total_tokens":{total}"#);
    if usage.cached.is_some() || usage.cache_write.is_some() {
        let (cached, written) = (usage.cached.unwrap_or(0), usage.cache_write.unwrap_or(0));
        let _ = write!(
            json,
            r#","prompt_tokens_details":{{"cached_tokens":{cached},"cache_write_tokens":{written}}}"#
        );
    }
    if let Some(reasoning) = usage.reasoning {
        let _ = write!(json, r#","completion_tokens_details":{{"reasoning_tokens":{reasoning}}}"#);
    }
    json.push('}');
    json
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::de::DeserializeSeed as _;

    fn counts(json: &str) -> Counts {
        let mut counts = Counts::default();
        One(&mut counts).deserialize(&mut serde_json::Deserializer::from_str(json)).unwrap();
        counts
    }

    #[test]
    fn reasoning_is_added_only_where_the_total_says_that_it_is_apart() {
        let apart = counts(
            r#"{"prompt_tokens":10,"completion_tokens":5,"total_tokens":22,
                "completion_tokens_details":{"reasoning_tokens":7}}"#,
        );
        assert_eq!(apart.usage().output, Some(12));
        let within = counts(
            r#"{"prompt_tokens":10,"completion_tokens":12,"total_tokens":22,
                "completion_tokens_details":{"reasoning_tokens":7}}"#,
        );
        assert_eq!(within.usage().output, Some(12));
    }

    #[test]
    fn a_later_count_replaces_an_earlier_one_and_silence_does_not() {
        let mut all = counts(r#"{"prompt_tokens":9,"completion_tokens":1}"#);
        all.replace(&counts(r#"{"completion_tokens":4.0,"prompt_tokens":null}"#));
        all.replace(&counts(r#"{"completion_tokens":"many"}"#));
        assert!(!all.replace(&counts(r#"{"prompt_tokens":9,"completion_tokens":1}"#)), "stale");
        assert_eq!((all.usage().input, all.usage().output), (Some(9), Some(4)));
    }
}
