//! What the console knows and what it is about to do: plain data, changed by
//! [`update`](crate::update::update) alone and drawn by the panels.
//!
//! Nothing here reads a clock or a socket. Moments are the console's own clock in
//! milliseconds; what a relay says of time is put right by its [`Offset`].

mod alerts;
mod lines;
mod loaded;
mod merged;
mod offset;
mod sends;
mod shown;
mod watched;

pub use alerts::{Alert, Alerts};
pub use lines::lines;
pub use loaded::Loaded;
pub use merged::{Merged, Spread, merge, two};
pub use offset::Offset;
pub use sends::{Copying, Last, Looking, Mine};
pub use shown::{Screen, View};
pub use watched::{Happening, Reach, WatchedRelay};

use crate::board::{Selected, Turn};
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

/// Everything.
#[derive(Debug, Default)]
pub struct Model {
    /// The relays, in the order in which they were named.
    pub relays: Vec<WatchedRelay>,
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
    /// Until then keys are taken for what was typed into a dialog that closed by itself.
    pub typing_until: Option<i64>,
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

impl Model {
    /// One that watches the relays of `settings` and knows nothing yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let relays = settings.relays.iter().map(|url| WatchedRelay::new(url)).collect();
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
    pub fn lead(&self) -> Option<&WatchedRelay> {
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
        let names =
            relays.iter().filter_map(|index| self.relays.get(*index)).map(WatchedRelay::name);
        names.collect::<Vec<_>>().join(", ")
    }

    /// Raises the alerts that are due at `now`, of every env, whatever is shown.
    pub fn alert(&mut self, now: i64) {
        let named = |env: Vec<usize>| {
            let known = |index: &usize| self.relays.get(*index)?.board.as_ref();
            let name = env.iter().find_map(|index| known(index)?.relay.env.clone());
            (name.unwrap_or_else(|| self.names(&env)), env)
        };
        let envs: Vec<_> = self.envs().into_iter().map(named).collect();
        self.alerts.raise(&self.relays, &envs, now);
    }

    /// Says something in the status line, for as long as it takes to read it.
    pub fn notify(&mut self, text: impl Into<String>, now: i64) {
        self.said = Some((text.into(), now + READ));
    }

    /// Says something that can be acted on for a while.
    pub fn offer(&mut self, text: impl Into<String>, now: i64) {
        self.said = Some((text.into(), now + OFFERED));
    }
}
