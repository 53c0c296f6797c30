//! Everything that can be done, once: its keys, its words and what it is. The list of keys
//! and the palette are made of it.

use crate::history::Preset;
use crate::model::Screen;
use crate::update::Msg;
use shared::OverrideMode;

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Its keys.
    pub keys: &'static str,
    /// What it does.
    pub words: &'static str,
    /// The message.
    pub msg: Msg,
}

/// All of them, in the order of the list of keys.
#[must_use]
pub fn all() -> Vec<Command> {
    let c = |keys, words, msg| Command { keys, words, msg };
    vec![
        c("1", "Board", Msg::Go(Screen::Board)),
        c("2", "History", Msg::Go(Screen::History)),
        c("3", "Breakers", Msg::Go(Screen::Breakers)),
        c("4", "Actions", Msg::Go(Screen::Actions)),
        c("5", "Setup", Msg::Go(Screen::Setup)),
        c("g", "go to the worst trouble", Msg::Trouble(0)),
        c("]", "next trouble", Msg::Trouble(1)),
        c("[", "previous trouble", Msg::Trouble(-1)),
        c("Enter", "into what is selected: its history", Msg::Enter),
        c("o", "force open", Msg::Force(OverrideMode::ForcedOpen)),
        c("c", "force closed", Msg::Force(OverrideMode::ForcedClosed)),
        c("d", "demote: behind every other rung", Msg::Force(OverrideMode::Demoted)),
        c("a", "back to auto; on Actions: end the selected one", Msg::Auto),
        c("e", "extend or shorten what is in force", Msg::Extend),
        c("m", "reorder the ladder", Msg::Reorder),
        c("p", "probe now: end cool-down, hold or hard-down", Msg::Probe),
        c("t", "test call, outside all traffic", Msg::Check),
        c("u", "undo my last; on Actions: the selected one", Msg::Undo),
        c("n", "pin a note", Msg::Note),
        c("x", "mark the rung, to change several together", Msg::Mark),
        c("v", "turn the Board: ladders, providers, domains", Msg::Turn),
        c("w", "worst ladders first, and back", Msg::WorstFirst),
        c("r", "next relays: an env together, or one alone", Msg::Relay),
        c("/", "History: type a filter", Msg::Filter),
        c("f", "History: follow, or read anew", Msg::Follow),
        c("s", "History: next order", Msg::Sort),
        c("← →", "History: presets; Breakers: the cursor", Msg::Preset(Preset::Trouble)),
        c(".", "History: next group; Breakers: next span", Msg::Next),
        c("i", "ignore the alert of the title for 30 min", Msg::Mute),
        c("y", "copy a summary", Msg::Copy),
        c("Y", "copy the id of what is selected", Msg::CopyId),
        c("z", "times in UTC, or local", Msg::Utc),
        c("Ctrl+T", "light or dark", Msg::Theme),
        c("Ctrl++", "larger", Msg::Scale(1)),
        c("Ctrl+-", "smaller", Msg::Scale(-1)),
        c("Ctrl+0", "the usual size", Msg::Scale(0)),
        c("", "alerts by the desktop, on or off", Msg::Desktop),
        c("", "a sound with alerts, on or off", Msg::Sound),
        c("", "try an alert", Msg::TryAlert),
        c("", "give a relay its token", Msg::Token),
        c("", "show all troubles, or three", Msg::AllTroubles),
        c("?", "keys", Msg::Help),
    ]
}

/// Keys that are no commands of their own, for the list.
pub const OTHERS: [(&str, &str); 7] = [
    ("arrows, h j k l", "move"),
    ("Ctrl+K", "all commands, by their words"),
    ("Ctrl+Enter", "do what the dialog says"),
    ("Alt+1–5", "in a dialog: how long"),
    ("Alt+S  Alt+X", "in a dialog: what it covers; cut streams"),
    ("Alt+D  Alt+A", "in a dialog: demote instead; accept the loss"),
    ("Alt+↑ ↓", "in an order: move the rung"),
];
