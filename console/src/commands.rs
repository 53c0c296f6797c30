//! Everything that can be done, once: its key, its words and what it is. Keys, the list of keys
//! and the list of commands are made of it.

use crate::history::Preset;
use crate::model::Screen;
use crate::msg::Msg;
use crate::{board, dialog, history, setup};
use shared::OverrideMode;

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Its key as it is written, `Y` with Shift held; empty: it has none.
    pub key: &'static str,
    /// What it does.
    pub words: &'static str,
    /// The message.
    pub msg: Msg,
}

impl Command {
    /// Its words without what explains them, for a button.
    #[must_use]
    pub fn short(&self) -> &'static str {
        self.words.split([':', '(', ';', ',']).next().unwrap_or_default().trim()
    }
}

/// What can be done to a selected rung, by key.
pub const OF_RUNG: [&str; 10] = ["o", "a", "d", "c", "e", "p", "t", "n", "x", "Enter"];
/// What can be done to a selected ladder, by key.
pub const OF_LADDER: [&str; 4] = ["m", "e", "n", "Enter"];
/// What can be done to a selected action, by key.
pub const OF_ACTION: [&str; 4] = ["e", "a", "u", "Y"];

/// All of them, in the order of the list of keys.
#[must_use]
pub fn all() -> Vec<Command> {
    let c = |key, words, msg| Command { key, words, msg };
    let board = |key, words, msg| c(key, words, Msg::Board(msg));
    let history = |key, words, msg| c(key, words, Msg::History(msg));
    let open = |key, words, which| c(key, words, Msg::Open(which));
    let setup = |key, words, msg| c(key, words, Msg::Setup(msg));
    let force = |key, words, mode| open(key, words, dialog::Open::Force(mode));
    vec![
        c("1", "Board", Msg::Go(Screen::Board)),
        c("2", "History", Msg::Go(Screen::History)),
        c("3", "Breakers", Msg::Go(Screen::Breakers)),
        c("4", "Actions", Msg::Go(Screen::Actions)),
        c("5", "Setup", Msg::Go(Screen::Setup)),
        board("g", "go to the worst trouble", board::Msg::Trouble(0)),
        board("]", "next trouble", board::Msg::Trouble(1)),
        board("[", "previous trouble", board::Msg::Trouble(-1)),
        c("Enter", "history: of what is selected", Msg::Enter),
        force("o", "take out (force open): no traffic", OverrideMode::ForcedOpen),
        open("a", "put back (auto); on Actions: end the selected one", dialog::Open::Auto),
        force("d", "last choice (demote): behind every other rung", OverrideMode::Demoted),
        force("c", "keep in (force closed): whatever its breaker says", OverrideMode::ForcedClosed),
        open("e", "change the end: of what is in force", dialog::Open::Extend),
        open("m", "reorder: the ladder", dialog::Open::Reorder),
        open("p", "probe now: end cool-down, hold or hard-down", dialog::Open::Probe),
        open("t", "test call: outside all traffic", dialog::Open::Check),
        open("u", "undo: my last; on Actions: the selected one", dialog::Open::Undo),
        open("n", "note: pin one", dialog::Open::Note),
        board("x", "mark: the rung, to change several together", board::Msg::Mark),
        board("v", "turn the Board: ladders, providers, domains", board::Msg::Turn),
        board("w", "worst ladders first, and back", board::Msg::WorstFirst),
        c("r", "next relays: an env together, or one alone", Msg::NextView),
        history("/", "History: type a filter", history::Msg::Filter),
        history("f", "History: follow, or read anew", history::Msg::Follow),
        history("s", "History: next order", history::Msg::Sort),
        // The first of them: which one is a matter of moving.
        history(
            "← →",
            "History: presets; Breakers: the cursor",
            history::Msg::Preset(Preset::Trouble),
        ),
        c(".", "History: next group; Breakers: next span", Msg::Next),
        c("i", "ignore the alert of the title for 30 min", Msg::Mute),
        c("y", "copy a summary", Msg::Copy),
        c("Y", "copy id: of what is selected", Msg::CopyId),
        setup("z", "times in UTC, or local", setup::Msg::Utc),
        setup("Ctrl+T", "light or dark", setup::Msg::Theme),
        setup("Ctrl++", "larger", setup::Msg::Scale(1)),
        setup("Ctrl+-", "smaller", setup::Msg::Scale(-1)),
        setup("Ctrl+0", "the usual size", setup::Msg::Scale(0)),
        setup("", "alerts by the desktop, on or off", setup::Msg::Desktop),
        setup("", "a sound with alerts, on or off", setup::Msg::Sound),
        setup("", "try an alert", setup::Msg::TryAlert),
        c("", "give a relay its token", Msg::Token),
        board("", "show all troubles, or three", board::Msg::AllTroubles),
        c("?", "keys", Msg::Help),
    ]
}

