//! What an answer says, whatever its dialect.

use serde_json::Value;

/// A tool call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in super::super) struct Call {
    pub(in super::super) id: String,
    pub(in super::super) name: String,
    pub(in super::super) arguments: String,
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in super::super) struct Said {
    pub(in super::super) id: String,
    pub(in super::super) model: String,
    pub(in super::super) text: String,
    pub(in super::super) reasoning: String,
    pub(in super::super) calls: Vec<Call>,
    /// In the dialect's own word.
    pub(in super::super) finish: Option<String>,
    /// Prompt tokens with what a cache held, and output tokens with all reasoning.
    pub(in super::super) usage: Option<(u64, u64)>,
    /// How often it began: roles, `message_start`s, `response.created`s.
    pub(in super::super) starts: usize,
    /// Whether its terminator came.
    pub(in super::super) complete: bool,
    pub(in super::super) error: Option<Value>,
}

/// A text that may be absent.
pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

impl Said {
    /// Its calls as name and arguments.
    pub(in super::super) fn called(&self) -> Vec<(&str, &str)> {
        self.calls.iter().map(|call| (call.name.as_str(), call.arguments.as_str())).collect()
    }
}
