//! Which fields of messages have a neutral word, and which can be done without.
//!
//! What stands in no table is unsupported: only a rung of this dialect can be told it. So a
//! field that Anthropic adds tomorrow is refused elsewhere by its name, never lost.

/// What becomes of a field.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// It is read.
    Read,
    /// The answer is the same answer without it.
    Harmless,
    /// That, where its value is this one, which says nothing new.
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
    // Beside `user_id` it holds nothing.
    ("metadata", Read),
    ("context_management", Read),
    // Price, speed and caching are the rung's.
    ("service_tier", Harmless),
    ("speed", Harmless),
    ("cache_control", Harmless),
    // Where data may go is not the relay's to decide.
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
    // Where an earlier answer had its text from; the text itself is there.
    ("citations", Harmless),
];

/// Where data is, by the source's type.
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
    // In which pieces arguments come.
    ("eager_input_streaming", Harmless),
    // It is offered at once instead of once the model has looked for it.
    ("defer_loading", Harmless),
    ("allowed_callers", HarmlessIf(r#"["direct"]"#)),
    ("input_examples", HarmlessIf("[]")),
];

/// Tools that Anthropic runs and that are left out where the client has others, by the
/// beginnings of their types.
pub(crate) const SPARE: &[&str] = &["web_search", "tool_search"];

pub(crate) const TOOL_CHOICE: Table =
    &[("type", Read), ("name", Read), ("disable_parallel_tool_use", Read)];

pub(crate) const THINKING: Table =
    // How much of the thoughts is shown.
    &[("type", Read), ("budget_tokens", Read), ("display", Harmless)];

pub(crate) const OUTPUT_CONFIG: Table = &[("effort", Read), ("format", Read)];

pub(crate) const CONTEXT_MANAGEMENT: Table = &[("edits", Read)];

pub(crate) const FORMAT: Table = &[("type", Read), ("schema", Read)];

/// The table of `kind` among `tables`.
pub(crate) fn of_kind(tables: &[(&str, Table)], kind: &str) -> Option<Table> {
    tables.iter().find(|(name, _)| *name == kind).map(|(_, table)| *table)
}
