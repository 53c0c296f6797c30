//! The body, with Anthropic's names for its fields.

use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

#[derive(Serialize)]
pub(crate) struct Body<'a> {
    pub(crate) model: &'a str,
    pub(crate) max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) system: Vec<Text<'a>>,
    pub(crate) messages: &'a [Message<'a>],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<Tool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output_config: Option<OutputConfig<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) thinking: Option<Thinking>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) top_p: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) top_k: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) metadata: Option<Metadata<'a>>,
    pub(crate) stream: bool,
}

impl Body<'_> {
    pub(crate) fn to_json(&self) -> Vec<u8> {
        // Keys are text and memory does not run out of room: nothing here can fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

#[derive(Serialize)]
pub(crate) struct Metadata<'a> {
    pub(crate) user_id: &'a str,
}

/// A block of the system prompt.
#[derive(Serialize)]
#[serde(tag = "type", rename = "text")]
pub(crate) struct Text<'a> {
    pub(crate) text: &'a str,
}

impl<'a> Text<'a> {
    pub(crate) const fn of(text: &'a str) -> Self {
        Self { text }
    }
}

#[derive(Serialize)]
pub(crate) struct Tool<'a> {
    pub(crate) name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<&'a str>,
    pub(crate) input_schema: Json<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) strict: Option<bool>,
}

/// A schema.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Json<'a> {
    /// As the client wrote it.
    Written(&'a RawValue),
    /// The schema of a tool without arguments.
    Nothing {
        #[serde(rename = "type")]
        kind: &'static str,
        properties: Nothing,
    },
}

#[derive(Serialize)]
pub(crate) struct Nothing {}

impl Json<'_> {
    pub(crate) const NO_ARGUMENTS: Self = Self::Nothing { kind: "object", properties: Nothing {} };
}

#[derive(Serialize)]
pub(crate) struct Choice<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) disable_parallel_tool_use: Option<bool>,
}

#[derive(Serialize)]
pub(crate) struct OutputConfig<'a> {
    pub(crate) format: OutputFormat<'a>,
}

#[derive(Serialize)]
pub(crate) struct OutputFormat<'a> {
    #[serde(rename = "type")]
    pub(crate) kind: &'static str,
    pub(crate) schema: &'a RawValue,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Thinking {
    Enabled { budget_tokens: u64 },
    Adaptive,
}

#[derive(Serialize)]
pub(crate) struct Message<'a> {
    pub(crate) role: &'static str,
    pub(crate) content: Vec<Block<'a>>,
}

/// A block of a message's content.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Block<'a> {
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

/// The place of data.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum Source<'a> {
    Url { url: &'a str },
    Base64 { media_type: &'a str, data: &'a str },
    Text { media_type: &'static str, data: Cow<'a, str> },
}
