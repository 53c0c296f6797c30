//! `belay`: reads the arguments and runs the command.

use clap::Parser as _;
use relay::commands::Cli;
use std::process::ExitCode;

fn main() -> ExitCode {
    Cli::parse().run()
}
