//! Keys: which say what. Letters work outside text fields only, by the logical key, else by
//! the physical one: a Cyrillic or Greek layout must not lock anybody out.

use crate::commands::of_key;
use crate::model::{Model, Screen};
use crate::msg::Msg;
use crate::{dialog, history};
use eframe::egui::{Event, InputState, Key, Modifiers};
use std::collections::VecDeque;

/// Hands keys over one at a time. What a key means depends on what the key before it did: the
/// second of two that come within one frame would be read against what was before the first,
/// and a letter that is typed while a dialog opens would not be its reason's.
#[derive(Debug, Default)]
pub struct Turns {
    waiting: VecDeque<Event>,
    /// Something was opened or closed: it is drawn before the next key.
    rests: bool,
    /// So many were handed over.
    given: usize,
    /// They were taken: a frame was drawn.
    taken: bool,
}

impl Turns {
    /// Leaves in `events` what belongs to this frame; tells whether something waits for the
    /// next one.
    pub fn take(&mut self, events: &mut Vec<Event>) -> bool {
        if !std::mem::replace(&mut self.taken, false) {
            // A hidden window draws nothing: what was handed over comes once more, in front.
            let newer = events.split_off(self.given.min(events.len()));
            for event in events.drain(..).rev() {
                self.waiting.push_front(event);
            }
            self.waiting.extend(newer);
        }
        self.waiting.extend(events.drain(..));
        self.given = 0;
        if std::mem::take(&mut self.rests) && self.waiting.iter().any(is_press) {
            return true;
        }
        let (mut alt, mut pressed) = (false, false);
        while let Some(event) = self.waiting.pop_front() {
            if is_press(&event) {
                if pressed {
                    self.waiting.push_front(event);
                    break;
                }
                pressed = true;
                alt = matches!(&event, Event::Key { modifiers, .. } if modifiers.alt);
            }
            // With Alt held a letter is a command, and no text.
            if !(alt && matches!(event, Event::Text(_))) {
                events.push(event);
            }
        }
        self.given = events.len();
        !self.waiting.is_empty()
    }

    /// A frame was drawn; `changed`: what has the keys is another thing than before.
    pub const fn drawn(&mut self, changed: bool) {
        self.taken = true;
        self.rests = changed;
    }
}

/// What has the keys: the dialog by its id, the palette, the token's field, the filter's, the
/// list of keys, a screen.
#[must_use]
pub fn holder(model: &Model) -> (Option<String>, [bool; 4], Screen) {
    let open = [
        model.palette.is_some(),
        model.token.is_some(),
        model.history.typing.is_some(),
        model.help,
    ];
    (model.dialog.as_ref().map(|dialog| dialog.id.clone()), open, model.screen)
}

const fn is_press(event: &Event) -> bool {
    matches!(event, Event::Key { pressed: true, .. })
}

/// What has the focus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Focus {
    /// Nothing: all keys are the console's.
    None,
    /// A text field: letters are its own.
    Text,
    /// Something that Tab went to: Enter is its own.
    Widget,
}

/// What the keys that were pressed say, at `now`.
#[must_use]
pub fn read(input: &InputState, model: &Model, focus: Focus, now: i64) -> Vec<Msg> {
    let mut all = Vec::new();
    // Whoever still types when a dialog closes by itself means the dialog.
    let types_on = model.typing_until.is_some_and(|until| now < until);
    for event in &input.events {
        if let Event::Key { key, physical_key, pressed: true, modifiers, repeat } = event {
            let types = is_printable(*key) && !modifiers.command && !modifiers.alt;
            if types_on && types {
                all.push(Msg::TypesOn);
                continue;
            }
            let found = of(*key, *modifiers, model, focus);
            let latin = physical_key.filter(|_| found.is_none());
            let found = found.or_else(|| of(latin?, *modifiers, model, focus));
            // A key that is held down confirms nothing twice.
            all.extend(found.filter(|msg| !(*repeat && *msg == Msg::Dialog(dialog::Msg::Send))));
        }
    }
    all
}

