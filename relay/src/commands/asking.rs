//! Whether a change is meant: the preview was read, and somebody says yes.

use super::common::Failed;
use std::io::{BufRead as _, IsTerminal as _, Write as _};

/// Who can be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asking {
    /// Nobody needs to be: `--yes`.
    Said,
    /// Somebody sits at the terminal.
    Terminal,
    /// Nobody does, and nothing was said.
    Nobody,
}

impl Asking {
    pub(super) fn here(yes: bool) -> Self {
        let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
        match (yes, terminal) {
            (true, _) => Self::Said,
            (false, true) => Self::Terminal,
            (false, false) => Self::Nobody,
        }
    }
}

/// Whether to go on. `word` must be typed where a plain `y` is too easily said.
///
/// # Errors
/// Nobody can be asked, or the answer is no.
pub(super) fn agreed(
    asking: Asking,
    question: &str,
    word: Option<&str>,
    read: impl FnOnce(&str) -> String,
) -> Result<(), Failed> {
    match asking {
        Asking::Said => return Ok(()),
        Asking::Terminal => {}
        Asking::Nobody => {
            return Err(Failed(
                "belay: nothing was changed: there is no terminal to ask on. Read the preview \
                 above, then say --yes."
                    .to_owned(),
            ));
        }
    }
    let hint = word.map_or_else(|| "[y/N]".to_owned(), |word| format!("[type {word}]"));
    let answer = read(&format!("{question} {hint} "));
    let answer = answer.trim();
    let is_yes = match word {
        Some(word) => answer == word,
        None => matches!(answer.to_ascii_lowercase().as_str(), "y" | "yes"),
    };
    is_yes.then_some(()).ok_or_else(|| Failed("belay: nothing was changed.".to_owned()))
}

/// Asks on the terminal; no answer is an empty one.
pub(super) fn on_terminal(question: &str) -> String {
    let mut answer = String::new();
    let mut err = std::io::stderr();
    let _reader_gone = err.write_all(question.as_bytes()).and_then(|()| err.flush());
    let _no_answer = std::io::stdin().lock().read_line(&mut answer);
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_a_yes() {
        let rows = [
            (None, "y\n", true),
            (None, " YES ", true),
            (None, "", false),
            (None, "n", false),
            (None, "yep", false),
            (Some("PROD"), "y", false),
            (Some("PROD"), "prod", false),
            (Some("PROD"), "PROD\n", true),
        ];
        for (word, answer, goes_on) in rows {
            let agreed = agreed(Asking::Terminal, "Do it?", word, |_| answer.to_owned());
            assert_eq!(agreed.is_ok(), goes_on, "{word:?} {answer:?}");
        }
    }

    #[test]
    fn nobody_to_ask_is_no_consent_and_yes_is_not_asked() {
        let never = |_: &str| -> String { panic!("asked") };
        assert!(agreed(Asking::Said, "Do it?", Some("PROD"), never).is_ok());
        let Failed(text) = agreed(Asking::Nobody, "Do it?", None, never).unwrap_err();
        assert!(text.contains("--yes"), "{text}");
    }
}
