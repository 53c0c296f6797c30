//! What the console knows and what it is about to do: plain data, changed by
//! [`update`](crate::update::update) alone and drawn by the panels.
//!
//! Nothing here reads a clock or a socket. Moments are the console's own clock in
//! milliseconds; what a relay says of time is put right by its [`Offset`].

mod alerts;
mod known;
mod lines;
mod merged;
mod offset;

pub use alerts::{Alert, Alerts};
pub use known::{Happening, Known, Reach};
pub use lines::lines;
pub use merged::{Merged, Spread, merge, two};
pub use offset::Offset;

use crate::breakers::Breakers;
use crate::dialog::Dialog;
use crate::history::History;
use crate::palette::Palette;
use crate::settings::Settings;
use shared::UnixMillis;
use shared::admin::actions::Action;
use shared::admin::{Board, LadderState, RungState};
use shared::diagnose::Trouble;
use std::collections::{BTreeMap, BTreeSet};

/// What is said stands for so long, in milliseconds; and an offer, such as undo, for so long.
const READ: i64 = 8_000;
const OFFERED: i64 = 30_000;

/// Which relays are shown together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// All relays of this one's env.
    Env(usize),
    /// This one alone.
    One(usize),
}

impl Default for View {
    fn default() -> Self {
        Self::Env(0)
    }
}

/// A screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Screen {
    /// How everything stands.
    #[default]
    Board,
    /// What was asked, tried and answered.
    History,
    /// When breakers turned, and why.
    Breakers,
    /// Who changed what.
    Actions,
    /// Which relays are watched.
    Setup,
}

impl Screen {
    /// All of them, in the order of their keys.
    pub const ALL: [Self; 5] =
        [Self::Board, Self::History, Self::Breakers, Self::Actions, Self::Setup];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Board => "Board",
            Self::History => "History",
            Self::Breakers => "Breakers",
            Self::Actions => "Actions",
            Self::Setup => "Setup",
        }
    }
}

/// How the Board is turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Turn {
    /// A ladder is a row.
    #[default]
    Ladders,
    /// The rungs under their providers.
    Providers,
    /// The rungs under what they share.
    Domains,
}

impl Turn {
    /// The next one.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Ladders => Self::Providers,
            Self::Providers => Self::Domains,
            Self::Domains => Self::Ladders,
        }
    }
}

/// What is selected on the Board: a name, never a position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selected {
    /// A ladder.
    pub ladder: Option<String>,
    /// A rung, on that ladder if one is named.
    pub rung: Option<String>,
}

/// Everything.
#[derive(Debug, Default)]
pub struct Model {
    /// The relays, in the order in which they were named.
    pub relays: Vec<Known>,
    /// Those that are shown.
    pub view: View,
    /// Their boards as one; `None`: none is known.
    pub merged: Option<Merged>,
    /// What is wrong with them, the worst first.
    pub lines: Vec<Trouble>,
    /// What was raised, and what is muted.
    pub alerts: Alerts,
    /// The screen.
    pub screen: Screen,
    /// How the Board is turned.
    pub turn: Turn,
    /// Whether the ladders in most trouble are on top, in the order of the moment when that
    /// was asked for; `None`: the config's order.
    pub worst_first: Option<Vec<String>>,
    /// What is selected on it.
    pub selected: Selected,
    /// Rungs that are marked, to be changed together.
    pub marked: BTreeSet<String>,
    /// A change that is being thought of.
    pub dialog: Option<Dialog>,
    /// The list of commands, while it is open.
    pub palette: Option<Palette>,
    /// A relay that wants a token, and what was typed for it so far.
    pub token: Option<(usize, String)>,
    /// The list of requests.
    pub history: History,
    /// Breakers' transitions and curves.
    pub breakers: Breakers,
    /// What operators did, newest first, by relay.
    pub actions: BTreeMap<usize, Loaded<Vec<Action>>>,
    /// The action that is selected, by its id.
    pub action: Option<String>,
    /// What is remembered.
    pub settings: Settings,
    /// The list of keys is open.
    pub help: bool,
    /// All troubles are shown, not only three.
    pub all_troubles: bool,
    /// Which trouble was gone to last.
    pub trouble: Option<usize>,
    /// What the status line says, and until when.
    pub said: Option<(String, i64)>,
    /// The last change that was made, for undo.
    pub last: Option<Last>,
    /// What was sent from here: each is known when its answer comes, be the dialog closed by
    /// then or not.
    pub mine: Vec<Mine>,
    /// What was not confirmed, by relay and id, and how far it is with being looked up.
    pub unconfirmed: BTreeMap<(usize, String), Looking>,
    /// Relays that want a token and were not given one: they are not asked for again.
    pub declined: BTreeSet<usize>,
    /// The summary is to be copied as soon as these relays have named their worst requests.
    pub copying: Option<Copying>,
    /// Text for the clipboard.
    pub copy: Option<String>,
}

