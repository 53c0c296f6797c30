//! Tokens of one attempt, in the dialect-neutral form.

use serde::{Deserialize, Serialize};

/// Tokens of one attempt. `None`: the provider did not report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Prompt tokens, cached ones included.
    pub input: Option<u64>,
    /// Answer tokens, reasoning included.
    pub output: Option<u64>,
    /// Part of `input` that was read from the provider's cache.
    pub cached: Option<u64>,
    /// Part of `input` that was written to the provider's cache.
    pub cache_write: Option<u64>,
    /// Part of `output` that was reasoning.
    pub reasoning: Option<u64>,
}
