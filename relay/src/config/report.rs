//! Collects problems while the config is read, and knows where they stand.
//!
//! Readers report and go on with a stand-in value, so that one pass finds
//! everything. That is safe because a config with an error is never handed out.

use super::problem::{Problem, Refused, Severity};
use std::cell::RefCell;

/// A place in the config: a byte offset and the dotted key that stands there.
#[derive(Debug, Clone)]
pub(super) struct At {
    /// Byte offset into the text.
    pub(super) offset: usize,
    /// Dotted key, as shown.
    pub(super) key: String,
}

impl At {
    /// The same place, under the key of one of its children.
    pub(super) fn child(&self, name: &str) -> Self {
        Self { offset: self.offset, key: join(&self.key, name) }
    }
}

/// `table` and `name` as a dotted key, quoted where TOML would need quotes.
pub(super) fn join(table: &str, name: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = if !name.is_empty() && name.len() <= SHOWN && name.chars().all(bare) {
        name.to_owned()
    } else {
        format!("\"{}\"", shown(name))
    };
    if table.is_empty() { name } else { format!("{table}.{name}") }
}

/// How much of a value a message repeats, in characters.
const SHOWN: usize = 60;

/// A value as a message repeats it: short, on one line, without control characters.
pub(super) fn shown(value: &str) -> String {
    let mut out: String = value.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if value.chars().nth(SHOWN).is_some() {
        out.push('…');
    }
    out
}

/// The problems found so far.
///
/// Behind a `RefCell`, so that the readers of a table and of its values can
/// report at the same time without handing a `&mut` around.
#[derive(Debug)]
pub(super) struct Report<'t> {
    text: &'t str,
    /// Byte offset of the start of every line.
    lines: Vec<usize>,
    problems: RefCell<Vec<Problem>>,
}

impl<'t> Report<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let lines = std::iter::once(0).chain(starts.map(|(at, _)| at + 1)).collect();
        Self { text, lines, problems: RefCell::default() }
    }

    pub(super) fn error(&self, at: &At, text: impl Into<String>, fix: impl Into<String>) {
        self.add(Severity::Error, at, text.into(), fix.into());
    }

    pub(super) fn warn(&self, at: &At, text: impl Into<String>, fix: impl Into<String>) {
        self.add(Severity::Warning, at, text.into(), fix.into());
    }

    /// A text that is no TOML. Only the first mistake is told: what the parser
    /// makes of the rest is guesswork.
    pub(super) fn syntax(&self, error: &toml::de::Error) {
        let offset = error.span().map_or(0, |span| span.start);
        // The parser's own rendering repeats the line, which may hold a secret.
        let text = format!("this is not valid TOML: {}", shown_long(error.message()));
        let at = At { offset, key: String::new() };
        self.error(&at, text, "mend this first: nothing else could be checked");
    }

    /// Whether an error was found at `key` or below it: then what depends on
    /// it is not judged, or one mistake would be told twice.
    pub(super) fn failed(&self, key: &str) -> bool {
        self.problems.borrow().iter().any(|problem| {
            problem.severity == Severity::Error
                && problem
                    .key
                    .strip_prefix(key)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }

    /// All problems in the order of the lines: `Ok` with the warnings if there
    /// is no error among them.
    pub(super) fn finish(self) -> Result<Vec<Problem>, Refused> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(|problem| (problem.line, problem.column));
        if problems.iter().any(|problem| problem.severity == Severity::Error) {
            Err(Refused { problems })
        } else {
            Ok(problems)
        }
    }

    fn add(&self, severity: Severity, at: &At, text: String, fix: String) {
        let (line, column) = self.position(at.offset);
        let key = at.key.clone();
        self.problems.borrow_mut().push(Problem {
            severity,
            file: None,
            line,
            column,
            key,
            text,
            fix,
        });
    }

    /// Line and column, both from 1, the column in characters.
    fn position(&self, offset: usize) -> (usize, usize) {
        let line = self.lines.partition_point(|start| *start <= offset);
        let start = line.checked_sub(1).and_then(|index| self.lines.get(index)).copied();
        let before = self.text.get(start.unwrap_or(0)..offset).unwrap_or("");
        (line.max(1), before.chars().count() + 1)
    }
}

/// A parser's message on one line.
fn shown_long(message: &str) -> String {
    message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