/// A change that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Last {
    /// Its id.
    pub id: String,
    /// What it did, in words.
    pub what: String,
    /// The relays that have it.
    pub relays: Vec<usize>,
}

/// Something that was sent from here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mine {
    /// Its id.
    pub id: String,
    /// A change in words, which can be taken back; `None`: it was something else.
    pub change: Option<String>,
    /// The action that it takes back.
    pub undoes: Option<String>,
    /// By relay: what it said last.
    pub heard: BTreeMap<usize, String>,
}

/// How far it is with looking up whether something was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Looking {
    /// An answer is awaited.
    pub asking: bool,
    /// Answers so far; they are a second apart.
    pub looks: u32,
}

impl Looking {
    /// So many times it may be absent before it is taken for not done.
    pub const ABSENT: u32 = 5;
    /// So many times it is looked for before that is given up.
    pub const MOST: u32 = 120;
}

/// A summary that waits for request ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copying {
    /// Relays that have not answered.
    pub waits_for: BTreeSet<usize>,
    /// Until when they may, by our clock.
    pub until: i64,
    /// Ids that came.
    pub ids: Vec<String>,
}

/// Something that is read from a relay.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Loaded<T> {
    /// Nobody has asked.
    #[default]
    No,
    /// It was asked for.
    Asked,
    /// It came.
    Come(T),
    /// It did not, and why.
    Failed(String),
}

impl<T> Loaded<T> {
    /// Another answer: what is known stands when it did not come.
    pub fn renew(&mut self, found: Result<T, String>) {
        if found.is_ok() || !matches!(self, Self::Come(_)) {
            *self = found.into();
        }
    }

    /// Whether an answer is awaited.
    pub const fn is_asked(&self) -> bool {
        matches!(self, Self::Asked)
    }

    /// What came.
    pub const fn come(&self) -> Option<&T> {
        match self {
            Self::Come(value) => Some(value),
            _ => None,
        }
    }
}

impl<T> From<Result<T, String>> for Loaded<T> {
    fn from(found: Result<T, String>) -> Self {
        match found {
            Ok(value) => Self::Come(value),
            Err(why) => Self::Failed(why),
        }
    }
}

