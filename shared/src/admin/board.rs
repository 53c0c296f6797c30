//! The board: how everything stands at one moment. `GET /admin/v1/board`, and the
//! feed's `snapshot`, `rung` and `ladder` events.
//!
//! Units: `_ms` whole milliseconds; `_at` RFC 3339 UTC by the relay's clock; shares
//! 0..1; `_nps` nano-dollars per second. `null` is unknown, which is never 0.

use super::ConfigState;
use crate::histogram::Hist;
use crate::{
    AttemptOutcome, BreakerState, OrderSource, OverrideMode, PassedOver, Price, TransitionRule,
    UnixMillis, Word,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How everything stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Board {
    /// The last event that is contained: a feed resumed after it misses nothing and
    /// repeats nothing. With [`RelayState::boot`] it is the event's id, `boot.seq`.
    pub seq: u64,
    /// When, by the relay's clock.
    pub at: UnixMillis,
    /// Every ladder, in the config's order.
    pub ladders: Vec<LadderState>,
    /// Every rung, in the config's order.
    pub rungs: Vec<RungState>,
    /// Every provider, in the config's order.
    pub providers: Vec<ProviderState>,
    /// The relay itself.
    pub relay: RelayState,
}

/// The relay itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RelayState {
    /// `admin.name` of its config.
    pub name: Option<String>,
    /// `admin.env` of its config.
    pub env: Option<String>,
    /// Whether taking a ladder's last rung wants `env` to be typed.
    pub protected: bool,
    /// Its version.
    pub version: String,
    /// This life of the relay: another one is another relay as far as the feed goes.
    pub boot: String,
    /// When it started.
    pub started_at: UnixMillis,
    /// Who asks.
    pub you: You,
    /// Who else has the feed open.
    pub operators: Vec<OperatorHere>,
    /// Its config.
    pub config: ConfigState,
    /// Its journal.
    pub journal: JournalState,
    /// Its fellows.
    pub fleet: FleetState,
    /// Its end.
    pub drain: DrainState,
    /// Requests running, from accept to end.
    pub streams: u64,
    /// Those among them that wait for their first token.
    pub waiting: u64,
    /// Its resident memory in bytes.
    pub rss_bytes: Option<u64>,
}

/// What a token permits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// To look.
    Viewer,
    /// To look and to change.
    Operator,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct You {
    /// The token's name; `None` where no token is configured.
    pub name: Option<String>,
    /// What it permits; without tokens everything.
    pub role: Role,
}

/// Somebody who has the feed open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OperatorHere {
    /// The token's name; `None` where no token is configured.
    pub name: Option<String>,
    /// Since when.
    pub since_at: UnixMillis,
    /// With what program: the first word of its `User-Agent`, such as `belay-console`.
    pub via: String,
}

/// How the journal is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JournalState {
    /// Records are being written, and in time.
    pub ok: bool,
    /// Records not yet written.
    pub queue: u64,
    /// Requests whose record was lost since the start.
    pub lost: u64,
    /// Age of the oldest record not yet written.
    pub lag_ms: u64,
    /// Free bytes on its disk.
    pub disk_free_bytes: Option<u64>,
    /// What is wrong, in words.
    pub error: Option<String>,
}

/// How it stands with the other relays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct FleetState {
    /// Whether it shares with others at all.
    pub on: bool,
    /// Whether the store answers; `true` where there is none to ask.
    pub ok: bool,
    /// Since when that is so.
    pub since_at: Option<UnixMillis>,
    /// How old the others' news is.
    pub lag_ms: Option<u64>,
    /// The others.
    pub peers: Vec<Peer>,
}

/// Another relay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Peer {
    /// Its name.
    pub name: String,
    /// When it was last heard of.
    pub at: UnixMillis,
}

/// How far the relay is on its way to stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct DrainState {
    /// Whether it is on that way.
    pub on: bool,
    /// Requests that still run.
    pub streams: u64,
    /// When they are cut.
    pub until_at: Option<UnixMillis>,
}

/// An account at an inference endpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProviderState {
    /// Its name in the config.
    pub name: String,
    /// Its wire format, such as `openai-chat`.
    pub dialect: String,
    /// Its key; `None`: it needs none.
    pub key: Option<KeyState>,
}

/// What may be known of a key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct KeyState {
    /// Where it came from: `env` or `file`; `None` where that is not known.
    pub source: Option<String>,
    /// When it was read.
    pub loaded_at: UnixMillis,
    /// Four hex digits of a hash: tells two keys apart, and nothing else.
    pub tag: String,
}

