//! What is known of one relay, and how its feed changes that.

use super::offset::Offset;
use serde::de::DeserializeOwned;
use shared::admin::actions::{Action, CheckAnswer};
use shared::admin::feed::Operators;
use shared::admin::{
    Board, ConfigState, Curve, FeedKind, LadderState, RungState, Tick, TransitionRow,
};
use shared::{BreakerState, UnixMillis};
use std::collections::{BTreeMap, VecDeque};

/// News older than this is not to be acted on, in milliseconds.
pub const STALE: i64 = 5_000;
/// Last events that are kept for the list.
const KEPT: usize = 200;

/// Whether the relay can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reach {
    /// It was never heard of.
    #[default]
    Never,
    /// The feed is open.
    Open,
    /// It is not, and why.
    Lost(String),
}

/// Something that happened, for the list of last events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Happening {
    /// When, by the relay's clock.
    pub at: UnixMillis,
    /// Who or what: a rung, an operator, `config`.
    pub who: String,
    /// The words.
    pub text: String,
}

/// One relay.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WatchedRelay {
    /// Its address.
    pub url: String,
    /// Its board; `None`: never seen.
    pub board: Option<Board>,
    /// Whether its feed is open.
    pub reach: Reach,
    /// When anything came from it last, by our clock.
    pub heard_at: Option<i64>,
    /// Its clock against ours.
    pub offset: Offset,
    /// What happened, the newest last.
    pub events: VecDeque<Happening>,
    /// By rung: its last test call, whoever made it.
    pub checks: BTreeMap<String, CheckAnswer>,
    /// What happened before this console began is among [`WatchedRelay::events`].
    pub has_past: bool,
    /// What could not be read of the feed, if anything.
    pub unread: Option<String>,
    /// Since when its feed is closed; `None`: it is open, or was never tried.
    pub lost_at: Option<i64>,
    /// No connection to it can be made: what is known is old, however young it is.
    pub gone: bool,
    /// It refused the token, or wants one.
    pub wants_token: bool,
    /// Counts how often an override or an order has changed.
    pub hands: u64,
    /// What operators have in force here, notes included.
    pub in_force: Vec<Action>,
    /// While what was missed is being told: since when nothing was heard, and what came.
    away: Option<Away>,
}

/// A gap in what was heard, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Away {
    /// How long it was, in milliseconds.
    gap: i64,
    transitions: u32,
    /// Actions by their authors.
    actions: BTreeMap<String, u32>,
    /// The relay has started anew, or too much was missed to be told.
    anew: Option<&'static str>,
}

