//! The problems of a config, worded so that they can be fixed.
//!
//! An operator mends a config under pressure: every problem names its line,
//! its key and its cure, and all of them come at once.

use std::fmt;
use std::path::PathBuf;

/// Whether a problem stops the config from being used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The config is refused.
    Error,
    /// The config is used; this is probably not what was meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// One thing that is wrong or odd in a config file.
///
/// No field ever holds a secret: values that may be one are not repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Error or warning.
    pub severity: Severity,
    /// The config file as it was named to [`load`](super::load()); `None` from
    /// [`parse`](super::parse), which knows only the text.
    pub file: Option<PathBuf>,
    /// Line in the file, from 1; 0 where the file could not be read at all.
    pub line: usize,
    /// Column in characters, from 1; 0 where the file could not be read at all.
    pub column: usize,
    /// The dotted key, such as `rungs.sol.price`; empty for the file as a whole.
    pub key: String,
    /// What is wrong.
    pub text: String,
    /// What to do about it.
    pub fix: String,
}

/// One line: `belay.toml:12:3: error: rungs.sol.provider: …; did you mean …?`
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}:", file.display())?;
        }
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        if self.file.is_some() || self.line > 0 {
            f.write_str(" ")?;
        }
        write!(f, "{}: ", self.severity)?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.text)?;
        if self.fix.is_empty() { Ok(()) } else { write!(f, "; {}", self.fix) }
    }
}

/// Why a config was not accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// Every problem found, errors and warnings, in the order of the lines.
    pub problems: Vec<Problem>,
}

impl Refused {
    /// The problems that caused the refusal, without the warnings.
    pub fn errors(&self) -> impl Iterator<Item = &Problem> {
        self.problems.iter().filter(|problem| problem.severity == Severity::Error)
    }
}

/// One problem a line.
impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}