/// One rung.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RungState {
    /// Its name in the config.
    pub name: String,
    /// Its provider's.
    pub provider: String,
    /// The model's name at the provider.
    pub model: String,
    /// The provider's region.
    pub region: Option<String>,
    /// What it shares with others.
    pub domains: Vec<String>,
    /// Its price, in nano-dollars per million tokens.
    pub price: Option<Price>,
    /// What it is able to do, in the config's words.
    pub supports: Vec<String>,
    /// Tokens of prompt and answer together; `None` counts as large enough.
    pub context: Option<u64>,
    /// How much of it may be used.
    pub limits: Limits,
    /// Its breaker, hold and probes.
    pub health: HealthState,
    /// An operator's word on it.
    #[serde(rename = "override")]
    pub forced: Option<OverrideState>,
    /// Counts the overrides of this rung, ends by themselves included, whether it has one
    /// now or not; for `expect` and `If-Match`. `None`: an older relay, which does not tell.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(required = true))]
    pub override_version: Option<u64>,
    /// The last 30 seconds.
    pub now: RungNow,
    /// What came before.
    pub past: RungPast,
}

/// How much of a rung may be used.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Limits {
    /// Calls per second; `None`: no limit.
    pub rps: Option<f64>,
    /// Calls at the same time, its provider's other rungs included; `None`: no limit.
    pub concurrent: Option<u64>,
}

/// A rung's health.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HealthState {
    /// The breaker's state: `closed`, `open` or `half_open`. An open one whose
    /// cool-down is over stays open until the next request probes it.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub state: Word<BreakerState>,
    /// What changed it last; `None` if nothing has since the start.
    pub cause: Option<HealthCause>,
    /// When the breaker changed last.
    pub since_at: Option<UnixMillis>,
    /// When the rung first left full health; `None` while it is well.
    pub sick_since_at: Option<UnixMillis>,
    /// How often it opened in the last 10 minutes.
    pub opens_10m: u32,
    /// Counts the breaker's transitions: reports of an older one are ignored.
    pub generation: u32,
    /// The probe of a half-open one, or the next one of an open one.
    pub probe: Option<ProbeState>,
    /// The last cool-down that was drawn.
    pub cooldown_ms: Option<u64>,
    /// How often it is first choice where it stands first, 0..1.
    pub weight: f64,
    /// Spared as some ladder's last rung: the breaker would have opened.
    pub floor: bool,
    /// A pause that its provider asked for.
    pub hold: Option<HoldState>,
    /// The provider refuses our account.
    pub hard_down: Option<HardDown>,
}

/// Why a breaker changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HealthCause {
    /// The rule's word, as in the journal.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub rule: Word<TransitionRule>,
    /// The same as a sentence.
    pub text: String,
    /// Slow calls in the window that led to it; `None` where not told apart.
    pub slow: Option<u32>,
    /// Bad calls in it, slow ones included where `slow` is `None`.
    pub bad: u32,
    /// All calls in it.
    pub n: u32,
    /// How the attempt ended that tipped it.
    pub outcome: Option<AttemptOutcome>,
    /// Its HTTP status.
    pub status: Option<u16>,
    /// The provider's code for its error.
    pub code: Option<String>,
}

impl HealthCause {
    /// Whether a probe was slow, not bad. What is kept over a restart does not say which.
    #[must_use]
    pub fn is_slow_probe(&self) -> bool {
        self.rule == TransitionRule::ProbeBad && self.outcome.is_none() && self.slow.is_some()
    }
}

/// Where a rung stands with its probes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ProbeState {
    /// When the next one may go out; in the past: with the next request.
    pub at: Option<UnixMillis>,
    /// One is out.
    pub running: bool,
    /// Good ones so far.
    pub good: u32,
    /// Good ones that close it.
    pub need: u32,
}

/// A pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HoldState {
    /// When it ends.
    pub until_at: UnixMillis,
    /// Who asked for it: `provider`.
    pub why: String,
}

/// A refused account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HardDown {
    /// `key`, `credit` or `model`.
    pub why: String,
    /// When it is tried again.
    pub until_at: UnixMillis,
}

