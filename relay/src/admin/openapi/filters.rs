//! What lists, curves and sums can be asked for: the parameters in their addresses.
//!
//! Handlers read them pair by pair, so that an unknown one is an error and not a list
//! that is longer than was meant. So nothing is read into these; a test holds them against
//! what the handlers say they know.
#![expect(dead_code, reason = "they describe; see above")]

use shared::admin::actions::ActionKind;
use shared::{AttemptKind, AttemptOutcome, RequestId, RequestOutcome, UnixMillis};
use utoipa::{IntoParams, ToSchema};

/// An order of a list of requests, all of them greatest first.
#[derive(ToSchema)]
pub(in crate::admin) enum Order {
    #[serde(rename = "-at")]
    At,
    #[serde(rename = "-cost")]
    Cost,
    #[serde(rename = "-ttft")]
    Ttft,
    #[serde(rename = "-total")]
    Total,
    #[serde(rename = "-attempts")]
    Attempts,
}

/// Whose curves.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::admin) enum Curves {
    Rung,
    Ladder,
}

/// What is summed up together.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::admin) enum Group {
    Rung,
    Outcome,
    Ladder,
    Tenant,
}

/// What the feed has only if asked.
#[derive(ToSchema)]
#[serde(rename_all = "snake_case")]
pub(in crate::admin) enum Topic {
    Requests,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::admin) struct RequestQuery {
    /// The ladder walked.
    ladder: Option<String>,
    /// A rung that was called, whether it answered or not.
    tried: Option<String>,
    /// The rung that answered.
    answered_by: Option<String>,
    /// How the request ended.
    #[param(inline)]
    outcome: Option<RequestOutcome>,
    /// A kind of which an attempt was made.
    #[param(inline)]
    kind: Option<AttemptKind>,
    /// Accepted at or after.
    #[param(inline)]
    since: Option<UnixMillis>,
    /// Accepted before.
    #[param(inline)]
    until: Option<UnixMillis>,
    /// This one.
    #[param(inline)]
    id: Option<RequestId>,
    /// The client key's name.
    client: Option<String>,
    /// First token at or after this many milliseconds.
    min_ttft_ms: Option<u64>,
    /// An attempt ended so; on the rung of `tried`, if that is given.
    #[param(inline)]
    ended: Option<AttemptOutcome>,
    /// Only what was not a plain first attempt, answered in time.
    trouble: Option<bool>,
    /// Only what ended well because of a later attempt.
    rescued: Option<bool>,
    /// In which order; newest first if not said.
    #[param(inline)]
    sort: Option<Order>,
    /// Rows per page, 1 to 500; 50 if not said.
    limit: Option<u32>,
    /// `next` of the page before.
    cursor: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::admin) struct ActionQuery {
    /// Whether something of it still holds.
    in_force: Option<bool>,
    /// What kind of action.
    #[param(inline)]
    kind: Option<ActionKind>,
    /// Whose.
    by: Option<String>,
    /// A rung that it is about.
    rung: Option<String>,
    /// A ladder that it is about.
    ladder: Option<String>,
    /// Done at or after.
    #[param(inline)]
    since: Option<UnixMillis>,
    /// Done before.
    #[param(inline)]
    until: Option<UnixMillis>,
    /// Actions per page, 1 to 500; 50 if not said.
    limit: Option<u32>,
    /// `next` of the page before.
    #[param(value_type = Option<i64>)]
    cursor: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::admin) struct TransitionQuery {
    /// Whose breaker.
    rung: Option<String>,
    /// At or after.
    #[param(inline)]
    since: Option<UnixMillis>,
    /// Before.
    #[param(inline)]
    until: Option<UnixMillis>,
    /// Transitions per page, 1 to 500; 50 if not said.
    limit: Option<u32>,
    /// `next` of the page before.
    cursor: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::admin) struct SeriesQuery {
    /// Whose curves; rungs' if not said.
    #[param(inline)]
    by: Option<Curves>,
    /// This rung's only.
    rung: Option<String>,
    /// Of this ladder only.
    ladder: Option<String>,
    /// From here, at most 31 days before the end; an hour before it if not said.
    #[param(inline)]
    since: Option<UnixMillis>,
    /// To here; now if not said.
    #[param(inline)]
    until: Option<UnixMillis>,
    /// The length of a step, a whole number of minutes; 1 min if not said, and at most
    /// 2000 steps.
    #[param(example = "5m", pattern = "^[1-9][0-9]{0,3}(m|h)$")]
    step: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::admin) struct SummaryQuery {
    /// What is summed up together; rungs if not said.
    #[param(inline)]
    group: Option<Group>,
    /// Of this ladder only.
    ladder: Option<String>,
    /// From here, at most 31 days before the end; an hour before it if not said.
    #[param(inline)]
    since: Option<UnixMillis>,
    /// To here; now if not said.
    #[param(inline)]
    until: Option<UnixMillis>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
pub(in crate::admin) struct FeedQuery {
    /// What it is to have beside the rest.
    #[param(inline)]
    topics: Option<Topic>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(in crate::admin) struct Resume {
    /// Go on after this event; with a snapshot where that cannot be.
    #[param(rename = "Last-Event-ID", nullable = false)]
    last_event_id: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(in crate::admin) struct Seen {
    /// The version that was seen, such as `"7"`, or `*` for whichever it is.
    #[param(rename = "If-Match", nullable = false, pattern = r#"^(\*|[0-9]+|"[0-9]+")$"#)]
    if_match: Option<String>,
}

#[derive(IntoParams)]
#[into_params(parameter_in = Header)]
pub(in crate::admin) struct MustHaveSeen {
    /// The version that was seen, such as `"7"`, or `*` for whichever it is.
    #[param(rename = "If-Match", pattern = r#"^(\*|[0-9]+|"[0-9]+")$"#)]
    if_match: String,
}
