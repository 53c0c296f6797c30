//! What changes what the console knows: news from the relays, and what the engineer does.
//! Pure: a model, a message and the time in; the model changed and tasks for the link out.

mod moving;
mod news;
mod reading;
mod sending;

pub use news::{News, is_counting, news, time_passes};
pub use reading::GROUPS;

use crate::dialog::{About, Deed, Dialog};
use crate::history::{Filter, Preset, Window};
use crate::model::{Copying, Known, Model, Screen, View};
use crate::palette::Palette;
use shared::OverrideMode;
use shared::RequestId;
use shared::admin::actions::{Action, ActionKind};
use shared::admin::changes::ChangeRequest;

/// The range of the scale.
const SCALES: (f32, f32) = (0.8, 2.0);

/// What the link is to do.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Task {
    /// Ask what a change would do.
    Preview { relay: usize, asked: u64, request: ChangeRequest },
    /// Make a change, once.
    Change { relay: usize, request: ChangeRequest },
    /// A probe, a check, an undo or a note, once; `ends`: take away what is there.
    Deed { relay: usize, id: String, path: Vec<String>, ends: bool, body: serde_json::Value },
    /// Read requests, for the list.
    Requests { relay: usize, asked: u64, what: Which, query: Vec<(String, String)> },
    /// Read one request.
    Request { relay: usize, id: RequestId },
    /// Read transitions.
    Transitions { relay: usize, query: Vec<(String, String)> },
    /// Read rungs' curves.
    Series { relay: usize, of: Screen, asked: u64, query: Vec<(String, String)> },
    /// Read how many requests there were.
    Summary { relay: usize, asked: u64, query: Vec<(String, String)> },
    /// Read actions.
    Actions { relay: usize },
    /// Read what operators have in force.
    InForce { relay: usize },
    /// Whether a change that was not confirmed was done.
    LookUp { relay: usize, id: String },
    /// From now on this relay gets this token.
    Token { relay: usize, token: String },
}

/// What a list of requests is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The first page.
    First,
    /// The next one.
    Next,
    /// What came since.
    Newer,
    /// The ids in a summary.
    Worst,
}

impl Task {
    /// The relay that it is for.
    #[must_use]
    pub const fn relay(&self) -> usize {
        match self {
            Self::Preview { relay, .. }
            | Self::Change { relay, .. }
            | Self::Deed { relay, .. }
            | Self::Requests { relay, .. }
            | Self::Request { relay, .. }
            | Self::Transitions { relay, .. }
            | Self::Series { relay, .. }
            | Self::Summary { relay, .. }
            | Self::Actions { relay }
            | Self::InForce { relay }
            | Self::LookUp { relay, .. }
            | Self::Token { relay, .. } => *relay,
        }
    }
}

