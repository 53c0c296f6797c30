//! The admin API's types. Their field names are a contract: a test holds the list of them.

pub mod actions;
pub mod board;
pub mod changes;
pub mod feed;
pub mod past;
pub mod sample;
pub mod ttl;

pub use board::{Board, LadderState, ProviderState, RelayState, Role, RungState, You};
pub use feed::{Curve, FeedKind, RequestBatch, Tick};
pub use past::{Series, Summary, TransitionPage, TransitionRow};

use crate::{
    AttemptKind, AttemptOutcome, Cause, PassedOver, RequestId, RequestOutcome, StreamVerdict,
    TokenVerdict, UnixMillis,
};
use serde::{Deserialize, Serialize};

/// One page of requests, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestPage {
    /// The rows.
    pub items: Vec<RequestRow>,
    /// Hand this back as `cursor` for the next page; `None` at the end.
    pub next: Option<String>,
}

/// A request as the journal has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestRow {
    /// Its id.
    pub id: RequestId,
    /// When it was accepted.
    pub at: UnixMillis,
    /// The client key's name; `None` when no client is configured.
    pub client: Option<String>,
    /// The ladder it walked; `None` when its model named none.
    pub ladder: Option<String>,
    /// What the client sent as `model`, cut to 128 characters.
    pub model: Option<String>,
    /// Whether it asked for a stream.
    pub stream: bool,
    /// How it ended; `None` while it runs.
    pub outcome: Option<RequestOutcome>,
    /// Why, where the outcome is `cancelled`.
    pub cause: Option<Cause>,
    /// The status that the client saw.
    pub status: Option<u16>,
    /// The rung that answered.
    pub answered_by: Option<String>,
    /// How many attempts were made.
    pub attempts_made: u32,
    /// Whether a hedge was started.
    pub hedged: bool,
    /// Accept to first token, in milliseconds.
    pub ttft_ms: Option<u64>,
    /// Accept to end, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Prompt tokens of the answer.
    pub input_tokens: Option<u64>,
    /// Output tokens of the answer.
    pub output_tokens: Option<u64>,
    /// Cost of all attempts, in US dollars; `None` where one is unknown.
    pub cost_usd: Option<f64>,
    /// Bytes of body that were handed to the client.
    pub bytes: u64,
    /// Content events that were handed to the client.
    pub events: u64,
    /// What was tried, in order. Of an older relay nothing.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub trail: Vec<Tried>,
}

/// An attempt in short: what a list says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tried {
    /// The rung that was called.
    pub rung: String,
    /// How it ended; `None` while it runs.
    pub outcome: Option<AttemptOutcome>,
    /// Dial to first token, in milliseconds.
    pub ttft_ms: Option<u64>,
    /// Dial to end, in milliseconds.
    pub latency_ms: Option<u64>,
}

/// A request with everything that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestDetail {
    /// The request.
    #[serde(flatten)]
    pub request: RequestRow,
    /// What was tried, in order.
    pub attempts: Vec<AttemptRow>,
    /// Rungs that were not called, and why.
    pub passed_over: Vec<PassedOverRow>,
}

/// An attempt as the journal has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct AttemptRow {
    /// Its number within the request, from 1.
    pub n: u32,
    /// The rung it called.
    pub rung: String,
    /// Why it was made.
    pub kind: AttemptKind,
    /// Whether it was a half-open breaker's probe.
    pub probe: bool,
    /// How it ended; `None` while it runs.
    pub outcome: Option<AttemptOutcome>,
    /// Why, where the outcome is `cancelled`.
    pub cause: Option<Cause>,
    /// What went wrong, in the relay's own words; never a provider's text.
    pub detail: Option<String>,
    /// The provider's HTTP status.
    pub status: Option<u16>,
    /// What it said about its rung's health on its first token.
    pub verdict: Option<TokenVerdict>,
    /// What it said about its rung's health afterwards.
    pub stream_verdict: Option<StreamVerdict>,
    /// When it was dialled.
    pub at: UnixMillis,
    /// Dial to response head, in milliseconds.
    pub headers_ms: Option<u64>,
    /// Dial to first token, in milliseconds.
    pub ttft_ms: Option<u64>,
    /// Dial to end, in milliseconds.
    pub latency_ms: Option<u64>,
    /// Content events read.
    pub events: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Prompt tokens, cached ones included.
    pub input_tokens: Option<u64>,
    /// Output tokens, reasoning included.
    pub output_tokens: Option<u64>,
    /// Prompt tokens read from the provider's cache.
    pub cached_tokens: Option<u64>,
    /// Output tokens that were reasoning.
    pub reasoning_tokens: Option<u64>,
    /// Whether the tokens are the relay's estimate.
    pub estimated: bool,
    /// Cost in US dollars; `None` where unknown, then `no_cost` says why.
    pub cost_usd: Option<f64>,
    /// Why there is no cost: `no price`, `no usage`, `interrupted`.
    pub no_cost: Option<String>,
    /// Prompt tokens written to the provider's cache.
    #[serde(default)]
    pub cache_write_tokens: Option<u64>,
    /// Wishes of the request that its rung was not told, such as `seed`, and needs that
    /// were made less of.
    #[serde(default)]
    pub left_out: Vec<String>,
}

/// A rung that a request's plan left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PassedOverRow {
    /// The rung.
    pub rung: String,
    /// Why.
    pub reason: PassedOver,
    /// The field for which its dialect has no words, where that is the reason.
    #[serde(default)]
    pub feature: Option<String>,
}

impl PassedOverRow {
    /// The reason, with the field where there is one: `dialect: logit_bias`.
    #[must_use]
    pub fn why(&self) -> String {
        let feature = self.feature.as_ref().map(|feature| format!(": {feature}"));
        format!("{}{}", self.reason, feature.unwrap_or_default())
    }
}

impl AttemptRow {
    /// The parts of the request that were left out for its rung, in words; `None` if there are
    /// none.
    #[must_use]
    pub fn left_out_text(&self) -> Option<String> {
        let words = self.left_out.join(", ");
        (!words.is_empty()).then(|| format!("left out: {words}"))
    }
}

/// What the relay was configured with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigState {
    /// Counts the configs of this life, from 1.
    pub rev: u64,
    /// When this one came into force.
    pub loaded_at: UnixMillis,
    /// Why the newest one on disk was refused; `None` if it is in force.
    pub error: Option<ConfigError>,
}

/// Why a config was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ConfigError {
    /// When.
    pub at: UnixMillis,
    /// The line, from 1, where one is to blame.
    pub line: Option<u64>,
    /// What is wrong, in words.
    pub text: String,
}
