//! One incident on real sockets, beside its simulation: `cargo build --release -p relay && cargo
//! run --release -p tests --bin replay`, which is part of CI; it takes 2 minutes, and fails when
//! the two do not agree.
//!
//! The providers' random draws are the same in both, so that only what the simulation leaves out
//! differs: sockets, timers, the relay's own time. The relay draws the core's jitter itself, so
//! that cannot be the same. To keep this from mattering, several relays run at once, each in a
//! world of its own, and the simulation runs under many jitters.

use simulate::incident::Plan;
use simulate::policies::Policy;
use simulate::run::run;
use simulate::stats::quantile;
use simulate::world::{FIRST, World};
use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;
use tests::clock;

mod sockets;

/// Any failure, shown as it is.
type Res<T> = Result<T, Box<dyn Error>>;

/// How many relays run at once.
const RELAYS: u64 = 6;
const RATE: f64 = 5.5;
const SECONDS: f64 = 120.0;
/// Before it there are enough calls for every rung that is called to have a reference.
const HOLE_FROM: f64 = 40.0;
const HOLE_SECONDS: f64 = 40.0;
/// Under how many jitters of the core the simulation is run.
const JITTERS: u64 = 25;
/// How far the relay's p99 may be from the simulation's.
const P99: f64 = 0.10;
/// How far the relay's extra calls may be from the simulation's, as a share of the requests.
const EXTRA: f64 = 0.01;

/// The figures of all relays together.
#[derive(Debug, Clone, Copy)]
struct Sum {
    p50: f64,
    p95: f64,
    p99: f64,
    extra: f64,
}

impl Sum {
    /// `lanes`: each one's times to first token, and how many calls were made.
    fn of(lanes: Vec<(Vec<f64>, usize)>) -> Self {
        let calls: usize = lanes.iter().map(|(_, calls)| calls).sum();
        let mut times: Vec<f64> = lanes.into_iter().flat_map(|(times, _)| times).collect();
        Self {
            extra: calls as f64 / times.len() as f64 - 1.0,
            p50: quantile(&mut times, 500),
            p95: quantile(&mut times, 950),
            p99: quantile(&mut times, 990),
        }
    }

    /// The median of each figure.
    fn median(all: &[Self]) -> Self {
        let of = |figure: fn(&Self) -> f64| {
            quantile(&mut all.iter().map(figure).collect::<Vec<_>>(), 500)
        };
        Self {
            p50: of(|sum| sum.p50),
            p95: of(|sum| sum.p95),
            p99: of(|sum| sum.p99),
            extra: of(|sum| sum.extra),
        }
    }

    fn row(&self, name: &str) -> String {
        let Self { p50, p95, p99, extra } = self;
        format!("{name:<32} {p50:>6.3} s {p95:>6.3} s {p99:>6.3} s {:>10.2} %", extra * 100.0)
    }
}

fn world(seed: u64) -> World {
    let plan = Plan::BlackHole { rung: 0, from: HOLE_FROM, seconds: HOLE_SECONDS };
    World::until(seed, FIRST, plan, RATE, SECONDS)
}

/// The simulation of the same worlds, with `jitter` as the core's chance.
fn simulated(jitter: u64) -> Sum {
    let lane = |seed| {
        let world = World { core_seed: 1000 * jitter + seed, ..world(seed) };
        let record = run(&world, Policy::Ours);
        let times: Vec<f64> = record.outcomes.iter().map(|outcome| outcome.ttft).collect();
        let calls = record.outcomes.iter().map(|outcome| outcome.dials as usize).sum();
        (times, calls)
    };
    Sum::of((1..=RELAYS).map(lane).collect())
}

fn main() -> ExitCode {
    match replay() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("replay: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// If the reader of the output went away, the replay has not failed.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Plays the incident and compares. Fails when relay and simulation do not agree.
fn replay() -> Res<()> {
    say(&format!(
        "{RELAYS} relays over three scripted providers each, {RATE} requests a second each for \
         {SECONDS} s, rung A in a black hole from {HOLE_FROM} s on for {HOLE_SECONDS} s"
    ));
    let began = clock::now();
    let lanes = sockets::play((1..=RELAYS).map(world).collect())?;
    let took = began.elapsed();
    let late = lanes.iter().map(|lane| lane.latest).max().unwrap_or_default();
    let unanswered: usize = lanes.iter().map(|lane| lane.unanswered).sum();
    let real = Sum::of(lanes.into_iter().map(|lane| (lane.times, lane.calls)).collect());
    let all: Vec<Sum> = (0..JITTERS).map(simulated).collect();
    let wanted = Sum::median(&all);
    let by = |figure: fn(&Sum) -> f64| {
        let values = || all.iter().map(figure);
        (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max))
    };
    let (least, most) = by(|sum| sum.p99);
    let p99 = real.p99 / wanted.p99 - 1.0;
    let extra = real.extra - wanted.extra;
    say(&format!(
        "{:<32} {:>8} {:>8} {:>8} {:>12}\n{}\n{}",
        "",
        "p50",
        "p95",
        "p99",
        "extra calls",
        real.row("relay, on sockets"),
        wanted.row(&format!("simulation, median of {JITTERS}"))
    ));
    say(&format!(
        "p99 {:+.1} % (asked: within {:.0} %; the simulation's goes from {least:.3} to {most:.3} s), \
         extra calls {:+.2} points (asked: within {:.0})",
        p99 * 100.0,
        P99 * 100.0,
        extra * 100.0,
        EXTRA * 100.0
    ));
    say(&format!(
        "unanswered: {unanswered}; the latest request left {:.0} ms late; {:.0} s\n",
        late.as_secs_f64() * 1000.0,
        took.as_secs_f64()
    ));
    if p99.abs() > P99 || extra.abs() > EXTRA {
        return Err("the relay and its simulation do not agree".into());
    }
    Ok(())
}