/// What the engineer does.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields say what they are")]
pub enum Msg {
    /// Goes to a screen.
    Go(Screen),
    /// Moves: ladders or rows down, places to the right.
    Move { down: isize, right: isize },
    /// Selects a rung, on a ladder.
    Select { ladder: Option<String>, rung: Option<String> },
    /// Marks the selected rung, or unmarks it.
    Mark,
    /// Selects these rungs together: a heading of the turned Board.
    Heading(Vec<String>),
    /// Goes to the worst trouble, or the next or previous one.
    Trouble(isize),
    /// Goes to this one, counted from the worst.
    TroubleAt(usize),
    /// Opens the dialog to make the selected rung, or the marked ones, so.
    Force(OverrideMode),
    /// The same for `auto`; on Actions: ends what is selected.
    Auto,
    /// Opens the dialog to have what is in force end at another time.
    Extend,
    /// Opens the dialog for the selected ladder's order.
    Reorder,
    /// Opens the dialog for a note on what is selected.
    Note,
    /// In the dialog: what it covers next.
    Cover,
    /// In the dialog: exactly this cover.
    CoverAt(usize),
    /// In the dialog: how long.
    Last(usize),
    /// In the dialog: the reason.
    Reason(String),
    /// In the dialog: the env, typed out.
    Typed(String),
    /// In the dialog: demote instead.
    Demote,
    /// In the dialog: streams are cut, or run to their end.
    Cut,
    /// In the dialog: lets the next ladder go without a rung.
    AcceptNext,
    /// In the dialog: lets a ladder go without a rung, or not.
    Accept(String),
    /// In the dialog of an order: moves the chosen rung.
    Shift { down: bool },
    /// In the dialog of an order: puts a rung where another one stands.
    Place { from: usize, to: usize },
    /// In the dialog of an order: chooses the rung above or below.
    Choose { down: bool },
    /// In the dialog: do it.
    Send,
    /// Back: closes what is open.
    Back,
    /// Into what is selected.
    Enter,
    /// Opens the dialog to end the selected rung's cool-down, hold or hard-down.
    Probe,
    /// Opens the dialog for one small call to the selected rung.
    Check,
    /// Opens the dialog to take the last change of this console, or the selected action, back.
    Undo,
    /// Turns the Board.
    Turn,
    /// The worst ladders first, or the config's order.
    WorstFirst,
    /// Other relays are shown.
    Relay,
    /// Exactly these.
    Watch(View),
    /// History: this preset.
    Preset(Preset),
    /// History: types a filter.
    Filter,
    /// History: the filter so far.
    FilterText(String),
    /// History: the next order, or this one.
    Sort,
    /// History: follows what comes, or reads it anew where it cannot.
    Follow,
    /// History: the next group. Breakers: the next span.
    Next,
    /// History: narrows the list to this group.
    Group(usize),
    /// Breakers: this span.
    Span(usize),
    /// The list of commands.
    Palette,
    /// What was typed there.
    PaletteText(String),
    /// Does the command at this place of it.
    Run(usize),
    /// The list of keys.
    Help,
    /// All troubles, or three.
    AllTroubles,
    /// Silences the alert of the title.
    Mute,
    /// An alert to see whether one is seen.
    TryAlert,
    /// Alerts by the desktop, or not.
    Desktop,
    /// A sound with them, or not.
    Sound,
    /// UTC or local.
    Utc,
    /// The other theme.
    Theme,
    /// Larger, smaller, or as usual.
    Scale(i32),
    /// A summary goes to the clipboard.
    Copy,
    /// The id of what is selected goes there.
    CopyId,
    /// Asks for the token of a relay that wants one.
    Token,
    /// A token for the relay that wants one, as far as it is typed.
    TokenText(String),
    /// Selects an action.
    Action(String),
    /// Selects a request of a relay.
    Request(usize, RequestId),
}

/// What the engineer does at `now`. `fresh` makes an id for a change.
pub fn update(model: &mut Model, msg: Msg, now: i64, fresh: &dyn Fn() -> String) -> Vec<Task> {
    match msg {
        Msg::Go(screen) => {
            model.screen = screen;
            return reading::refresh(model, now);
        }
        Msg::Move { down, right } => return moving::step(model, (down, right), now),
        Msg::Select { ladder, rung } => model.selected = crate::model::Selected { ladder, rung },
        Msg::Mark => mark(model, now),
        Msg::Heading(rungs) => {
            model.selected = crate::model::Selected { ladder: None, rung: rungs.first().cloned() };
            model.marked = rungs.into_iter().collect();
        }
        Msg::Trouble(step) => {
            let here = model.trouble.filter(|_| step != 0);
            moving::trouble(model, here.map_or(0, |place| place.saturating_add_signed(step)));
        }
        Msg::TroubleAt(place) => moving::trouble(model, place),
        Msg::Force(mode) => return sending::force(model, mode, now, fresh()),
        Msg::Auto => return sending::auto(model, now, fresh()),
        Msg::Extend => return sending::extend(model, now, fresh()),
        Msg::Reorder => return sending::reorder(model, now, fresh()),
        Msg::Note | Msg::Probe | Msg::Check => {
            return sending::deed(model, &msg, now, fresh());
        }
        Msg::Undo => return sending::undo(model, now, fresh()),
        Msg::Send => return send(model, now),
        Msg::Back => back(model),
        Msg::Enter => return enter(model, now, fresh),
        Msg::Run(place) => {
            let chosen = model.palette.take().and_then(|it| it.found().into_iter().nth(place));
            return chosen.map_or_else(Vec::new, |chosen| update(model, chosen.msg, now, fresh));
        }
        Msg::Turn => model.turn = model.turn.next(),
        Msg::WorstFirst => worst_first(model),
        Msg::Relay => {
            let views = model.views();
            let here = views.iter().position(|view| *view == model.view).unwrap_or(0);
            let next = views.get(here + 1).or_else(|| views.first()).copied();
            return watch(model, next.unwrap_or_default(), now);
        }
        Msg::Watch(view) => return watch(model, view, now),
        Msg::Action(id) => model.action = Some(id),
        Msg::Request(relay, id) => {
            model.history.selected = Some((relay, id));
            model.history.follow = false;
            return reading::detail(model);
        }
        Msg::Copy => return copy(model, now),
        other => return on_screen(model, other, now),
    }
    Vec::new()
}

