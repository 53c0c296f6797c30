//! The command line: one file a command.

mod actions;
mod asking;
mod board;
mod change;
mod check;
mod deeds;
mod deliver;
mod demo;
mod export;
mod hash_key;
mod init;
mod journal;
mod mock;
mod order;
mod override_rung;
mod relays;
mod requests;
mod running;
mod serve;
#[cfg(test)]
mod tests;
mod undo;
mod watching;

use crate::config::{Loaded, Seen, load_seen};
use crate::stderr;
use clap::{Parser, Subcommand};
use relays::Ended;
use std::fmt::Display;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// At the exit, the longest wait for the last log lines to be written.
const LAST_LINES: Duration = Duration::from_millis(500);

/// Keeps a chat answer flowing when an inference provider goes slow, junk or down.
#[derive(Debug, Parser)]
#[command(name = "belay", version, about)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Try it: the relay with three simulated providers, on loopback.
    Demo(demo::DemoArgs),
    /// Serve the ladders of a config.
    Serve(ConfigArgs),
    /// Check a config and print every problem with its line.
    Check(ConfigArgs),
    /// Write a config to start from, with the keys that the environment has.
    Init(init::InitArgs),
    /// Make the hash of a client's key, or a new key with its hash.
    HashKey(hash_key::HashKeyArgs),
    /// Read the journal: what was asked, what was tried, how it ended.
    Journal(journal::JournalArgs),
    /// Write the requests that a ladder's `capture` has kept as JSON lines.
    Export(export::ExportArgs),
    /// Run a simulated provider whose faults are switched at run time.
    Mock(::mock::MockArgs),
    /// At a running relay: how everything stands, the worst on top.
    Board(board::BoardArgs),
    /// At a running relay: force rungs open or closed, or let their breakers decide again.
    Override(override_rung::OverrideArgs),
    /// At a running relay: make rungs the last choice.
    Demote(override_rung::DemoteArgs),
    /// At a running relay: change which rung of a ladder is tried first.
    Order(order::OrderArgs),
    /// At a running relay: end a rung's cool-down, hold or hard-down; the next request probes it.
    Probe(deeds::RungArgs),
    /// At a running relay: call a rung once, outside all traffic.
    CheckRung(deeds::RungArgs),
    /// At a running relay: what was asked, what was tried, how it ended.
    Requests(requests::RequestsArgs),
    /// At a running relay: who changed what, when and why, and what is still in force.
    Actions(actions::ActionsArgs),
    /// At a running relay: take an action back.
    Undo(undo::UndoArgs),
    /// At a running relay: leave a note for whoever comes next.
    Note(deeds::NoteArgs),
}

/// Where the config is.
#[derive(Debug, clap::Args)]
struct ConfigArgs {
    /// The config file.
    #[arg(long, value_name = "FILE", default_value = "belay.toml")]
    config: PathBuf,
}

impl Cli {
    /// Runs the command. What it has to say goes to standard output, what went
    /// wrong to standard error.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let code = match self.dispatch() {
            Ok(ended) => ended.into(),
            Err(Failed(message)) => {
                complain(&message);
                ExitCode::FAILURE
            }
        };
        stderr::flush(LAST_LINES);
        code
    }

    fn dispatch(self) -> Result<Ended, Failed> {
        let done = |()| Ended::Done;
        match self.command {
            Command::Demo(args) => demo::run(&args).map(done),
            Command::Serve(args) => serve::run(&args.config).map(done),
            Command::Check(args) => check::run(&args.config).map(done),
            Command::Init(args) => init::run(&args).map(done),
            Command::HashKey(args) => hash_key::run(&args).map(done),
            Command::Journal(args) => journal::run(&args).map(done),
            Command::Export(args) => export::run(&args).map(done),
            Command::Mock(args) => mock::run(args).map(done),
            Command::Board(args) => board::run(&args),
            Command::Override(args) => override_rung::run(&args),
            Command::Demote(args) => override_rung::demote(&args),
            Command::Order(args) => order::run(&args),
            Command::Probe(args) => deeds::probe(&args),
            Command::CheckRung(args) => deeds::check(&args),
            Command::Requests(args) => requests::run(&args),
            Command::Actions(args) => actions::run(&args),
            Command::Undo(args) => undo::run(&args),
            Command::Note(args) => deeds::note(&args),
        }
    }
}

/// A command line that makes no sense, although its parts do.
fn usage(message: &str) -> Result<Ended, Failed> {
    complain(format!("belay: {message}"));
    Ok(Ended::Usage)
}

/// A command that did not do what it was asked to, and why.
#[derive(Debug)]
struct Failed(String);

impl<E: std::error::Error> From<E> for Failed {
    fn from(error: E) -> Self {
        Self(format!("belay: {error}"))
    }
}

/// A line for standard output; a reader that has gone away is no failure.
fn say(line: impl Display) {
    let mut out = std::io::stdout().lock();
    let _reader_gone = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// A line for standard error; behind those of the log, if there is one.
fn complain(line: impl Display) {
    stderr::line(format!("{line}\n").as_bytes());
    stderr::flush(LAST_LINES);
}

/// Reads a config with the process's environment.
fn config(path: &Path) -> Result<Loaded, Failed> {
    watched_config(path).map(|(loaded, _)| loaded)
}

/// As [`config`], with what has to be watched for it.
fn watched_config(path: &Path) -> Result<(Loaded, Seen), Failed> {
    let (loaded, seen) = load_seen(path, &variable);
    let refused = |refused| Failed(format!("{refused}\nbelay: this config cannot be used."));
    Ok((loaded.map_err(refused)?, seen))
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Work for the async runtime.
fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let done = runtime.block_on(work);
    // Whatever still blocks (a query of the journal) must not hold the exit up.
    runtime.shutdown_timeout(Duration::from_millis(100));
    Ok(done)
}
