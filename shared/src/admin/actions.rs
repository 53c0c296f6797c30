//! What operators have done: the list, notes, checks and previews.

use super::changes::{Change, ConfigWord, NewOrder, Present, Target};
use crate::words::words;
use crate::{AttemptKind, AttemptOutcome, OrderSource, OverrideMode, UnixMillis};
use serde::{Deserialize, Serialize};

words! {
    /// What kind of thing an operator did.
    ActionKind, "kind of action" {
        /// Overrides and orders.
        Change = "change",
        /// An action was taken back.
        Undo = "undo",
        /// A cool-down, hold or hard-down was ended.
        Probe = "probe",
        /// A call outside all traffic.
        Check = "check",
        /// A note was pinned.
        Note = "note",
    }
}

/// One thing that an operator did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Action {
    /// The id that the client made.
    pub id: String,
    /// When.
    pub at: UnixMillis,
    /// What.
    pub kind: ActionKind,
    /// Whose token it came with; `local` where no token is configured.
    pub by: String,
    /// Why. Of a note, its text.
    pub reason: String,
    /// What was asked for; empty where it was no change.
    pub changes: Vec<Change>,
    /// What it is about, where it was no change.
    pub about: About,
    /// What was so before, of what it changed: where undo leads back to.
    pub before: Option<Present>,
    /// What was so afterwards.
    pub after: Option<Present>,
    /// Ladders that its author let go without a rung.
    pub accepted: Vec<String>,
    /// What a check found.
    pub check: Option<CheckAnswer>,
    /// When it ends by itself.
    pub until_at: Option<UnixMillis>,
    /// When a note was ended.
    pub ended_at: Option<UnixMillis>,
    /// Who ended the note.
    pub ended_by: Option<String>,
    /// The action that it took back.
    pub undoes: Option<String>,
    /// Whether something of it still holds.
    pub in_force: bool,
}

impl Action {
    /// The changes that lead back to what was in force before it, at `now`; none where it changed
    /// nothing.
    #[must_use]
    pub fn changes_back(&self, now: UnixMillis) -> Vec<Change> {
        let (Some(before), Some(after)) = (&self.before, &self.after) else { return Vec::new() };
        let is_over = |until: Option<UnixMillis>| until.is_some_and(|until| until <= now);
        let rungs = before.rungs.iter().filter(|then| {
            after.rungs.iter().any(|now| now.rung == then.rung && now.version != then.version)
        });
        let rungs = rungs.map(|then| Change::Override {
            target: Target::Rung(then.rung.clone()),
            mode: if is_over(then.until_at) { OverrideMode::Auto } else { then.mode },
            cut_streams: false,
        });
        let ladders = before.ladders.iter().filter(|then| {
            after.ladders.iter().any(|now| now.ladder == then.ladder && now.version != then.version)
        });
        let ladders = ladders.map(|then| {
            let is_configs = then.source == OrderSource::Config || is_over(then.until_at);
            let config = NewOrder::Config(ConfigWord::Config);
            let order = if is_configs { config } else { NewOrder::Rungs(then.order.clone()) };
            Change::Order { ladder: then.ladder.clone(), order }
        });
        rungs.chain(ladders).collect()
    }
}

/// What a probe, a check or a note is about; nothing set: the whole relay.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct About {
    /// A rung.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub rung: Option<String>,
    /// A ladder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub ladder: Option<String>,
}

/// `GET /admin/v1/actions`: filters `in_force, kind, by, rung, ladder, since, until`,
/// and `limit, cursor`; newest first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ActionPage {
    /// The actions.
    pub items: Vec<Action>,
    /// Hand this back as `cursor` for the next page; `None` at the end.
    pub next: Option<String>,
}

/// `POST /admin/v1/notes`. It stands until `DELETE /admin/v1/notes/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct NewNote {
    /// See [`super::changes::ChangeRequest::id`]; also the note's id.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::NewId))]
    pub id: String,
    /// What it says; 1 to 400 characters on one line.
    #[cfg_attr(feature = "openapi", schema(value_type = crate::schemas::Reason))]
    pub text: String,
    /// What it is pinned to. Default: the whole relay.
    #[serde(default)]
    pub about: About,
}