/// What is only looks, and what belongs to one screen.
fn on_screen(model: &mut Model, msg: Msg, now: i64) -> Vec<Task> {
    match msg {
        Msg::Preset(preset) => {
            model.history.preset = preset;
            model.screen = Screen::History;
            return reading::anew(model, now);
        }
        Msg::Sort => {
            model.history.sort = Some(model.history.order().next());
            return reading::anew(model, now);
        }
        Msg::Filter => {
            model.screen = Screen::History;
            model.history.typing = Some(model.history.filter.to_string());
            model.history.wrong = None;
        }
        Msg::FilterText(text) => {
            model.history.wrong = Filter::parse(&text).err();
            model.history.typing = Some(text);
        }
        Msg::Follow => return reading::follow(model, now),
        Msg::Next => return reading::next(model, now),
        Msg::Group(place) => {
            model.history.group = Some(place);
            return reading::into_group(model, now);
        }
        Msg::Span(span) => {
            model.breakers.span = span;
            return reading::refresh(model, now);
        }
        Msg::Palette => model.palette = Some(Palette::default()),
        Msg::PaletteText(text) => model.palette = Some(Palette { text, at: 0 }),
        Msg::Help => model.help = !model.help,
        Msg::AllTroubles => model.all_troubles = !model.all_troubles,
        Msg::Mute => {
            let said = model.alerts.mute(now).map(|text| format!("silent for 30 min: {text}"));
            model.say(said.unwrap_or_else(|| "no alert stands".to_owned()), now);
        }
        Msg::TryAlert => model.alerts.fresh.push(crate::model::Alert {
            key: "try".to_owned(),
            text: "this is how an alert looks".to_owned(),
        }),
        Msg::Desktop => model.settings.desktop = !model.settings.desktop,
        Msg::Sound => model.settings.sound = !model.settings.sound,
        Msg::Utc => model.settings.utc = !model.settings.utc,
        Msg::Theme => model.settings.light = !model.settings.light,
        Msg::Scale(by) => scale(model, by, now),
        Msg::CopyId => copy_id(model, now),
        Msg::Token => {
            let wants = |known: &Known| known.wants_token;
            model.declined.clear();
            match model.relays.iter().position(wants) {
                Some(relay) => model.token = Some((relay, String::new())),
                None => model.say("no relay wants a token", now),
            }
        }
        Msg::TokenText(text) => {
            if let Some((_, token)) = &mut model.token {
                *token = text;
            }
        }
        other => return sending::in_dialog(model, other),
    }
    Vec::new()
}

fn scale(model: &mut Model, by: i32, now: i64) {
    let scale = match by {
        0 => 1.0,
        by => model.settings.scale + 0.1 * if by > 0 { 1.0 } else { -1.0 },
    };
    // Whole tenths, whatever was added before.
    model.settings.scale = ((scale * 10.0).round() / 10.0).clamp(SCALES.0, SCALES.1);
    model.say(format!("scale {:.0} %", model.settings.scale * 100.0), now);
}

