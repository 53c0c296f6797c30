//! Commands by their words: what was typed, and what it finds.

use crate::commands::{self, Command};

/// The palette, while it is open.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Palette {
    /// What was typed.
    pub text: String,
    /// Which of [`Self::found`] is chosen.
    pub at: usize,
}

impl Palette {
    /// Commands that have every typed word in their own words or as their key, in order.
    #[must_use]
    pub fn found(&self) -> Vec<Command> {
        let text = self.text.to_lowercase();
        let fits = |command: &Command| {
            let words = command.words.to_lowercase();
            text.split_whitespace().all(|word| words.contains(word) || command.keys == word)
        };
        commands::all().into_iter().filter(fits).collect()
    }

    /// Chooses the one so many places further.
    pub fn step(&mut self, by: isize) {
        let last = self.found().len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(by).min(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&'static str> {
        let palette = Palette { text: text.to_owned(), at: 0 };
        palette.found().into_iter().map(|command| command.words).collect()
    }

    #[test]
    fn commands_are_found_by_their_words_and_by_their_key() {
        assert_eq!(found(""), commands::all().iter().map(|c| c.words).collect::<Vec<_>>());
        assert_eq!(found("FORCE op"), ["force open"]);
        assert!(found("m").contains(&"reorder the ladder"));
        assert_eq!(found("no such thing"), Vec::<&str>::new());
    }

    #[test]
    fn no_two_commands_have_the_same_words_or_key() {
        let all = commands::all();
        for (place, one) in all.iter().enumerate() {
            let twin = all.iter().skip(place + 1).find(|other| {
                other.words == one.words || !one.keys.is_empty() && other.keys == one.keys
            });
            assert_eq!(twin.map(|twin| twin.words), None, "{}", one.words);
        }
    }

    #[test]
    fn the_screens_page_lists_every_command() {
        let page = include_str!("../SCREENS.md");
        for command in commands::all() {
            let row = match command.keys {
                "" => format!("| (in `Ctrl+K` only) | {} |", command.words),
                keys => format!("| `{keys}` | {} |", command.words),
            };
            assert!(page.contains(&row), "SCREENS.md has no row {row}");
        }
    }
}
