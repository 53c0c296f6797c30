//! Chaos: everything that may go wrong, at random and at the same time, for minutes.
//!
//! One relay under load, with rungs of all four dialects and clients of three. Its providers
//! fail in every way, clients leave, stall and send
//! nonsense, operators change things, configs are reloaded, and log, disk, resolver, clock
//! and descriptors fail or hang. Meanwhile, and at the end, it is held to what it promises:
//!
//! - every answer ends truthfully: what is told as whole is whole;
//! - every request whose end a client saw is in the journal, and ended there in the same way;
//! - memory, descriptors and running requests come back to rest;
//! - nothing panics, and it stops when it is told to.
//!
//! The longest stall of a worker is reported; how long is right depends on the machine.
//!
//!     chaos                   ten minutes
//!     chaos --for 45s         as tests/run does
//!     chaos --seed 7          the decisions of an earlier run; when each takes effect is up to
//!                             the machine

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to whoever runs it")]
#![expect(clippy::indexing_slicing, reason = "places are drawn within their lists")]

mod crowd;
mod ledger;
mod speech;
mod storm;
mod world;

use ledger::Ledger;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use storm::Storm;
use tests::clock::{now, unix};
use tests::{Faults, Relay};
use world::World;

/// Clients at the same time.
const CLIENTS: u64 = 24;

struct Options {
    span: Duration,
    seed: u64,
}

fn options() -> Option<Options> {
    let mut options =
        Options { span: Duration::from_secs(600), seed: u64::from(unix().subsec_nanos()) };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next()?;
        match argument.as_str() {
            "--for" => options.span = span(&value)?,
            "--seed" => options.seed = value.parse().ok()?,
            _ => return None,
        }
    }
    Some(options)
}

fn span(text: &str) -> Option<Duration> {
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: u64 = text.strip_suffix(unit)?.parse().ok()?;
    let seconds = match unit {
        "s" => 1,
        "m" => 60,
        "h" => 3600,
        _ => return None,
    };
    Some(Duration::from_secs(number * seconds))
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!("chaos: use --for 45s (or 10m, 1h) and --seed N.");
        return ExitCode::from(2);
    };
    println!("chaos: seed {}, for {:?}", options.seed, options.span);
    let ledger = run(&options).await;
    ledger.report();
    if ledger.is_clean() {
        return ExitCode::SUCCESS;
    }
    println!("chaos: again with --seed {}", options.seed);
    ExitCode::FAILURE
}

async fn run(options: &Options) -> Ledger {
    let world = Arc::new(World::new(options.seed).await);
    let faults = Faults::none();
    let setup = faults.over(world.setup(true));
    let mut relay = Arc::new(Relay::start(&setup).await);
    let ledger = Arc::new(Ledger::default());
    // What a relay at rest has open and holds is known once it has been at work.
    for client in 0..CLIENTS {
        crowd::one(&relay, &ledger, &mut fastrand::Rng::with_seed(client), crowd::Kind::Stream)
            .await;
    }
    let rest = (relay.memory(), relay.descriptors());
    let until = now() + options.span;
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..CLIENTS {
        let (relay, ledger) = (Arc::clone(&relay), Arc::clone(&ledger));
        let rng = fastrand::Rng::with_seed(options.seed ^ (client << 32));
        clients.spawn(crowd::client(relay, ledger, rng, until));
    }
    let mut storm = Storm::new(options.seed, Arc::clone(&relay), Arc::clone(&world), faults);
    storm.rage(until, &ledger).await;
    storm.calm(&ledger).await;
    while let Some(ended) = clients.join_next().await {
        if let Err(panic) = ended {
            ledger.wrong(format!("a client failed: {panic}"));
        }
    }
    ledger.check_after(&relay, rest).await;
    let faults = storm.into_faults();
    let relay = Arc::get_mut(&mut relay);
    let relay = relay.map(|relay| (relay, &faults, options.seed));
    match relay {
        Some(all) => storm::stop(all, &ledger).await,
        None => ledger.wrong("somebody still holds the relay".to_owned()),
    }
    Arc::into_inner(ledger).unwrap_or_default()
}
