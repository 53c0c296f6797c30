//! What was: breaker transitions, curves and sums of the journal.
//!
//! Units as in [`board`](super::board).

use crate::histogram::Hist;
use crate::{BreakerState, RequestId, TransitionRule, UnixMillis, Word};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One page of transitions, newest first: `GET /admin/v1/transitions`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TransitionPage {
    /// The rows.
    pub items: Vec<TransitionRow>,
    /// Hand this back as `cursor` for the next page; `None` at the end.
    pub next: Option<String>,
}

/// A breaker's change of state or weight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TransitionRow {
    /// Its number in the journal; 0 in the feed.
    pub id: i64,
    /// When.
    pub at: UnixMillis,
    /// Whose.
    pub rung: String,
    /// The state before: `closed`, `open` or `half_open`.
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub before: Option<Word<BreakerState>>,
    /// The state after.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub after: Word<BreakerState>,
    /// Which rule spoke, such as `bad_run`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub rule: Word<TransitionRule>,
    /// The same as a sentence.
    pub text: String,
    /// Slow calls in the window that led to it; `None` where not told apart.
    pub slow: Option<u32>,
    /// Bad calls in it, slow ones included.
    pub bad: Option<u32>,
    /// All calls in it.
    pub n: Option<u32>,
    /// The weight afterwards, 0..1.
    pub weight: Option<f64>,
    /// The request whose attempt tipped it.
    pub request: Option<RequestId>,
}

/// Curves: `GET /admin/v1/series`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Series {
    /// The first step begins here: a whole number of steps since 1970.
    pub since: UnixMillis,
    /// The last step ends here.
    pub until: UnixMillis,
    /// The length of a step, a whole number of minutes.
    pub step_ms: u64,
    /// One curve per rung, or per ladder.
    pub curves: Vec<SeriesCurve>,
}

/// One curve. A step in which nothing happened is missing: a gap, not a zero.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SeriesCurve {
    /// The rung's or the ladder's name.
    pub name: String,
    /// Its steps, oldest first.
    pub points: Vec<Point>,
}

/// One step of a curve.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Point {
    /// When the step begins.
    pub at: UnixMillis,
    /// Of a rung attempts, of a ladder requests, that ended.
    pub calls: u64,
    /// Late ones: of a rung by verdict, of a ladder after their rungs' marks.
    pub slow: u64,
    /// Failed ones.
    pub bad: u64,
    /// Time to first token; `None` without tokens, or beyond what was seen.
    pub ttft_p50_ms: Option<u64>,
    /// The same for the slowest twentieth.
    pub ttft_p95_ms: Option<u64>,
    /// The buckets behind them.
    pub hist: Hist,
    /// Calls by outcome; those that did not occur are left out.
    pub outcomes: BTreeMap<String, u64>,
    /// Of a rung: requests that passed it over, by reason.
    pub passed: BTreeMap<String, u64>,
    /// Prompt tokens.
    pub input_tokens: u64,
    /// Answer tokens.
    pub output_tokens: u64,
    /// Cost in nano-dollars, as far as it is known.
    pub cost_nano: i64,
    /// Cost of the losers of races among it.
    pub lost_nano: i64,
}

/// Sums: `GET /admin/v1/summary`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Summary {
    /// From here.
    pub since: UnixMillis,
    /// To here.
    pub until: UnixMillis,
    /// By what: `rung`, `outcome`, `ladder` or `tenant`.
    pub group: String,
    /// The groups, the largest count first.
    pub items: Vec<SummaryRow>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SummaryRow {
    /// The rung, outcome, ladder or tenant; `None`: the requests that have none.
    pub name: Option<String>,
    /// By rung attempts, else requests.
    pub count: u64,
    /// Failed ones.
    pub bad: u64,
    /// Prompt tokens.
    pub input_tokens: u64,
    /// Answer tokens.
    pub output_tokens: u64,
    /// Cost in nano-dollars, as far as it is known.
    pub cost_nano: i64,
}
