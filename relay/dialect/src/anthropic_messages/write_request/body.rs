//! The body's shape, field for field as Anthropic names them.

use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Serialize)]
pub(super) struct Body<'a> {
    pub(super) model: &'a str,
    pub(super) max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) system: Vec<Text<'a>>,
    pub(super) messages: &'a [Message<'a>],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) top_k: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) metadata: Option<Metadata<'a>>,
    pub(super) stream: bool,
}

impl Body<'_> {
    pub(super) fn to_json(&self) -> Vec<u8> {
        // Keys are text and memory does not run out of room: nothing here can fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[derive(Serialize)]
pub(super) struct Metadata<'a> {
    pub(super) user_id: &'a str,
}

/// A block of the system prompt.
#[derive(Serialize)]
#[serde(tag = "type", rename = "text")]
pub(super) struct Text<'a> {
    pub(super) text: &'a str,
}

impl<'a> Text<'a> {
    pub(super) const fn of(text: &'a str) -> Self {
        Self { text }
    }
}

#[derive(Serialize)]
pub(super) struct Tool<'a> {
    pub(super) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) description: Option<&'a str>,
    pub(super) input_schema: Json<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) strict: Option<bool>,
}

/// A schema.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Json<'a> {
    /// As the client wrote it.
    Written(&'a RawValue),
    /// That of a tool that takes nothing.
    Nothing {
        #[serde(rename = "type")]
        kind: &'static str,
        properties: Nothing,
    },
}

#[derive(Serialize)]
pub(super) struct Nothing {}

impl Json<'_> {
    pub(super) const NO_ARGUMENTS: Self = Self::Nothing { kind: "object", properties: Nothing {} };
}

#[derive(Serialize)]
pub(super) struct Choice<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) disable_parallel_tool_use: Option<bool>,
}

#[derive(Serialize)]
pub(super) struct OutputConfig<'a> {
    pub(super) format: OutputFormat<'a>,
}

#[derive(Serialize)]
pub(super) struct OutputFormat<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Thinking {
    Enabled { budget_tokens: u64 },
    Adaptive,
}

#[derive(Serialize)]
pub(super) struct Message<'a> {
    pub(super) role: &'static str,
    pub(super) content: Vec<Block<'a>>,
}

/// A block of a message's content.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block<'a> {
    Text {
        text: &'a str,
    },
    Image {
        source: Source<'a>,
    },
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        title: Option<&'a str>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    ToolUse {
        id: String,
        name: &'a str,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        content: Vec<Block<'a>>,
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        is_error: bool,
    },
}

/// Where data is.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Source<'a> {
    Url { url: &'a str },
    Base64 { media_type: &'a str, data: &'a str },
    Text { media_type: &'static str, data: Cow<'a, str> },
}
