//! A change that is being thought of: what it would do, and how sending it went.
//!
//! It is bound to names and to the versions that were seen when it was opened. If what it is
//! about changes meanwhile it says so, keeps what was meant, and must be confirmed anew.

use super::about::{About, OtherAction};
use super::order::Move;
use crate::model::Loaded;
use shared::OverrideMode;
use shared::admin::actions::{Preview, Warning, WarningKind};
use shared::admin::ttl::Ttl;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// After so long without an answer a send is not confirmed, in milliseconds.
pub const PATIENCE: i64 = 5_000;
/// For so long after a dialog has closed by itself, and after each key since, keys are taken for
/// what was still being typed into it, in milliseconds.
pub const TYPING: i64 = 700;
/// A test call calls a provider.
const CHECK_PATIENCE: i64 = 60_000;

/// How far the sending of a change to one relay is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// It left at this moment of ours.
    Waiting(i64),
    /// It was done.
    Done(String),
    /// The relay refused it: nothing was done.
    Refused(String),
    /// No answer came: it may have been done. It is looked up by its id, never sent again.
    NotConfirmed(String),
}

/// The dialog.
#[derive(Debug, Clone, PartialEq)]
pub struct Dialog {
    /// The change's id; every relay gets the same.
    pub id: String,
    /// What it is about.
    pub about: About,
    /// Which of [`Dialog::lasts`] is chosen.
    pub last: usize,
    /// Why, as the operator wrote it. Of a note, its text.
    pub reason: String,
    /// What the reason's field suggests while it is empty: the cause. Tab takes it over.
    pub suggestion: String,
    /// The relays that it is for: those that were seen when it was opened.
    pub relays: Vec<usize>,
    /// They are all that were seen.
    pub whole: bool,
    /// Those of them that could be reached when it was last looked at.
    pub reach: Vec<usize>,
    /// By relay: versions as they were seen.
    pub expect: BTreeMap<usize, BTreeMap<String, u64>>,
    /// Ladders that may be left without a rung.
    pub accept: BTreeSet<String>,
    /// The env, typed out where a relay is protected.
    pub typed: String,
    /// By relay: what it would do.
    pub previews: BTreeMap<usize, Loaded<Preview>>,
    /// Counts the previews that were requested: a late one is not shown for another change.
    pub asked: u64,
    /// By relay: the newest request for a preview that it answered.
    pub answered: BTreeMap<usize, u64>,
    /// The newest request for previews whose answers were all drawn.
    pub drawn: u64,
    /// What changed under it and was not confirmed since.
    pub changed: Option<String>,
    /// By relay: how the sending went; empty: nothing was sent.
    pub sent: BTreeMap<usize, Sent>,
}

/// How long an override can last.
const OVERRIDE: [(&str, Option<u64>); 5] = [
    ("15 m", Some(900)),
    ("30 m", Some(1_800)),
    ("1 h", Some(3_600)),
    ("4 h", Some(14_400)),
    ("no end", None),
];
/// How long an order can last.
const ORDER: [(&str, Option<u64>); 4] =
    [("4 h", Some(14_400)), ("1 h", Some(3_600)), ("8 h", Some(28_800)), ("no end", None)];

