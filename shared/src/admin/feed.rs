//! The feed: `GET /admin/v1/feed`, server-sent events.
//!
//! An event's `id` is `boot.seq`, its `event` one of [`FeedKind`], its `data` one line
//! of JSON. After a `snapshot`, or `GET /admin/v1/board`, whose `seq` is N, the events
//! with a higher `seq` lead from there to now. `rung`, `ladder` and `curve` carry the
//! whole of what they are about, so that the newest one is all that is needed; the
//! others say that something happened, and none of them is left out.

use super::RequestRow;
use super::board::{
    DrainState, JournalState, LadderSpark, OperatorHere, RungSpark, RungUsual, Users,
};
use crate::UnixMillis;
use crate::words::words;
use serde::{Deserialize, Serialize};

words! {
    /// What an event of the feed is about.
    FeedKind, "feed event" {
        /// Everything anew: [`Board`](super::Board). What was known before is void.
        Snapshot = "snapshot",
        /// The relay is there: [`Tick`].
        Tick = "tick",
        /// A rung has changed: [`RungState`](super::RungState), its curve left out.
        Rung = "rung",
        /// A ladder has changed: [`LadderState`](super::LadderState), its curve and what is
        /// usual left out.
        Ladder = "ladder",
        /// A curve has a new step: [`Curve`].
        Curve = "curve",
        /// A breaker turned: [`TransitionRow`](super::TransitionRow).
        Transition = "transition",
        /// The config was read: [`ConfigState`](super::ConfigState).
        Config = "config",
        /// Somebody changed something.
        Action = "action",
        /// Somebody noted something.
        Note = "note",
        /// Who has the feed open: [`Operators`].
        Operators = "operators",
        /// Requests that ended: [`RequestBatch`]; only with `?topics=requests`.
        Requests = "requests",
    }
}

/// Every second, whatever happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Tick {
    /// The relay's clock.
    pub at: UnixMillis,
    /// Requests running.
    pub streams: u64,
    /// Those among them that wait for their first token.
    pub waiting: u64,
    /// Its journal.
    pub journal: JournalState,
    /// Its end.
    pub drain: DrainState,
    /// Its resident memory in bytes.
    pub rss_bytes: Option<u64>,
}

/// What moves once in 15 seconds. Exactly one of `rung` and `ladder` is given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Curve {
    /// The rung.
    pub rung: Option<String>,
    /// The ladder.
    pub ladder: Option<String>,
    /// The rung's last 15 minutes.
    pub rung_spark: Option<RungSpark>,
    /// The ladder's last 15 minutes.
    pub ladder_spark: Option<LadderSpark>,
    /// What is usual for the rung.
    pub rung_usual: Option<RungUsual>,
    /// What is usual for the ladder's users.
    pub ladder_usual: Option<Users>,
}

/// Who has the feed open.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Operators {
    /// All of them, whoever is told included.
    pub operators: Vec<OperatorHere>,
}

/// Requests that ended, oldest first; 200 at the most, four times a second.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RequestBatch {
    /// The rows, as `GET /admin/v1/requests` has them.
    pub items: Vec<RequestRow>,
    /// How many more ended and were left out.
    pub skipped: u64,
}