fn watch(model: &mut Model, view: View, now: i64) -> Vec<Task> {
    if model.dialog.is_some() {
        // A change is of what was seen when it was begun.
        model.say("send the dialog or leave it first (Esc)", now);
        return Vec::new();
    }
    model.view = view;
    model.merge(now);
    model.marked.clear();
    let gone = |name: &String| model.rung(name).is_none();
    if model.selected.rung.as_ref().is_some_and(gone) {
        model.selected = crate::model::Selected::default();
    }
    reading::refresh(model, now)
}

fn mark(model: &mut Model, now: i64) {
    let Some(rung) = model.selected.rung.clone() else {
        model.say("select a rung first", now);
        return;
    };
    if !model.marked.remove(&rung) {
        model.marked.insert(rung);
    }
}

fn worst_first(model: &mut Model) {
    if model.worst_first.take().is_some() {
        return;
    }
    let Some(board) = model.board() else { return };
    // As it is now: rows that moved by themselves would move under a hand.
    let hurt = |ladder: &shared::admin::LadderState| {
        let users = &ladder.users;
        let out = ladder.order.iter().filter_map(|name| model.rung(name));
        let out = out.filter(|rung| shared::diagnose::is_out(rung, board.at)).count();
        (users.failed + users.broken, users.gone + users.late, out)
    };
    let mut ladders: Vec<_> = board.ladders.iter().collect();
    ladders.sort_by_key(|ladder| std::cmp::Reverse(hurt(ladder)));
    model.worst_first = Some(ladders.into_iter().map(|ladder| ladder.name.clone()).collect());
}

/// What is open goes, the topmost first.
fn back(model: &mut Model) {
    if model.palette.take().is_some() {
        return;
    }
    if let Some((relay, _)) = model.token.take() {
        // Not asked again by itself.
        model.declined.insert(relay);
        return;
    }
    if model.help {
        model.help = false;
    } else if model.dialog.is_some() {
        model.dialog = None;
    } else if model.history.typing.take().is_some() {
        model.history.wrong = None;
    } else if !model.marked.is_empty() {
        model.marked.clear();
    } else if model.screen != Screen::History || model.history.group.take().is_none() {
        model.all_troubles = false;
    }
}

fn enter(model: &mut Model, now: i64, fresh: &dyn Fn() -> String) -> Vec<Task> {
    if let Some((relay, token)) = model.token.take() {
        let token = token.trim().to_owned();
        return if token.is_empty() { Vec::new() } else { vec![Task::Token { relay, token }] };
    }
    if let Some(palette) = model.palette.take() {
        let chosen = palette.found().into_iter().nth(palette.at);
        return chosen.map_or_else(Vec::new, |chosen| update(model, chosen.msg, now, fresh));
    }
    match model.screen {
        Screen::History => reading::enter_history(model, now),
        Screen::Breakers => reading::at_cursor(model, now),
        Screen::Board => {
            // Into the history of what is selected, from shortly before its trouble on.
            let rung = model.selected.rung.as_ref().and_then(|name| model.rung(name));
            let sick = rung.and_then(|rung| rung.health.sick_since_at);
            let since = sick.map_or_else(Window::default, |at| {
                Window::Between(shared::UnixMillis(at.0 - reading::AROUND), None)
            });
            let history = &mut model.history;
            history.filter = Filter {
                tried: model.selected.rung.clone(),
                ladder: model.selected.ladder.clone(),
                since,
                ..Filter::default()
            };
            history.preset = Preset::All;
            model.screen = Screen::History;
            reading::anew(model, now)
        }
        Screen::Actions | Screen::Setup => Vec::new(),
    }
}

/// Does what is open: the dialog.
fn send(model: &mut Model, now: i64) -> Vec<Task> {
    let Some(dialog) = &mut model.dialog else { return Vec::new() };
    if let Some(changed) = dialog.changed.take() {
        model.say(format!("{changed}: look, then Ctrl+Enter again"), now);
        return Vec::new();
    }
    sending::send(model, now)
}