fn of(key: Key, modifiers: Modifiers, model: &Model, focus: Focus) -> Option<Msg> {
    if key == Key::Escape {
        return Some(Msg::Back);
    }
    if modifiers.command {
        return match key {
            Key::Enter if model.dialog.is_some() => Some(dialog::Msg::Send.into()),
            Key::K => Some(Msg::Palette),
            _ => of_key(&format!("Ctrl+{}", written(key)?)),
        };
    }
    // What lies on top has the keys.
    if model.palette.is_some() {
        return match key {
            Key::ArrowDown => Some(Msg::Move { down: 1, right: 0 }),
            Key::ArrowUp => Some(Msg::Move { down: -1, right: 0 }),
            Key::Enter => Some(Msg::Enter),
            _ => None,
        };
    }
    if model.token.is_some() {
        return (key == Key::Enter).then_some(Msg::Enter);
    }
    if model.dialog.is_some() {
        return in_dialog(key, modifiers, focus);
    }
    if key == Key::Enter {
        return (focus != Focus::Widget).then_some(Msg::Enter);
    }
    if focus == Focus::Text || modifiers.alt {
        return None;
    }
    moves(key).or_else(|| command(key, modifiers, model))
}

fn moves(key: Key) -> Option<Msg> {
    let moved = |down, right| Some(Msg::Move { down, right });
    match key {
        Key::ArrowDown | Key::J => moved(1, 0),
        Key::ArrowUp | Key::K => moved(-1, 0),
        Key::ArrowLeft | Key::H => moved(0, -1),
        Key::ArrowRight | Key::L => moved(0, 1),
        Key::PageDown => moved(20, 0),
        Key::PageUp => moved(-20, 0),
        _ => None,
    }
}

/// The command of a key outside of what is open. Shift counts where the table has it.
fn command(key: Key, modifiers: Modifiers, model: &Model) -> Option<Msg> {
    let plain = written(key)?.to_ascii_lowercase();
    let shifted = match plain.as_str() {
        "/" => "?".to_owned(),
        letter => letter.to_ascii_uppercase(),
    };
    let shifted = Some(shifted).filter(|_| modifiers.shift);
    let found = shifted.and_then(|key| of_key(&key)).or_else(|| of_key(&plain));
    // Only History shows the list that is sorted.
    let is_elsewhere = model.screen != Screen::History;
    found.filter(|msg| !(is_elsewhere && *msg == Msg::History(history::Msg::Sort)))
}

/// Whether a key types something.
fn is_printable(key: Key) -> bool {
    key == Key::Space || written(key).is_some()
}

/// A key as the table of commands writes it.
fn written(key: Key) -> Option<&'static str> {
    Some(match key {
        Key::Slash => "/",
        Key::Questionmark => "?",
        Key::Period => ".",
        Key::OpenBracket => "[",
        Key::CloseBracket => "]",
        Key::Plus | Key::Equals => "+",
        Key::Minus => "-",
        other => Some(other.name()).filter(|name| name.len() == 1)?,
    })
}

