//! The command line: one file a command.

mod actions;
mod asking;
mod board;
mod change;
mod check;
mod common;
mod deliver;
mod demo;
mod export;
mod hash_key;
mod init;
mod journal;
mod mock;
mod order;
mod override_rung;
mod probe_note;
mod relays;
mod requests;
mod running;
mod serve;
#[cfg(test)]
mod tests;
mod undo;
mod watching;

use crate::stderr;
use clap::{Parser, Subcommand};
use common::{Ended, Failed, LAST_LINES, print_error};
use std::path::PathBuf;
use std::process::ExitCode;

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
    Probe(probe_note::RungArgs),
    /// At a running relay: call a rung once, outside all traffic.
    CheckRung(probe_note::RungArgs),
    /// At a running relay: what was asked, what was tried, how it ended.
    Requests(requests::RequestsArgs),
    /// At a running relay: who changed what, when and why, and what is still in force.
    Actions(actions::ActionsArgs),
    /// At a running relay: take an action back.
    Undo(undo::UndoArgs),
    /// At a running relay: leave a note for whoever comes next.
    Note(probe_note::NoteArgs),
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
                print_error(&message);
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
            Command::Probe(args) => probe_note::probe(&args),
            Command::CheckRung(args) => probe_note::check(&args),
            Command::Requests(args) => requests::run(&args),
            Command::Actions(args) => actions::run(&args),
            Command::Undo(args) => undo::run(&args),
            Command::Note(args) => probe_note::note(&args),
        }
    }
}
