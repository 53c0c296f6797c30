//! Belay's benchmark: the relay against a direct connection and against nginx, in one run.
//!
//! `cargo run --release -p tests --bin bench [-- --quick] [-- --out FILE] [-- --large]`
//!
//! What counts is the ratio to nginx in the same round: absolute figures are those of the machine
//! and of what else it was doing. Provider and clients live in this process (on their own core,
//! where there are two), stamp every event with its send time and check every byte. It asserts
//! nothing about speed; it fails when a stream was not whole.

mod board;
mod chunked;
mod client;
mod clock;
mod large;
mod load;
mod mock;
mod place;
mod process;
mod random;
mod readers;
mod report;
mod targets;
mod watch;
mod wire;

use load::Plan;
use place::Place;
use report::Book;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;
use targets::{Kind, Targets};
use tokio::task::LocalSet;
use watch::Watcher;

/// Any failure, told as it is.
type Res<T> = Result<T, Box<dyn Error + Send + Sync>>;

const FULL: Plan = Plan {
    rounds: 5,
    warm: Duration::from_millis(500),
    window: Duration::from_secs(5),
    steady_streams: 2_000,
    settle: Duration::from_secs(4),
};
const QUICK: Plan = Plan {
    rounds: 1,
    warm: Duration::from_millis(200),
    window: Duration::from_millis(1_000),
    steady_streams: 1_000,
    settle: Duration::from_millis(1_200),
};

