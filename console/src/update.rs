//! What the engineer does, done: a model, a message and the time in; the model changed and
//! tasks for the link out. What belongs to one part of the window is that part's `update`.

use crate::board::Selected;
use crate::commands;
use crate::dialog::TYPING;
use crate::model::{Model, Screen, View, WatchedRelay};
use crate::msg::Msg;
use crate::palette::Palette;
use crate::task::Task;
use crate::{actions, board, breakers, copy, dialog, history, setup};

/// Does what the engineer did at `now`. `fresh` makes an id for a change.
pub fn update(model: &mut Model, msg: Msg, now: i64, fresh: &dyn Fn() -> String) -> Vec<Task> {
    match msg {
        Msg::Go(screen) => {
            model.screen = screen;
            return read(model, now);
        }
        Msg::Move { down, right } => return step(model, down, right, now),
        Msg::Enter => return enter(model, now, fresh),
        Msg::Back => back(model),
        Msg::Next => match model.screen {
            Screen::History => history::update::next_group(model),
            Screen::Breakers => return breakers::update::next_span(model, now),
            Screen::Board | Screen::Actions | Screen::Setup => {}
        },
        Msg::NextView => {
            let views = model.views();
            let here = views.iter().position(|view| *view == model.view).unwrap_or(0);
            let next = views.get(here + 1).or_else(|| views.first()).copied();
            return watch(model, next.unwrap_or_default(), now);
        }
        Msg::Watch(view) => return watch(model, view, now),
        Msg::Copy => return copy::summary(model, now),
        Msg::CopyId => copy::id(model, now),
        Msg::TypesOn => {
            model.typing_until = Some(now + TYPING);
            model.notify("the dialog has closed: pause before the next key", now);
        }
        Msg::Help => model.help = !model.help,
        Msg::Mute => {
            let said = model.alerts.mute(now).map(|text| format!("silent for 30 min: {text}"));
            model.notify(said.unwrap_or_else(|| "no alert stands".to_owned()), now);
        }
        Msg::Palette => model.palette = Some(Palette::default()),
        Msg::PaletteText(text) => model.palette = Some(Palette { text, at: 0 }),
        Msg::Run(place) => return run(model, place, now, fresh),
        Msg::Token => {
            model.declined.clear();
            match model.relays.iter().position(|known: &WatchedRelay| known.wants_token) {
                Some(relay) => model.token = Some((relay, String::new())),
                None => model.notify("no relay wants a token", now),
            }
        }
        Msg::TokenText(text) => {
            if let Some((_, token)) = &mut model.token {
                *token = text;
            }
        }
        Msg::Board(msg) => board::update::update(model, msg, now),
        Msg::History(msg) => return history::update::update(model, msg, now),
        Msg::Breakers(msg) => return breakers::update::update(model, &msg, now),
        Msg::Actions(msg) => actions::update::update(model, msg),
        Msg::Setup(msg) => setup::update::update(model, &msg, now),
        Msg::Open(which) => return dialog::update::open(model, which, now, fresh()),
        Msg::Dialog(msg) => return dialog::update::update(model, msg, now),
    }
    Vec::new()
}

/// Reads what the screen shows.
fn read(model: &mut Model, now: i64) -> Vec<Task> {
    match model.screen {
        Screen::Board | Screen::Setup => Vec::new(),
        Screen::History => history::update::anew(model, now),
        Screen::Breakers => breakers::update::read(model, now),
        Screen::Actions => actions::update::read(model),
    }
}

/// Moves on the screen that is shown, or in the list of commands over it.
fn step(model: &mut Model, down: isize, right: isize, now: i64) -> Vec<Task> {
    if let Some(palette) = &mut model.palette {
        let last = commands::found(&palette.text).len().saturating_sub(1);
        palette.at = palette.at.saturating_add_signed(down).min(last);
        return Vec::new();
    }
    match model.screen {
        Screen::Board => board::update::step(model, down, right),
        Screen::History => return history::update::step(model, down, right, now),
        Screen::Breakers => breakers::update::step(model, down, right),
        Screen::Actions => actions::update::step(model, down),
        Screen::Setup => {}
    }
    Vec::new()
}

fn watch(model: &mut Model, view: View, now: i64) -> Vec<Task> {
    if model.dialog.is_some() {
        // A change is of what was seen when it was begun.
        model.notify("send the dialog or leave it first (Esc)", now);
        return Vec::new();
    }
    model.view = view;
    model.merge(now);
    model.marked.clear();
    let gone = |name: &String| model.rung(name).is_none();
    if model.selected.rung.as_ref().is_some_and(gone) {
        model.selected = Selected::default();
    }
    read(model, now)
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
    if let Some(palette) = &model.palette {
        return run(model, palette.at, now, fresh);
    }
    match model.screen {
        Screen::History => history::update::enter(model, now),
        Screen::Breakers => breakers::update::enter(model, now),
        Screen::Board => board::update::enter(model, now),
        Screen::Actions | Screen::Setup => Vec::new(),
    }
}

/// Does the command at this place of the list, and closes the list.
fn run(model: &mut Model, place: usize, now: i64, fresh: &dyn Fn() -> String) -> Vec<Task> {
    let found = model.palette.take().map(|palette| commands::found(&palette.text));
    let chosen = found.and_then(|found| found.into_iter().nth(place));
    chosen.map_or_else(Vec::new, |chosen| update(model, chosen.msg, now, fresh))
}
