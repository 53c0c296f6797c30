//! What a change is about, and how a relay is asked for it.

use super::order::Move;
use shared::OverrideMode;
use shared::admin::changes::Change;

/// What a change is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// An override of a rung and, if it is so chosen, of all that shares something with it;
    /// or of several that were marked.
    Rungs {
        /// The rungs.
        rungs: Vec<String>,
        /// What they become.
        mode: OverrideMode,
        /// Which of [`Dialog::covers`](super::state::Dialog::covers) is chosen, where there is one rung.
        cover: usize,
        /// Running streams are cut, too.
        cut: bool,
    },
    /// An order of a ladder.
    Order {
        /// The ladder.
        ladder: String,
        /// Its rungs as they would be.
        rungs: Vec<String>,
        /// The same as the relay has it.
        seen: Vec<String>,
        /// The one that is moved.
        at: usize,
        /// What was moved: the intent, which is kept when somebody else is faster.
        moves: Vec<Move>,
    },
    /// Back to the config's order.
    ConfigOrder {
        /// The ladder.
        ladder: String,
    },
    /// Anything else.
    Other(OtherAction),
}

/// What is no change of overrides and orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherAction {
    /// Ends a rung's cool-down, hold or hard-down: the next request is its probe.
    Probe {
        /// The rung.
        rung: String,
    },
    /// One small call outside all traffic.
    Check {
        /// The rung.
        rung: String,
    },
    /// Takes an action back, where it was made.
    Undo {
        /// The action's id.
        action: String,
        /// What it did, in words.
        what: String,
        /// The changes that lead back; empty: they are not known here.
        back: Vec<Change>,
        /// The relays that have it.
        relays: Vec<usize>,
    },
    /// Pins a note.
    Note {
        /// To this rung.
        rung: Option<String>,
        /// To this ladder; neither: to the whole.
        ladder: Option<String>,
    },
    /// Ends a note.
    EndNote {
        /// The note's id.
        note: String,
        /// What it says.
        text: String,
        /// The relays that have it.
        relays: Vec<usize>,
    },
}

impl OtherAction {
    /// The reason that is recorded if the operator writes none; empty: one must be written.
    pub(super) const fn default_reason(&self) -> &'static str {
        match self {
            Self::Probe { .. } => "probe now",
            Self::Check { .. } => "test call",
            Self::Undo { .. } => "undo",
            Self::Note { .. } => "",
            Self::EndNote { .. } => "done",
        }
    }

    /// Where it is sent: the path, and whether it ends what is there.
    #[must_use]
    pub fn path(&self) -> (Vec<String>, bool) {
        let path = |parts: &[&str]| parts.iter().map(|&part| part.to_owned()).collect();
        match self {
            Self::Probe { rung } => (path(&["rungs", rung, "probe"]), false),
            Self::Check { rung } => (path(&["rungs", rung, "check"]), false),
            Self::Undo { action, .. } => (path(&["actions", action, "undo"]), false),
            Self::Note { .. } => (path(&["notes"]), false),
            Self::EndNote { note, .. } => (path(&["notes", note]), true),
        }
    }

    /// What is sent there.
    #[must_use]
    pub fn body(&self, id: &str, reason: &str, accept: &[String]) -> serde_json::Value {
        match self {
            Self::Note { rung, ladder } => {
                let mut about = serde_json::Map::new();
                for (key, name) in [("rung", rung), ("ladder", ladder)] {
                    about.extend(name.clone().map(|name| (key.to_owned(), name.into())));
                }
                serde_json::json!({"id": id, "text": reason, "about": about})
            }
            Self::Undo { .. } => serde_json::json!({"id": id, "reason": reason, "accept": accept}),
            _ => serde_json::json!({"id": id, "reason": reason}),
        }
    }
}
