//! What an answer says, whatever its dialect.

use serde_json::Value;

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Said {
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) text: String,
    pub(crate) reasoning: String,
    pub(crate) calls: Vec<Call>,
    /// In the dialect's own word.
    pub(crate) finish: Option<String>,
    /// Prompt tokens with what a cache held, and output tokens with all reasoning.
    pub(crate) usage: Option<(u64, u64)>,
    /// How often it began: roles, `message_start`s, `response.created`s.
    pub(crate) starts: usize,
    /// Whether its terminator came.
    pub(crate) complete: bool,
    pub(crate) error: Option<Value>,
}

/// A text that may be absent.
pub(crate) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

impl Said {
    /// Its calls as name and arguments.
    pub(crate) fn called(&self) -> Vec<(&str, &str)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }
}
