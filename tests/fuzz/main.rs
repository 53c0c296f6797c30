//! Fuzzes every stream reader: bytes that no honest provider sends, for every pair of
//! dialects.
//!
//! Each run mutates an input that has shown something new before (a way to end, a number
//! of tokens, a size of what goes out), reads it whole and in cuts, and holds the readers to
//! what they promise: no panic, no hang, the same answer however it is cut, JSON that a
//! client can read, bounded memory.
//!
//!     fuzz                    10 s over all pairs
//!     fuzz --for 1h           by hand
//!     fuzz --seed 7           another stretch of chance; without it, the same as ever
//!     fuzz --input FILE       one input, as a failure has left it

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it talks to whoever runs it")]

mod mutate;
mod read;
mod seeds;

use mutate::mutate;
use read::{Case, Shape};
use shared::Dialect;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tests::clock::now;

/// Inputs are no longer than this.
const LONGEST: usize = 16 * 1024;
/// Inputs that have shown something new, per pair; beyond it an old one gives way.
const MOST_KEPT: usize = 2000;
/// One input takes some hundred microseconds. One that takes this is a hang.
const HANG: Duration = Duration::from_secs(20);

/// Runs done, for the watch over hangs.
static RUNS: AtomicU64 = AtomicU64::new(0);

struct Options {
    span: Duration,
    seed: u64,
    input: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(wrong) => {
            eprintln!("fuzz: {wrong}. Use --for 10s, --seed N, --input FILE.");
            return ExitCode::from(2);
        }
    };
    std::thread::spawn(watch);
    match &options.input {
        Some(path) => again(path),
        None => fuzz(&options),
    }
}

fn options() -> Result<Options, String> {
    let mut options = Options { span: Duration::from_secs(10), seed: 1, input: None };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("'{name}' wants a value"))?;
        match name.as_str() {
            "--for" => options.span = span(&value)?,
            "--seed" => options.seed = value.parse().map_err(|_| "the seed is a number")?,
            "--input" => options.input = Some(value.into()),
            _ => return Err(format!("'{name}' is not known")),
        }
    }
    Ok(options)
}

fn span(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let seconds = units.iter().find_map(|(unit, seconds)| {
        text.strip_suffix(unit)?.parse::<u64>().ok().map(|count| count * seconds)
    });
    seconds.map(Duration::from_secs).ok_or(format!("'{text}' is no time such as 10s, 5m, 1h"))
}

/// Every provider's dialect with every client's.
fn pairs() -> Vec<(Dialect, Dialect)> {
    let clients = [Dialect::OpenaiChat, Dialect::AnthropicMessages, Dialect::OpenaiResponses];
    Dialect::ALL.iter().flat_map(|from| clients.map(|to| (*from, to))).collect()
}

fn fuzz(options: &Options) -> ExitCode {
    // A panic is told with its input; the default message would come a thousand times.
    std::panic::set_hook(Box::new(|_| {}));
    let began = now();
    let mut rng = fastrand::Rng::with_seed(options.seed);
    let mut pools: Vec<Pool> = pairs().into_iter().map(|(from, to)| Pool::new(from, to)).collect();
    let mut runs = 0_u64;
    loop {
        for pool in &mut pools {
            if began.elapsed() >= options.span {
                report(&pools, runs, began.elapsed());
                return ExitCode::SUCCESS;
            }
            for _ in 0..64 {
                let case = pool.next(&mut rng);
                runs += 1;
                RUNS.store(runs, Ordering::Relaxed);
                match attempt(&case) {
                    Ok(shape) => pool.keep(case, shape, &mut rng),
                    Err(wrong) => return failed(&case, &wrong),
                }
            }
        }
    }
}

/// Inputs for one pair of dialects.
struct Pool {
    from: Dialect,
    to: Dialect,
    kept: Vec<Vec<u8>>,
    seen: HashSet<Shape>,
}

impl Pool {
    fn new(from: Dialect, to: Dialect) -> Self {
        Self { from, to, kept: seeds::of(from), seen: HashSet::new() }
    }

    fn next(&self, rng: &mut fastrand::Rng) -> Case {
        let pick = |rng: &mut fastrand::Rng| {
            self.kept.get(rng.usize(..self.kept.len().max(1))).cloned().unwrap_or_default()
        };
        let (one, other) = (pick(rng), pick(rng));
        let mut body = mutate(one, &other, rng);
        body.truncate(LONGEST);
        Case { from: self.from, to: self.to, cuts: rng.u64(..), body }
    }

    fn keep(&mut self, case: Case, shape: Shape, rng: &mut fastrand::Rng) {
        if !self.seen.insert(shape) {
            return;
        }
        if self.kept.len() >= MOST_KEPT {
            let place = rng.usize(..self.kept.len());
            self.kept.swap_remove(place);
        }
        self.kept.push(case.body);
    }
}

fn attempt(case: &Case) -> Result<Shape, String> {
    catch_unwind(AssertUnwindSafe(|| read::check(case))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        Err(format!("panicked: {}", text.unwrap_or("without a word")))
    })
}

fn report(pools: &[Pool], runs: u64, span: Duration) {
    for pool in pools {
        println!("{} to {}: {} shapes", pool.from, pool.to, pool.seen.len());
    }
    println!("{runs} runs in {span:.0?}, nothing wrong");
}

fn failed(case: &Case, wrong: &str) -> ExitCode {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/fuzz");
    let path = folder.join(format!("{}-to-{}-{}.bin", case.from, case.to, case.cuts));
    let written = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, &case.body));
    eprintln!("fuzz: {} to {}: {wrong}", case.from, case.to);
    match written {
        Ok(()) => eprintln!("fuzz: the input is in {}; run it with --input", path.display()),
        Err(error) => eprintln!("fuzz: the input could not be kept: {error}"),
    }
    ExitCode::FAILURE
}

/// One input again; its name says for whom it was.
fn again(path: &std::path::Path) -> ExitCode {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let case = name.split_once("-to-").and_then(|(from, rest)| {
        let (to, cuts) = rest.rsplit_once('-')?;
        let (from, to) = (from.parse().ok()?, to.parse().ok()?);
        Some(Case { from, to, cuts: cuts.parse().ok()?, body: std::fs::read(path).ok()? })
    });
    let Some(case) = case else {
        eprintln!("fuzz: {} is no input that fuzz has left", path.display());
        return ExitCode::from(2);
    };
    RUNS.fetch_add(1, Ordering::Relaxed);
    match attempt(&case) {
        Ok(_) => {
            println!("nothing wrong");
            ExitCode::SUCCESS
        }
        Err(wrong) => failed(&case, &wrong),
    }
}

/// Ends the program if a run does not end.
fn watch() {
    loop {
        let before = RUNS.load(Ordering::Relaxed);
        std::thread::sleep(HANG);
        if RUNS.load(Ordering::Relaxed) == before {
            eprintln!("fuzz: run {before} has not ended for {HANG:?}: a hang");
            std::process::exit(1);
        }
    }
}
