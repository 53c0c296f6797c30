//! A change that is being thought of: what it would do, and how sending it went.
//!
//! It is bound to names and to the versions that were seen when it was opened. If what it is
//! about changes meanwhile it says so, keeps what was meant, and must be confirmed anew.

mod about;
mod order;

pub use about::{About, Deed};
pub use order::Move;

use crate::model::{Loaded, Model};
use shared::OverrideMode;
use shared::admin::RungState;
use shared::admin::actions::{Action, Preview, Warning, WarningKind};
use shared::admin::changes::{Change, NewOrder, Target};
use shared::admin::ttl::Ttl;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// After so long without an answer a send is not confirmed, in milliseconds.
pub const PATIENCE: i64 = 5_000;
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
    /// Why, filled in from the cause. Of a note, its text.
    pub reason: String,
    /// There was no cause to fill it in with: it is written first.
    pub asks_why: bool,
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
    /// Counts what was asked for, so that a late preview is not shown for another change.
    pub asked: u64,
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
    fn new(model: &Model, id: String, about: About, reason: String) -> Self {
        let mut dialog = Self {
            id,
            about,
            last: 0,
            asks_why: reason.is_empty(),
            reason,
            relays: model.viewed(),
            whole: true,
            reach: Vec::new(),
            expect: BTreeMap::new(),
            accept: BTreeSet::new(),
            typed: String::new(),
            previews: BTreeMap::new(),
            asked: 0,
            changed: None,
            sent: BTreeMap::new(),
        };
        dialog.expect = dialog.versions(model);
        dialog
    }

    /// The same, for these relays only.
    #[must_use]
    pub fn only_on(mut self, model: &Model, relays: &[usize]) -> Self {
        (self.relays, self.whole) = (relays.to_vec(), false);
        self.expect = self.versions(model);
        self
    }

    /// To make `rungs` so; `None`: none of them is on the board.
    #[must_use]
    pub fn rungs(model: &Model, id: String, rungs: &[String], mode: OverrideMode) -> Option<Self> {
        let known: Vec<&RungState> = rungs.iter().filter_map(|rung| model.rung(rung)).collect();
        let reason = known.iter().map(|rung| crate::words::reason(rung));
        let reason = reason.into_iter().find(|reason| !reason.is_empty()).unwrap_or_default();
        let rungs: Vec<String> = known.iter().map(|rung| rung.name.clone()).collect();
        if rungs.is_empty() {
            return None;
        }
        let about = About::Rungs { rungs, mode, cover: 0, cut: false };
        Some(Self::new(model, id, about, reason))
    }

    /// To change the order of `ladder`; `None`: it is not on the board.
    #[must_use]
    pub fn order(model: &Model, id: String, ladder: &str, at: usize) -> Option<Self> {
        let state = model.ladder(ladder)?;
        let rungs = state.order.clone();
        let at = at.min(rungs.len().saturating_sub(1));
        let seen = rungs.clone();
        let about = About::Order { ladder: ladder.to_owned(), rungs, seen, at, moves: Vec::new() };
        Some(Self::new(model, id, about, String::new()))
    }

    /// To give `ladder` the config's order again.
    #[must_use]
    pub fn config_order(model: &Model, id: String, ladder: &str) -> Self {
        let about = About::ConfigOrder { ladder: ladder.to_owned() };
        Self::new(model, id, about, String::new())
    }

    /// To do something else.
    #[must_use]
    pub fn deed(model: &Model, id: String, deed: Deed) -> Self {
        let reason = deed.reason().to_owned();
        Self::new(model, id, About::Deed(deed), reason)
    }

    /// To have what is in force end at another time, of overrides those of `rungs`; `None`:
    /// that is nothing with an end.
    #[must_use]
    pub fn extend(model: &Model, id: String, action: &Action, rungs: &[String]) -> Option<Self> {
        let mut dialog = action.changes.iter().find_map(|change| match change {
            Change::Override { mode, .. } if *mode != OverrideMode::Auto => {
                Self::rungs(model, id.clone(), rungs, *mode)
            }
            Change::Order { ladder, order: NewOrder::Rungs(_) } => {
                Self::order(model, id.clone(), ladder, 0)
            }
            _ => None,
        })?;
        dialog.reason.clone_from(&action.reason);
        Some(dialog)
    }

    /// By relay: the versions of what it is about, as the boards have them.
    fn versions(&self, model: &Model) -> BTreeMap<usize, BTreeMap<String, u64>> {
        let covered = self.covered(model);
        let of = |index: usize| {
            let board = model.relays.get(index)?.board.as_ref()?;
            let found: BTreeMap<String, u64> = match &self.about {
                About::Rungs { .. } => {
                    let is_covered = |rung: &&RungState| covered.contains(&rung.name);
                    let version = |rung: &RungState| {
                        let forced = rung.forced.as_ref().map(|forced| forced.version);
                        // An older relay does not tell it where there is no override.
                        let version = rung.override_version.or(forced)?;
                        Some((format!("rung/{}", rung.name), version))
                    };
                    board.rungs.iter().filter(is_covered).filter_map(version).collect()
                }
                About::Order { ladder, .. } | About::ConfigOrder { ladder } => {
                    let state = board.ladders.iter().find(|state| state.name == *ladder)?;
                    [(format!("ladder/{ladder}"), state.version)].into()
                }
                About::Deed(_) => BTreeMap::new(),
            };
            Some((index, found))
        };
        self.relays.iter().copied().filter_map(of).collect()
    }

    /// What it is about was chosen anew: the versions are those that are seen now.
    pub fn seen_now(&mut self, model: &Model) {
        self.expect = self.versions(model);
    }

    /// Looks whether what it is about, or whom it reaches, has changed: then it says so, keeps
    /// what was meant, and wants to be confirmed anew. Tells whether it has.
    pub fn keep_up(&mut self, model: &Model, now: i64) -> bool {
        if self.is_sent() {
            return false;
        }
        let reach = self.targets(model, now);
        let back: Vec<usize> =
            reach.iter().copied().filter(|relay| !self.reach.contains(relay)).collect();
        let was_open = !self.reach.is_empty();
        self.reach = reach;
        if was_open && !back.is_empty() {
            self.changed = Some(format!("{} can be reached now, too", model.names(&back)));
        }
        let is_wider = was_open && !back.is_empty();
        let versions = self.versions(model);
        let moved: Vec<String> = versions
            .iter()
            .flat_map(|(index, seen)| {
                let known = self.expect.get(index);
                let is_new = move |(key, version): &(&String, &u64)| {
                    known.is_some_and(|known| known.get(*key) != Some(*version))
                };
                seen.iter().filter(is_new).map(|(key, _)| key.clone())
            })
            .collect();
        // A relay that is lost has not changed its mind.
        let old = |(index, seen): (&usize, &BTreeMap<String, u64>)| {
            self.expect.get(index).is_some_and(|known| known != seen)
        };
        let changed = versions.iter().any(old);
        for (index, seen) in versions {
            self.expect.insert(index, seen);
        }
        if !changed {
            return is_wider;
        }
        let is_moved = |name: &String| moved.contains(&format!("rung/{name}"));
        let covered: Vec<String> = self.covered(model).into_iter().filter(is_moved).collect();
        self.changed = Some(self.about.rebase(model, &covered));
        true
    }

    /// What the change can cover: the rung, then its provider, then its domains; each with
    /// the words for it. Several marked rungs are what they are.
    #[must_use]
    pub fn covers(&self, model: &Model) -> Vec<(Target, String)> {
        let About::Rungs { rungs, .. } = &self.about else { return Vec::new() };
        let [rung] = rungs.as_slice() else {
            let words = |name: &String| (Target::Rung(name.clone()), name.clone());
            return rungs.iter().map(words).collect();
        };
        let mut all = vec![(Target::Rung(rung.clone()), "this rung".to_owned())];
        let (Some(board), Some(state)) = (model.board(), model.rung(rung)) else {
            return all;
        };
        let count = |is_in: &dyn Fn(&RungState) -> bool| {
            board.rungs.iter().filter(|rung| is_in(rung)).count()
        };
        // Alone in it, the rung is all that it would cover.
        let of_provider = count(&|other| other.provider == state.provider);
        if of_provider > 1 {
            let words = format!("all {of_provider} of {}", state.provider);
            all.push((Target::Provider(state.provider.clone()), words));
        }
        for domain in &state.domains {
            let of_domain = count(&|other| other.domains.contains(domain));
            if of_domain > 1 {
                all.push((Target::Domain(domain.clone()), format!("all {of_domain} in {domain}")));
            }
        }
        all
    }

    /// The rungs that it changes.
    #[must_use]
    pub fn covered(&self, model: &Model) -> Vec<String> {
        let About::Rungs { rungs, cover, .. } = &self.about else { return Vec::new() };
        let target = match rungs.as_slice() {
            [_] => self.covers(model).into_iter().nth(*cover).map(|(target, _)| target),
            _ => None,
        };
        let is_in = |rung: &&RungState| match &target {
            Some(Target::Provider(name)) => rung.provider == *name,
            Some(Target::Domain(name)) => rung.domains.contains(name),
            _ => rungs.contains(&rung.name),
        };
        let board = model.board().into_iter().flat_map(|board| &board.rungs);
        board.filter(is_in).map(|rung| rung.name.clone()).collect()
    }

    fn rows(&self) -> &'static [(&'static str, Option<u64>)] {
        match &self.about {
            About::Rungs { mode: OverrideMode::Auto, .. }
            | About::ConfigOrder { .. }
            | About::Deed(_) => &[],
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
            About::Deed(Deed::Check { .. }) => CHECK_PATIENCE,
            _ => PATIENCE,
        }
    }

    /// Whether it was sent, wherever to.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// The relays that it goes to.
    #[must_use]
    pub fn targets(&self, model: &Model, now: i64) -> Vec<usize> {
        let fresh = |relays: &[usize]| -> Vec<usize> {
            relays.iter().copied().filter(|relay| model.is_fresh(*relay, now)).collect()
        };
        let reached = fresh(&self.relays);
        match &self.about {
            // What one relay has journaled is not the others'.
            About::Deed(Deed::Undo { relays, .. } | Deed::EndNote { relays, .. }) => fresh(relays),
            // One call tells enough, and costs once.
            About::Deed(Deed::Check { .. }) => reached.into_iter().take(1).collect(),
            _ => reached,
        }
    }

    /// Those that it is meant for and does not reach; one that was never heard of may be one.
    #[must_use]
    pub fn unreached(&self, model: &Model, now: i64) -> Vec<usize> {
        let meant = match &self.about {
            About::Deed(Deed::Undo { relays, .. } | Deed::EndNote { relays, .. }) => relays.clone(),
            About::Deed(Deed::Check { .. }) => return Vec::new(),
            _ if self.whole => model.unreached(now).into_iter().chain(model.viewed()).collect(),
            _ => self.relays.clone(),
        };
        // One that was heard of since it was opened is not among its own.
        let targets = self.targets(model, now);
        let mut all: Vec<usize> = meant.into_iter().filter(|it| !targets.contains(it)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Why it cannot be done now; `None`: it can.
    #[must_use]
    pub fn obstacle(&self, model: &Model, now: i64) -> Option<String> {
        if self.is_sent() {
            return Some("it was sent".to_owned());
        }
        if self.targets(model, now).is_empty() {
            let name = model.lead().map_or("the relay", crate::model::Known::name);
            return Some(format!("no news from {name}: what you see is old"));
        }
        let may_change = |index: &usize| {
            let board = model.relays.get(*index).and_then(|known| known.board.as_ref());
            board.is_none_or(|board| board.relay.you.role != shared::admin::Role::Viewer)
        };
        if !self.targets(model, now).iter().all(may_change) {
            return Some("your token may only look".to_owned());
        }
        if self.reason.trim().is_empty() {
            let is_note = matches!(self.about, About::Deed(Deed::Note { .. }));
            let why =
                if is_note { "write the note" } else { "say why, for whoever reads it at night" };
            return Some(why.to_owned());
        }
        let lost = self.unaccepted();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            return Some(format!(
                "no rung would be left of {lost}: accept that, or demote instead"
            ));
        }
        if let About::Order { ladder, .. } | About::ConfigOrder { ladder } = &self.about
            && model.merged.as_ref().is_some_and(|merged| merged.differ.contains(ladder))
        {
            return Some(format!(
                "{ladder} differs between relays: go to one of them first (Esc, r)"
            ));
        }
        let env = self.must_type(model);
        if let Some(env) = env.filter(|env| *env != self.typed.trim()) {
            return Some(format!("type {env} to take a ladder's last rung there"));
        }
        None
    }

    /// What must be typed out: the env of a protected relay, where a ladder would lose its
    /// last rung.
    #[must_use]
    pub fn must_type(&self, model: &Model) -> Option<String> {
        let board = model.board()?;
        let boards = self.relays.iter().filter_map(|it| model.relays.get(*it)?.board.as_ref());
        let protected = boards.into_iter().any(|board| board.relay.protected);
        (protected && !self.lost().is_empty()).then(|| board.relay.env.clone()).flatten()
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

    /// Ladders that it would leave without a rung, and that nobody has let go.
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