/// An operator's word on a rung.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct OverrideState {
    /// `forced_open`, `forced_closed` or `demoted`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub mode: Word<OverrideMode>,
    /// Why, in the operator's words.
    pub reason: Option<String>,
    /// Whose; `None`: the relay's own, or not known any more.
    pub by: Option<String>,
    /// Since when.
    pub at: Option<UnixMillis>,
    /// When it ends by itself; `None`: never.
    pub until_at: Option<UnixMillis>,
    /// Counts the overrides of this rung; for `If-Match`.
    pub version: u64,
    /// The action that set it.
    pub action: Option<String>,
    /// Whether the other relays have it too.
    pub fleet_shared: bool,
    /// Streams that still run on a rung that is forced open.
    pub draining: u64,
}

/// A rung's last 30 seconds. Counts are of attempts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RungNow {
    /// Attempts that ended, or brought their first token.
    pub calls: u64,
    /// Those that were good by their first token and by their stream.
    pub good: u64,
    /// Those that were late.
    pub slow: u64,
    /// Those that failed, before the token or after it.
    pub bad: u64,
    /// Those without a verdict, such as the losers of a race.
    pub other: u64,
    /// Attempts that ended, by outcome; those that did not occur are left out.
    pub outcomes: BTreeMap<String, u64>,
    /// Attempts dialled per second.
    pub rps: f64,
    /// Dial to first token; `None` without calls, or beyond what was seen.
    pub ttft_p50_ms: Option<u64>,
    /// The same for the slowest twentieth.
    pub ttft_p95_ms: Option<u64>,
    /// The p95 is at least `ttft_p95_ms`: so many were cut that it was not seen.
    pub ttft_at_least: bool,
    /// The buckets behind them.
    pub hist: Hist,
    /// The longest silence within a stream, slowest twentieth; `None`: not measured.
    pub gap_p95_ms: Option<u64>,
    /// Attempts that wait for their first token now.
    pub waiting: u64,
    /// How long the oldest of them has waited.
    pub oldest_wait_ms: Option<u64>,
    /// Attempts past their first token now.
    pub streaming: u64,
    /// Cost of all that ended.
    pub cost_nps: u64,
    /// Cost of the losers of races among it.
    pub lost_nps: u64,
    /// After so long without a token a call with a small prompt is slow.
    pub mark_ms: Option<u64>,
    /// What its p95 usually is, by which the breaker judges.
    pub ref_p95_ms: Option<u64>,
    /// First tokens behind that reference; `None`: not counted.
    pub ref_n: Option<u64>,
}

/// What came before.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RungPast {
    /// The last proper end.
    pub last_ok_at: Option<UnixMillis>,
    /// The last attempt that failed.
    pub last_fault: Option<LastFault>,
    /// What is usual at this hour; `None` below one hour of data.
    pub usual: Option<RungUsual>,
    /// The busiest second, averaged over a minute, of the last 24 hours.
    pub peak_rps_24h: Option<f64>,
    /// The last 15 minutes; `None` in the feed's `rung` events, which leave it to `curve`.
    pub spark: Option<RungSpark>,
}

/// An attempt that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LastFault {
    /// When it ended.
    pub at: UnixMillis,
    /// How.
    pub outcome: AttemptOutcome,
    /// The provider's HTTP status.
    pub status: Option<u16>,
    /// The provider's code for its error.
    pub code: Option<String>,
    /// What went wrong, in the relay's own words, 160 characters at the most.
    pub text: Option<String>,
    /// Whether something was taken out of the text.
    pub redacted: bool,
}

/// What is usual for a rung: the median of the same hour on up to 7 earlier days,
/// else of the last 24 hours.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RungUsual {
    /// Attempts per second.
    pub rps: Option<f64>,
    /// Share of attempts that were bad.
    pub bad: Option<f64>,
    /// Dial to first token, slowest twentieth.
    pub ttft_p95_ms: Option<u64>,
    /// Cost.
    pub cost_nps: Option<u64>,
}

/// A rung's curve, oldest step first; the last one is the step that runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RungSpark {
    /// The length of a step: 15000.
    pub step_ms: u64,
    /// Attempts that ended or brought their first token.
    pub calls: Vec<u32>,
    /// Late ones.
    pub slow: Vec<u32>,
    /// Failed ones.
    pub bad: Vec<u32>,
    /// Dial to first token, slowest twentieth; `None` without tokens.
    pub p95_ms: Vec<Option<u64>>,
}

impl Board {
    /// How many rungs were called for `ladder` of late and have no price: its costs are
    /// without theirs.
    #[must_use]
    pub fn unpriced(&self, ladder: &LadderState) -> usize {
        let is_called = |step: &&Step| {
            [step.share, step.first_share].into_iter().flatten().any(|share| share > 0.0)
        };
        let has_none = |step: &&Step| {
            self.rungs.iter().any(|rung| rung.name == step.rung && rung.price.is_none())
        };
        ladder.steps.iter().filter(is_called).filter(has_none).count()
    }
}