impl WatchedRelay {
    /// A relay of which nothing is known.
    #[must_use]
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), ..Self::default() }
    }

    /// Its name, or its address.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.board.as_ref().and_then(|board| board.relay.name.as_deref());
        let address = self.url.split("://").last().unwrap_or(&self.url);
        name.unwrap_or(address)
    }

    /// How old its last news is, in milliseconds.
    #[must_use]
    pub fn age(&self, now: i64) -> Option<i64> {
        self.heard_at.map(|at| now.saturating_sub(at).max(0))
    }

    /// Whether what is known is too old to act on.
    #[must_use]
    pub fn is_stale(&self, now: i64) -> bool {
        self.board.is_none() || self.gone || self.age(now).is_none_or(|age| age > STALE)
    }

    /// An event of its feed, which came at `now`; `None`: one of a kind that is not known here.
    pub fn apply(&mut self, kind: Option<FeedKind>, data: &str, now: i64) {
        if let Some(gap) = self.age(now).filter(|gap| *gap > STALE) {
            self.away = Some(Away { gap, ..Away::default() });
        }
        self.heard_at = Some(now);
        self.reach = Reach::Open;
        (self.lost_at, self.wants_token, self.gone) = (None, false, false);
        let Some(kind) = kind else { return };
        if let Err(error) = self.read(kind, data, now) {
            // A newer relay may say more than this program knows.
            self.unread = Some(format!("{kind}: {error}"));
        }
    }

    fn read(&mut self, kind: FeedKind, data: &str, now: i64) -> Result<(), serde_json::Error> {
        match kind {
            FeedKind::Snapshot => {
                let board: Board = json(data)?;
                let boot = |board: &Board| board.relay.boot.clone();
                if let (Some(away), Some(known)) = (&mut self.away, &self.board) {
                    let same = boot(known) == boot(&board);
                    away.anew = Some(if same { "too much to tell" } else { "it started anew" });
                }
                self.offset.note(board.at.0, now);
                self.board = Some(board);
                self.back();
            }
            FeedKind::Tick => {
                let tick: Tick = json(data)?;
                self.offset.note(tick.at.0, now);
                // Old ticks are told again, too; what was missed comes before the first new one.
                let is_new = now + self.offset.get() - tick.at.0 < STALE / 2;
                self.tick(tick);
                if is_new {
                    self.back();
                }
            }
            FeedKind::Rung => self.rung(json(data)?),
            FeedKind::Ladder => self.ladder(json(data)?),
            FeedKind::Curve => self.curve(json(data)?),
            FeedKind::Transition => {
                let row: TransitionRow = json(data)?;
                self.turn(&row);
                if let Some(away) = &mut self.away {
                    away.transitions += 1;
                    return Ok(());
                }
                self.happened(transition(&row));
            }
            FeedKind::Config => {
                let config: ConfigState = json(data)?;
                let text = match &config.error {
                    None => format!("in force, rev {}", config.rev),
                    Some(error) => format!("refused: {}", error.text),
                };
                let at = config.error.as_ref().map_or(config.loaded_at, |error| error.at);
                self.happened(Happening { at, who: "config".to_owned(), text });
                if let Some(board) = &mut self.board {
                    board.relay.config = config;
                }
            }
            FeedKind::Action | FeedKind::Note => {
                let action: Action = json(data)?;
                self.checked(&action);
                if let Some(away) = &mut self.away {
                    *away.actions.entry(action.by).or_default() += 1;
                    return Ok(());
                }
                self.happened(acted(&action));
            }
            FeedKind::Operators => {
                let Operators { operators } = json(data)?;
                if let Some(board) = &mut self.board {
                    board.relay.operators = operators;
                }
            }
            FeedKind::Requests => {}
        }
        Ok(())
    }

    /// What was missed in a gap is one line, not fifty.
    fn back(&mut self) {
        let Some(away) = self.away.take() else { return };
        let count = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let mut said = Vec::new();
        if away.transitions > 0 {
            said.push(count(away.transitions, "transition"));
        }
        let by = |(who, n): (&String, &u32)| format!("{} by {who}", count(*n, "action"));
        said.extend(away.actions.iter().map(by));
        if said.is_empty() && away.anew.is_none() {
            said.push("nothing was missed".to_owned());
        }
        said.extend(away.anew.map(str::to_owned));
        let at = self.board.as_ref().map_or(UnixMillis(0), |board| board.at);
        let text = format!("away {}: {}", shared::figures::span(away.gap), said.join(", "));
        self.happened(Happening { at, who: self.name().to_owned(), text });
    }

    fn tick(&mut self, tick: Tick) {
        let Some(board) = &mut self.board else { return };
        board.at = tick.at;
        let relay = &mut board.relay;
        relay.streams = tick.streams;
        relay.waiting = tick.waiting;
        relay.journal = tick.journal;
        relay.drain = tick.drain;
        relay.rss_bytes = tick.rss_bytes;
    }

    /// What a transition says of its rung at once; the rest of it follows within a moment.
    fn turn(&mut self, row: &TransitionRow) {
        let rungs = self.board.as_mut().map(|board| &mut board.rungs);
        let rung = rungs.into_iter().flatten().find(|rung| rung.name == row.rung);
        let Some(health) = rung.map(|rung| &mut rung.health) else { return };
        if health.state == row.after {
            return;
        }
        health.state.clone_from(&row.after);
        health.since_at = Some(row.at);
        health.probe = None;
        if row.after == BreakerState::Open {
            health.sick_since_at.get_or_insert(row.at);
        }
    }

    /// The curve and what is usual come on their own: what is known of them stays.
    fn rung(&mut self, mut rung: RungState) {
        let Some(board) = &mut self.board else { return };
        if let Some(place) = board.rungs.iter_mut().find(|known| known.name == rung.name) {
            rung.past.spark = rung.past.spark.or_else(|| place.past.spark.take());
            let action = |rung: &RungState| rung.forced.as_ref().map(|hand| hand.action.clone());
            if action(&rung) != action(place) || rung.override_version != place.override_version {
                self.hands += 1;
            }
            *place = rung;
        }
    }

    fn ladder(&mut self, mut ladder: LadderState) {
        let Some(board) = &mut self.board else { return };
        if let Some(place) = board.ladders.iter_mut().find(|known| known.name == ladder.name) {
            ladder.spark = ladder.spark.or_else(|| place.spark.take());
            ladder.usual = ladder.usual.or_else(|| place.usual.take());
            if ladder.version != place.version {
                self.hands += 1;
            }
            *place = ladder;
        }
    }

    fn curve(&mut self, curve: Curve) {
        let Some(board) = &mut self.board else { return };
        if let Some(place) =
            curve.rung.and_then(|name| board.rungs.iter_mut().find(|known| known.name == name))
        {
            place.past.spark = curve.rung_spark;
            place.past.usual = curve.rung_usual;
        }
        if let Some(place) =
            curve.ladder.and_then(|name| board.ladders.iter_mut().find(|known| known.name == name))
        {
            place.spark = curve.ladder_spark;
            place.usual = curve.ladder_usual;
        }
    }

    /// Puts what happened before this console began in front of what it has seen.
    pub fn remember(&mut self, transitions: &[TransitionRow], actions: &[Action]) {
        self.has_past = true;
        actions.iter().for_each(|action| self.checked(action));
        let first = self.events.front().map(|event| event.at);
        let all = transitions.iter().map(transition).chain(actions.iter().map(acted));
        let mut past: Vec<Happening> =
            all.filter(|event| first.is_none_or(|first| event.at < first)).collect();
        past.sort_by_key(|event| std::cmp::Reverse(event.at));
        past.truncate(KEPT.saturating_sub(self.events.len()));
        past.into_iter().for_each(|event| self.events.push_front(event));
    }

    /// Keeps the newest test call of each rung.
    fn checked(&mut self, action: &Action) {
        let Some(check) = &action.check else { return };
        let known = self.checks.get(&check.rung);
        if known.is_none_or(|known| known.at <= check.at) {
            self.checks.insert(check.rung.clone(), check.clone());
        }
    }

    fn happened(&mut self, event: Happening) {
        if self.events.len() == KEPT {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}

fn transition(row: &TransitionRow) -> Happening {
    let before = row.before.as_ref();
    let before = before.map_or_else(|| "start".to_owned(), |state| state.spaced("-"));
    let text = format!("{before} → {}  {}", row.after.spaced("-"), row.text);
    Happening { at: row.at, who: row.rung.clone(), text }
}

fn acted(action: &Action) -> Happening {
    Happening { at: action.at, who: action.by.clone(), text: crate::words::action(action) }
}

fn json<T: DeserializeOwned>(data: &str) -> Result<T, serde_json::Error> {
    serde_json::from_str(data)
}