impl Dialog {
    fn rows(&self) -> &'static [(&'static str, Option<u64>)] {
        match &self.about {
            About::Rungs { mode: OverrideMode::Auto, .. }
            | About::ConfigOrder { .. }
            | About::Other(_) => &[],
            About::Rungs { .. } => &OVERRIDE,
            About::Order { .. } => &ORDER,
        }
    }

    /// How long it can last: the words, the chosen one marked. Nothing where it takes something
    /// back, which has no end.
    pub fn lasts(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let last = self.last;
        self.rows().iter().enumerate().map(move |(place, (words, _))| (*words, place == last))
    }

    /// How long it lasts; `None` where it has no end by nature.
    #[must_use]
    pub fn ttl(&self) -> Option<Ttl> {
        let (_, seconds) = self.rows().get(self.last)?;
        Some(seconds.map_or(Ttl::Endless, |seconds| Ttl::For(Duration::from_secs(seconds))))
    }

    /// Chooses how long it lasts.
    pub fn choose_last(&mut self, place: usize) {
        if place < self.rows().len() {
            self.last = place;
        }
    }

    /// After so long without an answer it is not confirmed, in milliseconds.
    #[must_use]
    pub const fn patience(&self) -> i64 {
        match &self.about {
            // It waits for a provider.
            About::Other(OtherAction::Check { .. }) => CHECK_PATIENCE,
            _ => PATIENCE,
        }
    }

    /// The reason that is sent: what was written, or for what needs no reason its own words.
    #[must_use]
    pub fn reason_to_send(&self) -> &str {
        match (self.reason.trim(), &self.about) {
            ("", About::Other(action)) => action.default_reason(),
            (written, _) => written,
        }
    }

    /// Takes the suggestion over as the reason, unless something was written.
    pub fn accept_suggestion(&mut self) {
        if self.reason.is_empty() {
            self.reason.clone_from(&self.suggestion);
        }
    }

    /// Whether every relay has answered the newest request for a preview, or none is requested.
    #[must_use]
    pub fn is_previewed(&self) -> bool {
        self.previews.keys().all(|relay| self.answered.get(relay) == Some(&self.asked))
    }

    /// A frame was drawn: what it showed may be confirmed from now on.
    pub fn was_drawn(&mut self) {
        if self.is_previewed() {
            self.drawn = self.asked;
        }
    }

    /// Whether it was sent, wherever to.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// What the relays warn of, each thing once, the worst first.
    #[must_use]
    pub fn warnings(&self) -> Vec<&Warning> {
        let mut all: Vec<&Warning> = Vec::new();
        for warning in self.previews.values().filter_map(Loaded::come).flat_map(|p| &p.warnings) {
            let same = |known: &&Warning| {
                (known.kind, &known.ladder, &known.rung)
                    == (warning.kind, &warning.ladder, &warning.rung)
            };
            if !all.iter().any(same) {
                all.push(warning);
            }
        }
        all.sort_by_key(|warning| warning.kind as u8);
        all
    }

    /// Ladders that it would leave without a rung, and for which the engineer has not accepted that.
    #[must_use]
    pub fn unaccepted(&self) -> Vec<&str> {
        self.lost().into_iter().filter(|ladder| !self.accept.contains(*ladder)).collect()
    }

    /// Ladders that it would leave without a rung.
    #[must_use]
    pub fn lost(&self) -> Vec<&str> {
        let lost = self.warnings().into_iter().filter(|one| one.kind == WarningKind::LastRung);
        lost.filter_map(|warning| warning.ladder.as_deref()).collect()
    }
}

impl Dialog {
    /// Moves the chosen rung of an order one place up or down.
    pub fn shift(&mut self, down: bool) {
        if let About::Order { at, .. } = &self.about {
            let to = if down { at + 1 } else { at.saturating_sub(1) };
            self.place(*at, to);
        }
    }

    /// Puts the rung at `from` where the one at `to` stands.
    pub fn place(&mut self, from: usize, to: usize) {
        let About::Order { rungs, at, moves, .. } = &mut self.about else { return };
        if from >= rungs.len() || to >= rungs.len() || from == to {
            return;
        }
        let rung = rungs.remove(from);
        rungs.insert(to, rung);
        *at = to;
        moves.extend(Move::of(rungs, to));
    }

    /// Chooses the rung above or below.
    pub fn choose(&mut self, down: bool) {
        if let About::Order { rungs, at, .. } = &mut self.about {
            let to = if down { *at + 1 } else { at.saturating_sub(1) };
            *at = to.min(rungs.len().saturating_sub(1));
        }
    }
}

/// Whether the dialog is about an order, which is shown beside the Board.
#[must_use]
pub const fn is_order(dialog: &Dialog) -> bool {
    matches!(dialog.about, About::Order { .. })
}