/// The command line.
struct Args {
    quick: bool,
    /// What small requests wait beside large ones, instead.
    large: bool,
    rounds: Option<u32>,
    out: PathBuf,
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            say(&format!("bench: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Res<ExitCode> {
    let Some(args) = args()? else { return Ok(ExitCode::SUCCESS) };
    let place = Place::find();
    let belay = belay()?;
    // On all cores, so before this process is kept to its own.
    if place.is_outer() && !args.large {
        let window = if args.quick { QUICK } else { FULL }.window;
        say(&board::cost(window / 2).words());
        say(&readers::cost(window / 10).words());
    }
    if let Some(code) = place.settle(&belay)? {
        return Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)));
    }
    clock::now();
    let mut plan = if args.quick { QUICK } else { FULL };
    plan.rounds = args.rounds.unwrap_or(plan.rounds).clamp(1, 20);
    // A stream has two sockets in the mock's and the client's process and two in the target's.
    let room = u32::try_from(Place::files().saturating_sub(200) / 2).unwrap_or(u32::MAX);
    if room < plan.steady_streams.max(load::QUIET_STREAMS) {
        return Err(format!(
            "only {} open files are allowed; raise the limit first: ulimit -n 16384",
            Place::files()
        )
        .into());
    }
    let targets =
        Targets { mock: mock::start()?, large: mock::start()?, belay, nginx: nginx(), place };
    preface(&targets, plan);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    if args.large {
        runtime.block_on(LocalSet::new().run_until(large::measure(&targets, plan)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut book = Book::default();
    runtime.block_on(LocalSet::new().run_until(measure(&targets, plan, &mut book)))?;
    say("");
    say(&book.table());
    let mut json = book.json();
    if let Some(all) = json.as_object_mut() {
        let machine = serde_json::json!({
            "cores": targets.place.count(), "pinned": targets.place.target.is_some(),
            "rounds": plan.rounds, "window_s": plan.window.as_secs_f64(), "quick": args.quick,
        });
        all.insert("run".into(), machine);
    }
    if let Some(folder) = args.out.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&args.out, format!("{json:#}\n"))?;
    say(&format!("written to {}", args.out.display()));
    Ok(if book.sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Every load on every target, in turn.
async fn measure(targets: &Targets, plan: Plan, book: &mut Book) -> Res<()> {
    let kinds = targets.kinds();
    // Watched or not, a relay's streams take the same room.
    let is_own = |kind: &Kind| !matches!(kind, Kind::Direct | Kind::Watched);
    for kind in kinds.iter().copied().filter(is_own) {
        say(&format!("memory: {}", kind.name()));
        // A fresh process, so that no earlier load's memory counts.
        let target = targets.start(kind)?;
        match load::quiet(&target, plan).await {
            Ok(memory) => book.quiet(kind, memory),
            Err(error) => book.trouble(kind, error.to_string()),
        }
    }
    let started = kinds.iter().map(|kind| targets.start(*kind)).collect::<Res<Vec<_>>>()?;
    let watched = started.iter().find(|target| target.kind == Kind::Watched);
    let watcher = watched.and_then(|target| target.admin).map(Watcher::start).transpose()?;
    for round in 1..=plan.rounds {
        say(&format!("round {round} of {}", plan.rounds));
        // `direct` first, the others in turn first and last: no one always gets the warm machine.
        let mut turn: Vec<_> = started.iter().collect();
        if round % 2 == 0
            && let Some(others) = turn.get_mut(1..)
        {
            others.reverse();
        }
        for target in &turn {
            let got = load::sparse(target, plan).await?;
            book.sparse(target.kind, round, got);
        }
        for target in &turn {
            let got = load::steady(target, plan).await?;
            book.steady(target.kind, round, &got);
        }
        for target in &turn {
            let got = load::short(target, plan).await?;
            book.short(target.kind, round, &got);
        }
    }
    if let Some((target, watcher)) = watched.zip(watcher) {
        say("");
        say(watch::told(target, watcher, plan.window * 2).await?.words().trim_end());
    }
    Ok(())
}

fn preface(targets: &Targets, plan: Plan) {
    let place = &targets.place;
    say(&format!(
        "{} cores; {}; {} round(s) of {:.1} s per load and target",
        place.count(),
        match place.target {
            Some(core) => format!("the target alone on core {core}, provider and clients beside"),
            None => "nothing pinned (needs two cores and taskset)".into(),
        },
        plan.rounds,
        plan.window.as_secs_f64()
    ));
    say(&format!(
        "sparse: {} new streams/s of 10 events 5 ms apart; steady: {} open at {} events/s; \
         short: {} clients, 20 events without a gap; quiet: {} open, an event per 5 s",
        load::SPARSE_RATE,
        plan.steady_streams,
        load::STEADY_RATE,
        load::SHORT_CLIENTS,
        load::QUIET_STREAMS
    ));
    say(
        "Ratios count: figures are medians, and on a shared machine they move with its other work.",
    );
    if targets.nginx.is_none() {
        say(
            "nginx is not installed: measuring without it, so there are no ratios (tests/run installs it).",
        );
    }
    if cfg!(debug_assertions) {
        say("This is a debug build of the bench: add --release for figures that mean something.");
    }
}

fn args() -> Res<Option<Args>> {
    let target = target_folder()?;
    let mut args =
        Args { quick: false, large: false, rounds: None, out: target.join("bench.json") };
    let mut rest = std::env::args_os().skip(1);
    while let Some(arg) = rest.next() {
        match arg.to_str() {
            Some("--quick") => args.quick = true,
            Some("--large") => args.large = true,
            Some("--rounds") => {
                let number = rest.next().and_then(|number| number.into_string().ok());
                args.rounds = Some(number.ok_or("--rounds needs a number")?.parse()?);
            }
            Some("--out") => args.out = rest.next().ok_or("--out needs a file")?.into(),
            Some("--help" | "-h") => {
                say("bench [--quick] [--rounds N] [--out FILE]: relay against direct and nginx\n\
                     bench --large [--quick]: what small requests wait beside large ones");
                return Ok(None);
            }
            _ => return Err(format!("what is {}? see --help", arg.display()).into()),
        }
    }
    Ok(Some(args))
}

/// Cargo's target folder, in which this program lies.
fn target_folder() -> Res<PathBuf> {
    let me = std::env::current_exe()?;
    Ok(me.ancestors().nth(2).ok_or("this program is not in a target folder")?.to_owned())
}

/// The relay as it is shipped: `BELAY_BIN`, or built now, so that it is never a stale one.
fn belay() -> Res<PathBuf> {
    if let Some(given) = std::env::var_os("BELAY_BIN") {
        return Ok(given.into());
    }
    let target = target_folder()?;
    let built = target.join("dist/belay");
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--profile", "dist", "--locked", "-q", "-p", "relay", "--bin", "belay"])
        .args(["--manifest-path", manifest])
        .arg("--target-dir")
        .arg(&target)
        .status();
    match status {
        Ok(status) if status.success() => Ok(built),
        Ok(_) => Err("the relay does not build: cargo build --profile dist -p relay".into()),
        Err(_) if built.is_file() => {
            say("no cargo here: measuring the relay as it was last built");
            Ok(built)
        }
        Err(_) => Err("no relay to measure: cargo build --profile dist -p relay".into()),
    }
}

fn nginx() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let more = [PathBuf::from("/usr/sbin"), PathBuf::from("/usr/local/sbin")];
    std::env::split_paths(&path)
        .chain(more)
        .map(|folder| folder.join("nginx"))
        .find(|file| file.is_file())
}

/// A line for the reader; one who closed the pipe has read enough.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
