//! A change that is being thought of: what it would do, and how sending it went.
//!
//! It is bound to names and to the versions that were seen when it was opened: if what it
//! is about changes meanwhile, the relay refuses it and it must be confirmed anew.

use crate::model::{Loaded, Model};
use shared::admin::actions::Preview;
use shared::admin::changes::{Change, ChangeRequest, Mode, NewOrder, Target};
use shared::admin::ttl::Ttl;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// After so long without an answer a send is not confirmed, in milliseconds.
pub const PATIENCE: i64 = 5_000;

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

/// What a change is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// An override of a rung and, if it is so chosen, of all that shares something with it.
    Rung {
        /// The rung.
        rung: String,
        /// What it becomes.
        mode: Mode,
        /// Which of [`Dialog::covers`] is chosen.
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
        /// The one that is moved.
        at: usize,
    },
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
    /// Why, filled in from the cause.
    pub reason: String,
    /// Versions as they were seen.
    pub expect: BTreeMap<String, u64>,
    /// Ladders that may be left without a rung.
    pub accept: BTreeSet<String>,
    /// What it would do.
    pub preview: Loaded<Preview>,
    /// Counts what was asked for, so that a late preview is not shown for another change.
    pub asked: u64,
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
    /// To make `rung` so; `None`: it is not on the board.
    #[must_use]
    pub fn rung(model: &Model, id: String, rung: &str, mode: Mode) -> Option<Self> {
        let state = model.rung(rung)?;
        let version = state.forced.as_ref().map(|forced| forced.version);
        let expect = version.map(|version| (format!("rung/{rung}"), version));
        let about = About::Rung { rung: rung.to_owned(), mode, cover: 0, cut: false };
        Some(Self {
            id,
            about,
            last: 0,
            reason: crate::words::reason(state),
            expect: expect.into_iter().collect(),
            accept: BTreeSet::new(),
            preview: Loaded::Asked,
            asked: 0,
            sent: BTreeMap::new(),
        })
    }

    /// To change the order of `ladder`; `None`: it is not on the board.
    #[must_use]
    pub fn order(model: &Model, id: String, ladder: &str, at: usize) -> Option<Self> {
        let state = model.ladder(ladder)?;
        let rungs = state.order.clone();
        let at = at.min(rungs.len().saturating_sub(1));
        Some(Self {
            id,
            about: About::Order { ladder: ladder.to_owned(), rungs, at },
            last: 0,
            reason: String::new(),
            expect: [(format!("ladder/{ladder}"), state.version)].into(),
            accept: BTreeSet::new(),
            preview: Loaded::Asked,
            asked: 0,
            sent: BTreeMap::new(),
        })
    }

    /// What the change can cover: the rung, then its provider, then its domains; each with
    /// the words for it.
    #[must_use]
    pub fn covers(&self, model: &Model) -> Vec<(Target, String)> {
        let About::Rung { rung, .. } = &self.about else { return Vec::new() };
        let (Some(board), Some(state)) = (model.board(), model.rung(rung)) else {
            return vec![(Target::Rung(rung.clone()), "this rung".to_owned())];
        };
        let count = |is_in: &dyn Fn(&shared::admin::RungState) -> bool| {
            board.rungs.iter().filter(|rung| is_in(rung)).count()
        };
        let mut all = vec![(Target::Rung(rung.clone()), "this rung".to_owned())];
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

    /// How long it can last: the words, the chosen one marked.
    pub fn lasts(&self) -> impl Iterator<Item = (&'static str, bool)> {
        let rows: &[(&'static str, Option<u64>)] = match &self.about {
            About::Rung { .. } => &OVERRIDE,
            About::Order { .. } => &ORDER,
        };
        let last = self.last;
        rows.iter().enumerate().map(move |(place, (words, _))| (*words, place == last))
    }

    /// How long it lasts; `None` where it takes something back, which has no end.
    #[must_use]
    pub fn ttl(&self) -> Option<Ttl> {
        let rows: &[(&str, Option<u64>)] = match &self.about {
            About::Rung { mode: Mode::Auto, .. } => return None,
            About::Rung { .. } => &OVERRIDE,
            About::Order { .. } => &ORDER,
        };
        let seconds = rows.get(self.last).and_then(|(_, seconds)| *seconds);
        Some(seconds.map_or(Ttl::Endless, |seconds| Ttl::For(Duration::from_secs(seconds))))
    }

    /// Chooses how long it lasts.
    pub fn choose_last(&mut self, place: usize) {
        if place < self.lasts().count() {
            self.last = place;
        }
    }

    /// The change as the relay is asked for it.
    #[must_use]
    pub fn request(&self, model: &Model) -> ChangeRequest {
        let change = match &self.about {
            About::Rung { rung, mode, cover, cut } => {
                let target = self.covers(model).into_iter().nth(*cover).map(|(target, _)| target);
                Change::Override {
                    target: target.unwrap_or_else(|| Target::Rung(rung.clone())),
                    mode: *mode,
                    cut_streams: *cut && *mode == Mode::ForcedOpen,
                }
            }
            About::Order { ladder, rungs, .. } => {
                Change::Order { ladder: ladder.clone(), order: NewOrder::Rungs(rungs.clone()) }
            }
        };
        ChangeRequest {
            id: self.id.clone(),
            reason: self.reason.trim().to_owned(),
            ttl: self.ttl(),
            changes: vec![change],
            expect: self.expect.clone(),
            accept: self.accept.iter().cloned().collect(),
        }
    }

    /// Whether it was sent, wherever to.
    #[must_use]
    pub fn is_sent(&self) -> bool {
        !self.sent.is_empty()
    }

    /// Why it cannot be done now; `None`: it can.
    #[must_use]
    pub fn obstacle(&self, model: &Model, now: i64) -> Option<String> {
        if self.is_sent() {
            return Some("it was sent".to_owned());
        }
        if model.is_stale(now) {
            let name = model.relay().map_or("the relay", crate::model::Known::name);
            return Some(format!("no news from {name}: what you see is old"));
        }
        let is_viewer =
            model.board().is_some_and(|board| board.relay.you.role == shared::admin::Role::Viewer);
        if is_viewer {
            return Some("your token may only look".to_owned());
        }
        if self.reason.trim().is_empty() {
            return Some("say why, for whoever reads it at night".to_owned());
        }
        let lost = self.unaccepted();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            return Some(format!(
                "no rung would be left of {lost}: accept that, or demote instead"
            ));
        }
        None
    }

    /// Ladders that it would leave without a rung, and that nobody has let go.
    #[must_use]
    pub fn unaccepted(&self) -> Vec<&str> {
        self.lost().into_iter().filter(|ladder| !self.accept.contains(*ladder)).collect()
    }

    /// Ladders that it would leave without a rung.
    #[must_use]
    pub fn lost(&self) -> Vec<&str> {
        use shared::admin::actions::WarningKind;
        let Loaded::Come(preview) = &self.preview else { return Vec::new() };
        let lost = preview.warnings.iter().filter(|warning| warning.kind == WarningKind::LastRung);
        lost.filter_map(|warning| warning.ladder.as_deref()).collect()
    }

    /// Moves the chosen rung of an order one place up or down.
    pub fn shift(&mut self, down: bool) {
        if let About::Order { rungs, at, .. } = &mut self.about {
            let to = if down { *at + 1 } else { at.saturating_sub(1) };
            if to < rungs.len() && to != *at {
                rungs.swap(*at, to);
                *at = to;
            }
        }
    }
}