/// One ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LadderState {
    /// Its name in the config.
    pub name: String,
    /// Other names that clients may use.
    pub aliases: Vec<String>,
    /// Whether people wait for its answers.
    pub interactive: bool,
    /// Its rungs, first choice first.
    pub order: Vec<String>,
    /// The same as the config has it.
    pub config_order: Vec<String>,
    /// Whose order it is: `config`, `operator`, `adapted` or `fleet`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub source: Word<OrderSource>,
    /// Counts the orders of this ladder; for `If-Match`.
    pub version: u64,
    /// Who set it.
    pub by: Option<String>,
    /// Why, in the operator's words.
    pub reason: Option<String>,
    /// Since when.
    pub at: Option<UnixMillis>,
    /// When the config's order comes back; `None`: never.
    pub until_at: Option<UnixMillis>,
    /// The config that it was last fitted to.
    pub config_rev: u64,
    /// What its users had in the last 60 seconds.
    pub users: Users,
    /// What they usually have at this hour; `None` below one hour of data, and in the
    /// feed's `ladder` events.
    pub usual: Option<Users>,
    /// The last 15 minutes; `None` in the feed's `ladder` events.
    pub spark: Option<LadderSpark>,
    /// Its rungs, in its order: who carried what.
    pub steps: Vec<Step>,
    /// Its budgets.
    pub budget: BudgetState,
}

/// What a ladder's users had.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Users {
    /// Requests that ended, per second.
    pub rps: f64,
    /// Requests that ended well: answers and refusals.
    pub ok: u64,
    /// Requests that got an error instead of an answer.
    pub failed: u64,
    /// Requests whose answer failed in mid-stream.
    pub broken: u64,
    /// Requests whose first token came after `late_ms`.
    pub late: u64,
    /// What counts as late here; `None`: no rung of it has a mark yet.
    pub late_ms: Option<u64>,
    /// Clients that left before a token.
    pub gone: u64,
    /// Requests that ended well only because of a second attempt.
    pub rescued: u64,
    /// Requests that had nobody left and went to a last resort.
    pub last_resort: u64,
    /// Accept to first token; `None` without answers.
    pub ttft_p50_ms: Option<u64>,
    /// The same for the slowest twentieth.
    pub ttft_p95_ms: Option<u64>,
    /// The buckets behind them; clients that left count as cut.
    pub hist: Hist,
    /// Requests that wait for their first token now.
    pub waiting: u64,
    /// How long the oldest of them has waited.
    pub oldest_wait_ms: Option<u64>,
    /// Requests past their first token now.
    pub streaming: u64,
    /// Cost of all attempts.
    pub cost_nps: u64,
}

/// A ladder's curve, oldest step first; the last one is the step that runs.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LadderSpark {
    /// The length of a step: 15000.
    pub step_ms: u64,
    /// Requests that ended, per second.
    pub rps: Vec<f64>,
    /// Requests that failed or broke.
    pub failed: Vec<u32>,
    /// Accept to first token, slowest twentieth; `None` without answers.
    pub p95_ms: Vec<Option<u64>>,
    /// Cost.
    pub cost_nps: Vec<u64>,
}

/// What one rung did for one ladder in the last 60 seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Step {
    /// The rung.
    pub rung: String,
    /// The share of the ladder's answers that it gave; `None` without answers.
    pub share: Option<f64>,
    /// The share of the ladder's requests that it was called for first.
    pub first_share: Option<f64>,
    /// What its attempts for this ladder cost.
    pub cost_nps: u64,
    /// The share of answers that it usually gives at this hour.
    pub usual_share: Option<f64>,
    /// Requests that passed it over, by reason; those that did not occur are left out.
    pub passed: BTreeMap<PassedOver, u64>,
}

/// A ladder's budgets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BudgetState {
    /// For hedges.
    pub hedge: Bucket,
    /// For retries and later failovers.
    pub retry: Bucket,
    /// The share of the last minute's requests that had a hedge.
    pub hedge_share: Option<f64>,
    /// The share of those hedges that won.
    pub hedge_win_share: Option<f64>,
    /// How long the first rung may be silent before a hedge goes out.
    pub hedge_delay_ms: Option<u64>,
}

/// A token bucket.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Bucket {
    /// Tokens left.
    pub level: f64,
    /// Tokens it holds.
    pub cap: f64,
    /// How often it was empty in the last minute.
    pub refused_1m: u64,
}
