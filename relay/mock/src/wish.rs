//! What a test wants the answer to be.
//!
//! A wish is set on the mock (`PUT /mock/answer`) or comes with a request: in its `x_mock`, or in
//! the text of its last turn, as `[[mock {…}]]`. The text is possible because a relay refuses or
//! drops fields that it does not know, but never text.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::fault::{BadFault, FaultSpec};

/// An answer as it is wanted; an absent field is as it would be without a wish.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wish {
    /// The answer's text. Without it an answer with `calls` has no text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The tools that are called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
    /// Whether the answer begins with reasoning, or the words of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<Reasoning>,
    /// How it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Ending>,
    /// Prompt tokens read from a cache, on top of those that are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<usize>,
    /// Prompt tokens written to a cache, on top of those that are counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write_tokens: Option<usize>,
}

/// Which tools are called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Calls {
    /// This many, of the request's tools in their order; after the last tool it begins again with
    /// the first. 0 also cancels a `tool_choice`.
    Count(usize),
    /// Exactly these.
    These(Vec<WishedCall>),
}

/// A call with its name and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WishedCall {
    /// The tool's name.
    pub name: String,
    /// Its arguments, an object.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// Reasoning that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reasoning {
    /// Whether there is any, whatever the request asks for.
    Given(bool),
    /// This text.
    Words(String),
}

/// How an answer ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Normally.
    Stop,
    /// At its limit of tokens.
    Length,
    /// A filter ends it after its text.
    ContentFilter,
    /// The model declines, instead of sending a text.
    Refusal,
}

const KEYS: &[&str] =
    &["text", "calls", "reasoning", "finish", "cached_tokens", "cache_write_tokens"];

impl Wish {
    /// Reads a wish from JSON.
    ///
    /// # Errors
    /// If it is no object, or a field is unknown or of another type.
    pub fn from_json(value: Value) -> Result<Self, BadFault> {
        let says = |e| BadFault::new(format!("{e}; an answer has {}", KEYS.join(", ")));
        serde_json::from_value(value).map_err(says)
    }

    /// This wish; a field that it does not have is taken from the other one.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            text: self.text.or(other.text),
            calls: self.calls.or(other.calls),
            reasoning: self.reasoning.or(other.reasoning),
            finish: self.finish.or(other.finish),
            cached_tokens: self.cached_tokens.or(other.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.or(other.cache_write_tokens),
        }
    }
}

/// A request's own instruction.
#[derive(Debug, Clone, Default)]
pub(super) struct Own {
    /// Its fault.
    pub(super) fault: Option<FaultSpec>,
    /// Its wish.
    pub(super) wish: Wish,
    /// The name of the only mock that the wish is for.
    pub(super) at: Option<String>,
}

impl Own {
    /// Reads `x_mock`: a fault in the short form, or an object with a fault's
    /// fields, a wish's, or both.
    pub(super) fn read(value: Value) -> Result<Self, BadFault> {
        let Value::Object(mut fields) = value else {
            let fault = Some(FaultSpec::from_json(value)?);
            return Ok(Self { fault, ..Self::default() });
        };
        let wished: Map<String, Value> = KEYS
            .iter()
            .filter_map(|key| Some(((*key).into(), fields.shift_remove(*key)?)))
            .collect();
        let only_at = fields.keys().all(|key| key == "at");
        let at = fields.get("at").and_then(Value::as_str).map(Into::into);
        let fault = if only_at && !wished.is_empty() {
            None
        } else {
            Some(FaultSpec::from_json(Value::Object(fields))?)
        };
        Ok(Self { fault, wish: Wish::from_json(Value::Object(wished))?, at })
    }
}

/// The instruction in the text of some messages: the last `[[mock …]]`.
pub(super) fn in_words<'a>(
    messages: impl IntoIterator<Item = &'a Value>,
) -> Result<Option<Value>, BadFault> {
    let mut found = None;
    for message in messages {
        find(message, &mut found)?;
    }
    Ok(found)
}

fn find(value: &Value, found: &mut Option<Value>) -> Result<(), BadFault> {
    match value {
        Value::String(text) => {
            for rest in text.split("[[mock ").skip(1) {
                let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
                let read = values.next().and_then(Result::ok);
                let after = rest.get(values.byte_offset()..).unwrap_or_default();
                match read {
                    Some(read) if after.trim_start().starts_with("]]") => *found = Some(read),
                    _ => return Err(BadFault::new("no JSON between `[[mock ` and `]]`")),
                }
            }
            Ok(())
        }
        Value::Array(items) => items.iter().try_for_each(|item| find(item, found)),
        Value::Object(fields) => fields.values().try_for_each(|field| find(field, found)),
        _ => Ok(()),
    }
}
