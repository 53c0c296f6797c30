//! What every command needs: to say something, to fail, to read the config.

use crate::config::{FilesRead, Loaded, load_with_files};
use crate::stderr;
use shared::remote::CallError;
use std::fmt::Display;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// At the exit, the longest wait for the last log lines to be written.
pub(super) const LAST_LINES: Duration = Duration::from_millis(500);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ended {
    /// Done.
    Done = 0,
    /// Refused, or failed: nothing was done, or not everywhere.
    Failed = 1,
    /// The command line makes no sense.
    Usage = 2,
    /// Sent, and nobody knows whether it was done.
    NotConfirmed = 3,
}

impl From<Ended> for ExitCode {
    fn from(ended: Ended) -> Self {
        Self::from(ended as u8)
    }
}

impl Ended {
    /// How a call that went wrong ended.
    pub(super) const fn of(error: &CallError) -> Self {
        match error {
            CallError::NotConfirmed(_) => Self::NotConfirmed,
            CallError::NotSent(_) | CallError::Refused(..) => Self::Failed,
        }
    }
}

/// A command line that makes no sense, although its parts do.
pub(super) fn usage(message: &str) -> Result<Ended, Failed> {
    print_error(format!("belay: {message}"));
    Ok(Ended::Usage)
}

/// A command that did not do what it was asked to, and why.
#[derive(Debug)]
pub(super) struct Failed(pub(super) String);

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(format!("belay: {error}"))
    }
}

/// A line for standard output; a reader that has gone away is no failure.
pub(super) fn print_line(line: impl Display) {
    let mut out = std::io::stdout().lock();
    let _reader_gone = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// A line for standard error; behind those of the log, if there is one.
pub(super) fn print_error(line: impl Display) {
    stderr::line(format!("{line}\n").as_bytes());
    stderr::flush(LAST_LINES);
}

/// Reads a config with the process's environment.
pub(super) fn config(path: &Path) -> Result<Loaded, Failed> {
    watched_config(path).map(|(loaded, _)| loaded)
}

/// As [`config`], with what has to be watched for it.
pub(super) fn watched_config(path: &Path) -> Result<(Loaded, FilesRead), Failed> {
    let (loaded, seen) = load_with_files(path, &variable);
    let refused = |refused| Failed(format!("{refused}\nbelay: this config cannot be used."));
    Ok((loaded.map_err(refused)?, seen))
}

pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Work for the async runtime.
pub(super) fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // Whatever still blocks (a query of the journal) must not hold the exit up.
    runtime.shutdown_timeout(Duration::from_millis(100));
    Ok(done)
}
