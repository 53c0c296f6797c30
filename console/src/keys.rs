//! Keys: which do what. The list is the table that is shown for `?`.

use crate::model::{Model, Screen};
use crate::update::Msg;
use eframe::egui::{Event, InputState, Key, Modifiers};
use shared::admin::changes::Mode;

/// What is shown for `?`: keys, and what they do.
pub const LIST: [(&str, &str); 20] = [
    ("1–5", "screens"),
    ("arrows, h j k l", "move"),
    ("Enter, Esc", "into, back"),
    ("g [ ]", "worst, previous, next trouble"),
    ("o c d a", "force open, force closed, demote, back to auto"),
    ("m, then Alt+↑↓", "reorder the ladder"),
    ("p t", "probe now, test call"),
    ("u", "undo my last; on Actions: the selected one"),
    ("v", "turn the Board: ladders, providers, domains"),
    ("r", "next relay"),
    ("/ f", "History: next preset, read anew"),
    ("y", "copy the summary"),
    ("w", "all troubles"),
    ("z", "times in UTC"),
    ("Ctrl+T", "light or dark"),
    ("Ctrl + - 0", "scale"),
    ("Ctrl+Enter", "do what the dialog says"),
    ("Alt+1–5", "in a dialog: how long"),
    ("Alt+S Alt+X", "in a dialog: what it covers, cut streams"),
    ("Alt+D Alt+A", "in a dialog: demote instead, accept the loss"),
];

/// What the keys that were pressed say. `typing`: a text field has the focus.
#[must_use]
pub fn read(input: &InputState, model: &Model, typing: bool) -> Vec<Msg> {
    let mut all = Vec::new();
    for event in &input.events {
        if let Event::Key { key, physical_key, pressed: true, modifiers, .. } = event {
            let found = of(*key, *modifiers, model, typing);
            // A layout without Latin letters must not lock anybody out.
            let latin = physical_key.filter(|_| found.is_none());
            all.extend(found.or_else(|| of(latin?, *modifiers, model, typing)));
        }
    }
    all
}

fn of(key: Key, modifiers: Modifiers, model: &Model, typing: bool) -> Option<Msg> {
    let dialog = model.dialog.is_some();
    if key == Key::Escape {
        return Some(Msg::Back);
    }
    if modifiers.command {
        return match key {
            Key::Enter if dialog => Some(Msg::Send),
            Key::T => Some(Msg::Theme),
            _ => None,
        };
    }
    if dialog {
        return in_dialog(key, modifiers, model, typing);
    }
    if typing || modifiers.alt {
        return None;
    }
    let moved = |down, right| Some(Msg::Move { down, right });
    match key {
        Key::Num1 => Some(Msg::Go(Screen::Board)),
        Key::Num2 => Some(Msg::Go(Screen::History)),
        Key::Num3 => Some(Msg::Go(Screen::Breakers)),
        Key::Num4 => Some(Msg::Go(Screen::Actions)),
        Key::Num5 => Some(Msg::Go(Screen::Setup)),
        Key::ArrowDown | Key::J => moved(1, 0),
        Key::ArrowUp | Key::K => moved(-1, 0),
        Key::ArrowLeft | Key::H => moved(0, -1),
        Key::ArrowRight | Key::L => moved(0, 1),
        Key::Enter => Some(Msg::Enter),
        Key::G => Some(Msg::Trouble(0)),
        Key::CloseBracket => Some(Msg::Trouble(1)),
        Key::OpenBracket => Some(Msg::Trouble(-1)),
        Key::O => Some(Msg::Force(Mode::ForcedOpen)),
        Key::C => Some(Msg::Force(Mode::ForcedClosed)),
        Key::D => Some(Msg::Force(Mode::Demoted)),
        Key::A => Some(Msg::Force(Mode::Auto)),
        Key::M => Some(Msg::Reorder),
        Key::P => Some(Msg::Probe),
        Key::T => Some(Msg::Check),
        Key::U => Some(Msg::Undo),
        Key::V => Some(Msg::Turn),
        Key::R => Some(Msg::Relay),
        Key::Slash if modifiers.shift => Some(Msg::Help),
        Key::Questionmark => Some(Msg::Help),
        Key::Slash => Some(Msg::Preset(None)),
        Key::F => Some(Msg::Refresh),
        Key::Y => Some(Msg::Copy),
        Key::W => Some(Msg::AllTroubles),
        Key::Z => Some(Msg::Utc),
        _ => None,
    }
}

fn in_dialog(key: Key, modifiers: Modifiers, model: &Model, typing: bool) -> Option<Msg> {
    if modifiers.alt {
        return match key {
            Key::Num1 => Some(Msg::Last(0)),
            Key::Num2 => Some(Msg::Last(1)),
            Key::Num3 => Some(Msg::Last(2)),
            Key::Num4 => Some(Msg::Last(3)),
            Key::Num5 => Some(Msg::Last(4)),
            Key::S => Some(Msg::Cover),
            Key::D => Some(Msg::Demote),
            Key::X => Some(Msg::Cut),
            Key::A => {
                let lost = model.dialog.as_ref().map(crate::dialog::Dialog::lost)?;
                lost.first().map(|ladder| Msg::Accept((*ladder).to_owned()))
            }
            Key::ArrowUp => Some(Msg::Shift { down: false }),
            Key::ArrowDown => Some(Msg::Shift { down: true }),
            _ => None,
        };
    }
    match key {
        Key::ArrowUp if !typing => Some(Msg::Choose { down: false }),
        Key::ArrowDown if !typing => Some(Msg::Choose { down: true }),
        _ => None,
    }
}
