//! What the console knows and what it is about to do: plain data, changed by
//! [`update`](crate::update::update) alone and drawn by the panels.
//!
//! Nothing here reads a clock or a socket. Moments are the console's own clock in
//! milliseconds; what a relay says of time is put right by its [`Offset`].

mod known;
mod offset;

pub use known::{Happening, Known, Reach};
pub use offset::Offset;

use crate::dialog::Dialog;
use crate::history::History;
use shared::UnixMillis;
use shared::admin::actions::ActionPage;
use shared::admin::{Board, LadderState, RungState, TransitionPage};

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
    /// The one whose board is shown.
    pub shown: usize,
    /// The screen.
    pub screen: Screen,
    /// How the Board is turned.
    pub turn: Turn,
    /// What is selected on it.
    pub selected: Selected,
    /// A change that is being thought of.
    pub dialog: Option<Dialog>,
    /// The list of requests.
    pub history: History,
    /// Breakers' transitions, newest first.
    pub transitions: Loaded<TransitionPage>,
    /// What operators did, newest first.
    pub actions: Loaded<ActionPage>,
    /// The action that is selected, by its id.
    pub action: Option<String>,
    /// Times are shown in UTC.
    pub utc: bool,
    /// The light theme.
    pub light: bool,
    /// The list of keys is open.
    pub help: bool,
    /// All troubles are shown, not only three.
    pub all_troubles: bool,
    /// Which trouble was gone to last.
    pub trouble: Option<usize>,
    /// What the status line says, and since when.
    pub said: Option<(String, i64)>,
    /// The last change that was made, for undo: its id and the relays that have it.
    pub last: Option<(String, Vec<usize>)>,
    /// Changes that were sent from here: each is known when its answer comes, be the dialog
    /// closed by then or not.
    pub mine: Vec<String>,
    /// Text for the clipboard.
    pub copy: Option<String>,
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

impl Model {
    /// One that watches these relays and knows nothing yet.
    #[must_use]
    pub fn new(relays: &[String]) -> Self {
        let relays = relays.iter().map(|url| Known::new(url)).collect();
        Self { relays, ..Self::default() }
    }

    /// The relay that is shown.
    #[must_use]
    pub fn relay(&self) -> Option<&Known> {
        self.relays.get(self.shown)
    }

    /// Its board.
    #[must_use]
    pub fn board(&self) -> Option<&Board> {
        self.relay()?.board.as_ref()
    }

    /// The rung of this name.
    #[must_use]
    pub fn rung(&self, name: &str) -> Option<&RungState> {
        self.board()?.rungs.iter().find(|rung| rung.name == name)
    }

    /// The ladder of this name.
    #[must_use]
    pub fn ladder(&self, name: &str) -> Option<&LadderState> {
        self.board()?.ladders.iter().find(|ladder| ladder.name == name)
    }

    /// The relay's time, as far as it is known, at `now` of ours.
    #[must_use]
    pub fn relay_now(&self, now: i64) -> UnixMillis {
        UnixMillis(now + self.relay().map_or(0, |relay| relay.offset.get()))
    }

    /// The relays that a change goes to: the shown one, and all of its env that can be
    /// reached. A relay that names no env belongs to nobody else's.
    #[must_use]
    pub fn reached(&self, now: i64) -> Vec<usize> {
        let env_of = |known: &Known| known.board.as_ref()?.relay.env.clone();
        let env = self.relay().and_then(env_of);
        let is_fellow = |known: &Known| env.is_some() && env_of(known) == env;
        let all = self.relays.iter().enumerate();
        all.filter(|(index, known)| {
            *index == self.shown || is_fellow(known) && !known.is_stale(now)
        })
        .map(|(index, _)| index)
        .collect()
    }

    /// Whether the shown relay's news is too old to act on.
    #[must_use]
    pub fn is_stale(&self, now: i64) -> bool {
        self.relay().is_none_or(|relay| relay.is_stale(now))
    }

    /// Says something in the status line.
    pub fn say(&mut self, text: impl Into<String>, now: i64) {
        self.said = Some((text.into(), now));
    }
}