/// Keys that are no commands of their own, for the list.
pub const OTHERS: [(&str, &str); 10] = [
    ("arrows, h j k l", "move"),
    ("Ctrl+K", "all commands, by their words"),
    ("Ctrl+Enter", "do what the dialog says"),
    ("Alt+1–5", "in a dialog: how long"),
    ("Alt+S  Alt+X", "in a dialog: what it covers; cut streams"),
    ("Alt+D  Alt+A", "in a dialog: last choice instead; accept the loss"),
    ("Tab", "in a dialog: take the suggested reason over"),
    ("right click", "all that can be done to what is under the pointer"),
    ("drag a rung", "on the Board: to another place of its ladder"),
    ("Alt+↑ ↓", "in an order: move the rung"),
];

/// The commands of these keys, in their order.
pub fn with_keys(keys: &[&str]) -> impl Iterator<Item = Command> {
    let all = all();
    keys.iter().filter_map(move |key| all.iter().find(|command| command.key == *key).cloned())
}

/// The command of this key; `None`: it is no command's.
#[must_use]
pub fn of_key(key: &str) -> Option<Msg> {
    let found = all().into_iter().find(|command| !key.is_empty() && command.key == key);
    found.map(|command| command.msg)
}

/// Commands that have every word of `text` in their own words or as their key, in order.
#[must_use]
pub fn found(text: &str) -> Vec<Command> {
    let text = text.to_lowercase();
    let fits = |command: &Command| {
        let words = command.words.to_lowercase();
        text.split_whitespace().all(|word| words.contains(word) || command.key == word)
    };
    all().into_iter().filter(fits).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&'static str> {
        found(text).into_iter().map(|command| command.words).collect()
    }

    #[test]
    fn commands_are_found_by_their_words_and_by_their_key() {
        assert_eq!(words(""), all().iter().map(|c| c.words).collect::<Vec<_>>());
        assert_eq!(words("FORCE op"), ["take out (force open): no traffic"]);
        assert!(words("m").contains(&"reorder: the ladder"));
        assert_eq!(words("no such thing"), Vec::<&str>::new());
    }

    #[test]
    fn no_two_commands_have_the_same_words_or_key() {
        let all = all();
        for (place, one) in all.iter().enumerate() {
            let twin = all.iter().skip(place + 1).find(|other| {
                other.words == one.words || !one.key.is_empty() && other.key == one.key
            });
            assert_eq!(twin.map(|twin| twin.words), None, "{}", one.words);
        }
    }

    #[test]
    fn a_buttons_words_are_short_and_each_key_of_a_menu_has_its_command() {
        for keys in [&OF_RUNG[..], &OF_LADDER, &OF_ACTION] {
            let found: Vec<_> = with_keys(keys).collect();
            assert_eq!(found.iter().map(|it| it.key).collect::<Vec<_>>(), keys);
            for command in found {
                let short = command.short();
                assert!((3..=14).contains(&short.len()), "{short}");
            }
        }
    }

    #[test]
    fn the_screens_page_lists_every_command() {
        let page = include_str!("../SCREENS.md");
        for command in all() {
            let row = match command.key {
                "" => format!("| (in `Ctrl+K` only) | {} |", command.words),
                key => format!("| `{key}` | {} |", command.words),
            };
            assert!(page.contains(&row), "SCREENS.md has no row {row}");
        }
    }
}