/// The answer to a probe, a note or the end of a note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Done {
    /// The action's id.
    pub id: String,
    /// When it was done.
    pub at: UnixMillis,
    /// Whose token it came with; `local` where no token is configured.
    pub by: String,
    /// Whether it is in the journal.
    pub journaled: bool,
}

/// What a check found: one small call to a rung, outside all traffic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CheckAnswer {
    /// The action's id.
    pub id: String,
    /// When it began.
    pub at: UnixMillis,
    /// Whose token it came with; `local` where no token is configured.
    pub by: String,
    /// The rung that was called.
    pub rung: String,
    /// Always `check`.
    pub kind: AttemptKind,
    /// How the call ended.
    pub outcome: AttemptOutcome,
    /// The provider's HTTP status.
    pub status: Option<u16>,
    /// Dial to first token, in milliseconds.
    pub ttft_ms: Option<u64>,
    /// Dial to end, in milliseconds.
    pub latency_ms: u64,
    /// What the provider said of a failure, at most 160 characters, without keys and hosts.
    pub text: Option<String>,
    /// Whether it is in the journal.
    pub journaled: bool,
}

/// The answer to `POST /admin/v1/preview`: what a change would do. Nothing is changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Preview {
    /// The ladders that the change touches.
    pub ladders: Vec<LadderPreview>,
    /// What to think of before doing it, the worst first.
    pub warnings: Vec<Warning>,
}

/// What would become of one ladder's last requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LadderPreview {
    /// Whose.
    pub ladder: String,
    /// How many of its last requests were replanned, 0 to 500.
    pub requests: u32,
    /// When the oldest of them came.
    pub since_at: Option<UnixMillis>,
    /// The rungs, in the order before.
    pub steps: Vec<StepPreview>,
    /// The share of requests that no rung would serve, 0..1; `None` without requests.
    pub unserved: BeforeAfter<Option<f64>>,
    /// Within which half of them would have their first token, in milliseconds, if nothing
    /// were hedged: the rungs' last minutes, mixed as they would be called. `None`: a rung
    /// that would be called has not been seen of late.
    pub ttft_p50_ms: BeforeAfter<Option<u64>>,
    /// The same for 95 of 100.
    pub ttft_p95_ms: BeforeAfter<Option<u64>>,
    /// What they would cost, in nano-dollars per second; `None`: a price, or the requests,
    /// are unknown.
    pub cost_nps: BeforeAfter<Option<u64>>,
}

/// What one rung of a ladder would carry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct StepPreview {
    /// The rung.
    pub rung: String,
    /// Its place in the order, from 1.
    pub place: BeforeAfter<u32>,
    /// The share of the ladder's requests that it would be called for first, 0..1; `None`
    /// without requests.
    pub share: BeforeAfter<Option<f64>>,
    /// What they would cost, in nano-dollars per second; `None`: unknown.
    pub cost_nps: BeforeAfter<Option<u64>>,
}

/// Two values: as it is, and as it would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BeforeAfter<T> {
    /// As it is.
    pub before: T,
    /// As it would be.
    pub after: T,
}

words! {
    /// What a preview warns of, the worst first.
    WarningKind, "kind of warning" {
        /// A ladder would be left with forced-open rungs only.
        LastRung = "last_rung",
        /// All rungs left of a ladder are open, held or forced open.
        OnlySick = "only_sick",
        /// Requests of a ladder need what no usable rung would be able to do.
        CapabilityLost = "capability_lost",
        /// A rung would carry more than ever in the last 24 hours.
        OverPeak = "over_peak",
    }
}

/// Something to think of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Warning {
    /// What.
    pub kind: WarningKind,
    /// The ladder that it is about.
    pub ladder: Option<String>,
    /// The rung that it is about.
    pub rung: Option<String>,
    /// The same in a sentence.
    pub text: String,
}