/// Asks for the ids that a summary names; the rest is known.
fn copy(model: &mut Model, now: i64) -> Vec<Task> {
    let relays = model.reached(now);
    model.copying = Some(Copying {
        waits_for: relays.iter().copied().collect(),
        until: now + crate::dialog::PATIENCE,
        ids: Vec::new(),
    });
    let query = |limit: &str| {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        vec![pair("trouble", "true"), pair("limit", limit)]
    };
    let task = |relay| Task::Requests { relay, asked: 0, what: Which::Worst, query: query("10") };
    let tasks: Vec<Task> = relays.into_iter().map(task).collect();
    if tasks.is_empty() {
        finish_copy(model, now);
    }
    tasks
}

/// Copies the summary with what ids there are.
fn finish_copy(model: &mut Model, now: i64) {
    let ids = model.copying.take().map(|copying| copying.ids).unwrap_or_default();
    model.copy = Some(crate::summary::markdown(model, &ids, now));
    model.say("the summary is in the clipboard", now);
}

fn copy_id(model: &mut Model, now: i64) {
    let id = match model.screen {
        Screen::History => model.history.selected.map(|(_, id)| id.to_string()),
        Screen::Actions => model.action.clone(),
        _ => model.selected.rung.clone().or_else(|| model.selected.ladder.clone()),
    };
    let Some(id) = id else {
        model.say("nothing is selected", now);
        return;
    };
    model.say(format!("{id} is in the clipboard"), now);
    model.copy = Some(id);
}

/// The action that is selected on Actions.
struct Chosen {
    action: Action,
    /// The relays that have it.
    relays: Vec<usize>,
    /// Those on which something of it still holds.
    holds: Vec<usize>,
}

fn chosen_action(model: &Model) -> Option<Chosen> {
    let id = model.action.as_ref().filter(|_| model.screen == Screen::Actions)?;
    let row = crate::actions::rows(model).into_iter().find(|row| row.action.id == *id)?;
    Some(Chosen { action: row.action.clone(), relays: row.relays, holds: row.holds })
}

/// What ends an action where it still holds; `None`: nothing would.
fn ending(model: &Model, chosen: &Chosen, id: String) -> Option<Dialog> {
    use shared::admin::changes::Change;
    let Chosen { action, holds, .. } = chosen;
    if action.kind == ActionKind::Note {
        let relays = holds.clone();
        let deed = Deed::EndNote { note: action.id.clone(), text: action.reason.clone(), relays };
        return Some(Dialog::deed(model, id, deed));
    }
    let rungs = held_by(model, action, holds);
    let dialog = if rungs.is_empty() {
        action.changes.iter().find_map(|change| match change {
            Change::Order { ladder, .. } => Some(Dialog::config_order(model, id.clone(), ladder)),
            Change::Override { .. } => None,
        })
    } else {
        Dialog::rungs(model, id, &rungs, OverrideMode::Auto)
    };
    Some(dialog?.only_on(model, holds))
}

/// The rungs whose override is still this action's: a later one is somebody else's.
fn held_by(model: &Model, action: &Action, relays: &[usize]) -> Vec<String> {
    let boards = || relays.iter().filter_map(|it| model.relays.get(*it)?.board.as_ref());
    let is_its = |name: &String| {
        let rungs = boards().flat_map(|board| &board.rungs).filter(|rung| rung.name == *name);
        let hands = rungs.filter_map(|rung| rung.forced.as_ref());
        let mut hands = hands.map(|forced| forced.action.as_ref() == Some(&action.id)).peekable();
        hands.peek().is_some() && hands.all(|its| its)
    };
    let after = action.after.iter().flat_map(|after| &after.rungs);
    after.map(|now| now.rung.clone()).filter(is_its).collect()
}

/// Whether the dialog is about an order, which is shown beside the Board.
#[must_use]
pub const fn is_order(dialog: &Dialog) -> bool {
    matches!(dialog.about, About::Order { .. })
}

/// The ladders in the order in which they are shown.
#[must_use]
pub fn ladders_shown(model: &Model) -> Vec<&shared::admin::LadderState> {
    moving::ladders(model)
}