impl Model {
    /// One that watches the relays of `settings` and knows nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let relays = settings.relays.iter().map(|url| Known::new(url)).collect();
        Self { relays, settings, ..Self::default() }
    }

    /// The relays that are shown, in their order.
    #[must_use]
    pub fn viewed(&self) -> Vec<usize> {
        let is_known = |index: &usize| self.relays.get(*index).is_some_and(|it| it.board.is_some());
        match self.view {
            View::One(index) => vec![index],
            View::Env(index) if is_known(&index) => self.fellows(index),
            // Of one that was never heard of nothing can be shown: the first that was.
            View::Env(index) => {
                let first = (0..self.relays.len()).find(is_known);
                self.fellows(first.unwrap_or(index))
            }
        }
    }

    /// All views, in the order in which they are gone through: each env as one, and where it
    /// has several relays each of them alone.
    #[must_use]
    pub fn views(&self) -> Vec<View> {
        let mut all = Vec::new();
        for env in self.envs() {
            all.extend(env.first().map(|first| View::Env(*first)));
            if env.len() > 1 {
                all.extend(env.into_iter().map(View::One));
            }
        }
        all
    }

    /// The relays of each env, whatever is shown.
    #[must_use]
    pub fn envs(&self) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = Vec::new();
        for index in 0..self.relays.len() {
            if !all.iter().any(|env| env.contains(&index)) {
                all.push(self.fellows(index));
            }
        }
        all
    }

    /// The relays of the env of this one. One that names no env belongs to nobody else's.
    fn fellows(&self, index: usize) -> Vec<usize> {
        let env_of = |index: usize| self.relays.get(index)?.board.as_ref()?.relay.env.as_deref();
        let env = env_of(index);
        let is_in = |other: &usize| *other == index || env.is_some() && env_of(*other) == env;
        (0..self.relays.len()).filter(is_in).collect()
    }

    /// Puts the boards of the view together anew at `now`, and says what is wrong.
    pub fn merge(&mut self, now: i64) {
        let viewed = self.viewed();
        self.merged = merge(&self.relays, &viewed, now);
        self.lines = lines(&self.relays, &viewed, self.merged.as_ref(), now);
    }

    /// The boards of the view as one.
    #[must_use]
    pub fn board(&self) -> Option<&Board> {
        self.merged.as_ref().map(|merged| &merged.board)
    }

    /// The relay whose clock and name stand for the view: the first that can be reached, else
    /// the first.
    #[must_use]
    pub fn lead(&self) -> Option<&Known> {
        let lead = self.merged.as_ref().map(|merged| merged.lead);
        self.relays.get(lead.or_else(|| self.viewed().first().copied())?)
    }

    /// The rung of this name.
    #[must_use]
    pub fn rung(&self, name: &str) -> Option<&RungState> {
        self.board()?.rungs.iter().find(|rung| rung.name == name)
    }

    /// On how many of the view's relays the rung of this name is as it is shown.
    #[must_use]
    pub fn spread(&self, name: &str) -> Spread {
        let merged = self.merged.as_ref();
        merged.and_then(|merged| merged.spread.get(name)).copied().unwrap_or_default()
    }

    /// The ladder of this name.
    #[must_use]
    pub fn ladder(&self, name: &str) -> Option<&LadderState> {
        self.board()?.ladders.iter().find(|ladder| ladder.name == name)
    }

    /// The relays' time, as far as it is known, at `now` of ours.
    #[must_use]
    pub fn relay_now(&self, now: i64) -> UnixMillis {
        UnixMillis(now + self.lead().map_or(0, |relay| relay.offset.get()))
    }

    /// The relays that a change goes to: those of the view that can be reached.
    #[must_use]
    pub fn reached(&self, now: i64) -> Vec<usize> {
        let fresh = |index: &usize| self.relays.get(*index).is_some_and(|it| !it.is_stale(now));
        self.viewed().into_iter().filter(fresh).collect()
    }

    /// Whether this relay's news is young enough to act on.
    #[must_use]
    pub fn is_fresh(&self, relay: usize, now: i64) -> bool {
        self.relays.get(relay).is_some_and(|known| !known.is_stale(now))
    }

    /// Those of the view that a change will not reach.
    #[must_use]
    pub fn unreached(&self, now: i64) -> Vec<usize> {
        let (reached, viewed) = (self.reached(now), self.viewed());
        let is_alone = matches!(self.view, View::One(_));
        // One that was never heard of may be of this env, too.
        let stranger = |index: &usize| {
            !is_alone && self.relays.get(*index).is_some_and(|known| known.board.is_none())
        };
        let all = 0..self.relays.len();
        all.filter(|index| viewed.contains(index) || stranger(index))
            .filter(|index| !reached.contains(index))
            .collect()
    }

    /// Whether all that is known of the view is too old to act on.
    #[must_use]
    pub fn is_stale(&self, now: i64) -> bool {
        self.reached(now).is_empty()
    }

    /// The names of these relays, with commas.
    #[must_use]
    pub fn names(&self, relays: &[usize]) -> String {
        let names = relays.iter().filter_map(|index| self.relays.get(*index)).map(Known::name);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Says something in the status line, for as long as it takes to read it.
    pub fn say(&mut self, text: impl Into<String>, now: i64) {
        self.said = Some((text.into(), now + READ));
    }

    /// Says something that can be acted on for a while.
    pub fn offer(&mut self, text: impl Into<String>, now: i64) {
        self.said = Some((text.into(), now + OFFERED));
    }
}