fn in_dialog(key: Key, modifiers: Modifiers, focus: Focus) -> Option<Msg> {
    use dialog::Msg as M;
    let found = if modifiers.alt {
        match key {
            Key::Num1 => Some(M::Last(0)),
            Key::Num2 => Some(M::Last(1)),
            Key::Num3 => Some(M::Last(2)),
            Key::Num4 => Some(M::Last(3)),
            Key::Num5 => Some(M::Last(4)),
            Key::S => Some(M::Cover),
            Key::D => Some(M::Demote),
            Key::X => Some(M::Cut),
            Key::A => Some(M::AcceptNext),
            Key::ArrowUp => Some(M::Shift { down: false }),
            Key::ArrowDown => Some(M::Shift { down: true }),
            _ => None,
        }
    } else {
        match key {
            // A field of one line has no use for them.
            Key::ArrowUp => Some(M::Choose { down: false }),
            Key::ArrowDown => Some(M::Choose { down: true }),
            Key::Tab if focus == Focus::Text => Some(M::AcceptSuggestion),
            _ => None,
        }
    };
    found.map(Msg::Dialog)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: Key, modifiers: Modifiers) -> Event {
        Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers }
    }

    fn text(letter: &str) -> Event {
        Event::Text(letter.to_owned())
    }

    #[test]
    fn each_key_has_a_frame_of_its_own_and_what_it_opened_is_drawn_before_the_next() {
        let mut turns = Turns::default();
        turns.drawn(false);
        let plain = Modifiers::NONE;
        let mut events =
            vec![press(Key::D, plain), text("d"), press(Key::P, plain), text("p"), text("!")];
        assert!(turns.take(&mut events));
        assert_eq!(events, [press(Key::D, plain), text("d")], "a key and its letter");
        turns.drawn(true);
        let mut events = Vec::new();
        assert!(turns.take(&mut events));
        assert!(events.is_empty(), "the dialog is drawn");
        turns.drawn(false);
        assert!(!turns.take(&mut events));
        assert_eq!(events, [press(Key::P, plain), text("p"), text("!")]);
        // One that opened nothing keeps nobody waiting: a key that is held down is not late.
        turns.drawn(false);
        let mut events = vec![press(Key::J, plain)];
        assert!(!turns.take(&mut events));
        assert_eq!(events, [press(Key::J, plain)]);
        // One that comes in the very frame after one that opened something waits.
        turns.drawn(true);
        let mut events = vec![press(Key::O, plain)];
        assert!(turns.take(&mut events));
        assert!(events.is_empty());
    }

    #[test]
    fn what_a_hidden_window_did_not_take_comes_first_when_it_is_drawn() {
        let mut turns = Turns::default();
        turns.drawn(false);
        let plain = Modifiers::NONE;
        let mut events = vec![press(Key::Num1, plain), press(Key::Num2, plain)];
        assert!(turns.take(&mut events));
        // Hidden: eframe keeps what was handed over, and comes with it again and something new.
        events.push(press(Key::Num3, plain));
        for key in [Key::Num1, Key::Num2, Key::Num3] {
            turns.take(&mut events);
            assert_eq!(events, [press(key, plain)]);
            turns.drawn(false);
            events.clear();
        }
    }

    #[test]
    fn the_pointer_does_not_wait_for_keys_and_alt_types_nothing() {
        let mut turns = Turns::default();
        turns.drawn(false);
        let mut events = vec![Event::PointerGone, press(Key::S, Modifiers::ALT), text("s")];
        assert!(!turns.take(&mut events));
        assert_eq!(events, [Event::PointerGone, press(Key::S, Modifiers::ALT)]);
        turns.drawn(true);
        let mut events = vec![Event::PointerGone];
        assert!(!turns.take(&mut events));
        assert_eq!(events, [Event::PointerGone]);
    }

    /// The key that is pressed for what the table of commands writes.
    fn pressed(written: &str) -> Option<(Key, Modifiers)> {
        let (letter, modifiers) = match written.strip_prefix("Ctrl+") {
            Some(letter) => (letter, Modifiers::COMMAND),
            None if written == "?" => ("/", Modifiers::SHIFT),
            None if written.chars().all(|c| c.is_ascii_uppercase()) => (written, Modifiers::SHIFT),
            None => (written, Modifiers::NONE),
        };
        Some((Key::from_name(&letter.to_uppercase())?, modifiers))
    }

    #[test]
    fn every_key_of_the_table_does_what_stands_beside_it() {
        let history = Model { screen: Screen::History, ..Model::default() };
        let mut seen = 0;
        for command in crate::commands::all() {
            // Moves have two keys, and are told by `moves`.
            if command.key.is_empty() || command.key == "← →" {
                continue;
            }
            let key = if command.key == "Enter" {
                (Key::Enter, Modifiers::NONE)
            } else {
                pressed(command.key).unwrap()
            };
            let found = of(key.0, key.1, &history, Focus::None);
            assert_eq!(found, Some(command.msg), "{}", command.key);
            seen += 1;
        }
        assert!(seen > 30, "{seen}");
        // Shift does not matter where the table has no key with it.
        let found = of(Key::G, Modifiers::SHIFT, &history, Focus::None);
        assert_eq!(found, of_key("g"));
        assert_eq!(of(Key::S, Modifiers::NONE, &Model::default(), Focus::None), None);
    }
}
