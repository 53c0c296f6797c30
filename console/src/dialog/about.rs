//! What a change is about, and how a relay is asked for it.

use super::{Dialog, Move};
use crate::model::Model;
use shared::OverrideMode;
use shared::admin::changes::{Change, ChangeRequest, ConfigWord, NewOrder};

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
        /// Which of [`Dialog::covers`] is chosen, where there is one rung.
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
    Deed(Deed),
}

/// What is no change of overrides and orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
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

impl Deed {
    /// The reason that is filled in.
    pub(super) const fn reason(&self) -> &'static str {
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

impl About {
    /// Puts what was meant on top of what the relay has now; gives the words for what changed.
    pub(super) fn rebase(&mut self, model: &Model, covered: &[String]) -> String {
        match self {
            Self::Rungs { .. } => {
                let words = |name: &String| {
                    let forced = model.rung(name)?.forced.as_ref();
                    Some(match forced {
                        Some(forced) => format!(
                            "{name} is {} now{}",
                            forced.mode.spaced(" "),
                            forced.by.as_ref().map(|by| format!(", by {by}")).unwrap_or_default()
                        ),
                        None => format!("{name} is back to auto now"),
                    })
                };
                covered.iter().filter_map(words).collect::<Vec<_>>().join("; ")
            }
            Self::Order { ladder, rungs, seen, at, moves } => {
                let Some(state) = model.ladder(ladder) else { return format!("{ladder} is gone") };
                let chosen = rungs.get(*at).cloned();
                seen.clone_from(&state.order);
                *rungs = super::order::again(&state.order, moves);
                *at = chosen
                    .and_then(|name| rungs.iter().position(|rung| *rung == name))
                    .unwrap_or(0);
                let by = state.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
                format!("{ladder} has another order now{by}; yours is put on top of it")
            }
            Self::ConfigOrder { ladder } => format!("{ladder} has another order now"),
            Self::Deed(_) => String::new(),
        }
    }
}

impl Dialog {
    /// The change as a relay is asked for it; `None`: it is no change.
    #[must_use]
    pub fn request(&self, model: &Model, relay: usize) -> Option<ChangeRequest> {
        let changes = match &self.about {
            About::Rungs { rungs, mode, cover, cut } => {
                let covers = self.covers(model).into_iter().map(|(target, _)| target);
                let targets: Vec<_> = match rungs.len() {
                    1 => covers.skip(*cover).take(1).collect(),
                    _ => covers.collect(),
                };
                let cut_streams = *cut && *mode == OverrideMode::ForcedOpen;
                let change = |target| Change::Override { target, mode: *mode, cut_streams };
                targets.into_iter().map(change).collect()
            }
            About::Order { ladder, rungs, .. } => {
                let order = NewOrder::Rungs(rungs.clone());
                vec![Change::Order { ladder: ladder.clone(), order }]
            }
            About::ConfigOrder { ladder } => {
                let order = NewOrder::Config(ConfigWord::Config);
                vec![Change::Order { ladder: ladder.clone(), order }]
            }
            About::Deed(_) => return None,
        };
        Some(ChangeRequest {
            id: self.id.clone(),
            reason: self.reason.trim().to_owned(),
            ttl: self.ttl(),
            changes,
            expect: self.expect.get(&relay).cloned().unwrap_or_default(),
            accept: self.accept.iter().cloned().collect(),
        })
    }
}
