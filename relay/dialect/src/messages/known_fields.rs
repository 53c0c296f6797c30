//! Which fields of messages the neutral form can express, and which can be left out.
//!
//! A field that is in no table is unsupported: only a rung of this dialect can get it. So a field
//! that Anthropic adds later is refused for other dialects by its name, and never lost.

/// What is done with a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// It is read.
    Read,
    /// The answer is the same answer without it.
    Harmless,
    /// Harmless if it has this value, which changes nothing.
    HarmlessIf(&'static str),
}

use Rule::{Harmless, HarmlessIf, Read};

/// The fields of one kind of object.
type Table = &'static [(&'static str, Rule)];

pub(crate) const REQUEST: Table = &[
    ("model", Read),
    ("stream", Read),
    ("messages", Read),
    ("system", Read),
    ("max_tokens", Read),
    ("stop_sequences", Read),
    ("temperature", Read),
    ("top_p", Read),
    ("top_k", Read),
    ("tools", Read),
    ("tool_choice", Read),
    ("thinking", Read),
    ("output_config", Read),
    ("output_format", Read),
    // It holds only `user_id`.
    ("metadata", Read),
    ("context_management", Read),
    // Price, speed and caching depend on the rung.
    ("service_tier", Harmless),
    ("speed", Harmless),
    ("cache_control", Harmless),
    // The relay must not decide where data may go.
    ("inference_geo", HarmlessIf("\"global\"")),
    ("mcp_servers", HarmlessIf("[]")),
];

pub(crate) const MESSAGE: Table = &[("role", Read), ("content", Read)];

/// Blocks of a message's content, by their type.
pub(crate) const BLOCKS: &[(&str, Table)] = &[
    ("text", TEXT),
    ("image", &[("type", Read), ("source", Read), ("cache_control", Harmless)]),
    (
        "document",
        &[
            ("type", Read),
            ("source", Read),
            ("title", Read),
            ("context", Read),
            ("cache_control", Harmless),
            ("citations", HarmlessIf(r#"{"enabled":false}"#)),
        ],
    ),
    (
        "tool_use",
        &[
            ("type", Read),
            ("id", Read),
            ("name", Read),
            ("input", Read),
            ("cache_control", Harmless),
            ("caller", HarmlessIf(r#"{"type":"direct"}"#)),
        ],
    ),
    (
        "tool_result",
        &[
            ("type", Read),
            ("tool_use_id", Read),
            ("content", Read),
            ("is_error", Read),
            ("cache_control", Harmless),
        ],
    ),
    (
        "thinking",
        &[("type", Read), ("thinking", Read), ("signature", Read), ("cache_control", Harmless)],
    ),
    ("redacted_thinking", &[("type", Read), ("data", Read), ("cache_control", Harmless)]),
];

pub(crate) const TEXT: Table = &[
    ("type", Read),
    ("text", Read),
    ("cache_control", Harmless),
    // The sources of an earlier answer's text; the text itself is sent.
    ("citations", Harmless),
];

/// The places of data, by the source's type.
pub(crate) const SOURCES: &[(&str, Table)] = &[
    ("base64", &[("type", Read), ("media_type", Read), ("data", Read)]),
    ("url", &[("type", Read), ("url", Read)]),
    ("file", &[("type", Read), ("file_id", Read)]),
    ("text", &[("type", Read), ("media_type", HarmlessIf("\"text/plain\"")), ("data", Read)]),
    ("content", &[("type", Read), ("content", Read)]),
];

pub(crate) const TOOL: Table = &[
    ("type", Read),
    ("name", Read),
    ("description", Read),
    ("input_schema", Read),
    ("strict", Read),
    ("cache_control", Harmless),
    // Only changes the pieces in which arguments come.
    ("eager_input_streaming", Harmless),
    // The tool is offered at once, not after the model has searched for it.
    ("defer_loading", Harmless),
    ("allowed_callers", HarmlessIf(r#"["direct"]"#)),
    ("input_examples", HarmlessIf("[]")),
];

/// Tools that Anthropic runs. They are left out if the client has other tools. By the beginnings of
/// their types.
pub(crate) const SPARE: &[&str] = &["web_search", "tool_search"];

pub(crate) const TOOL_CHOICE: Table =
    &[("type", Read), ("name", Read), ("disable_parallel_tool_use", Read)];

pub(crate) const THINKING: Table =
    // How much of the reasoning is shown.
    &[("type", Read), ("budget_tokens", Read), ("display", Harmless)];

pub(crate) const OUTPUT_CONFIG: Table = &[("effort", Read), ("format", Read)];

pub(crate) const CONTEXT_MANAGEMENT: Table = &[("edits", Read)];

pub(crate) const FORMAT: Table = &[("type", Read), ("schema", Read)];

/// The table of `kind` among `tables`.
pub(crate) fn of_kind(tables: &[(&str, Table)], kind: &str) -> Option<Table> {
    tables.iter().find(|(name, _)| *name == kind).map(|(_, table)| *table)
}
