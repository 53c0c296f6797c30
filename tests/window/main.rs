//! The console's real window, on a screen of its own that nobody sees: what it shows, and what
//! showing it costs.
//!
//! `cargo build --release -p relay -p console -p tests --bins`, then
//! `cargo run --release -p tests --bin window -- shots [FOLDER]` writes a picture of every screen
//! in both themes, `… -- cost` measures frames, processor time, memory, and how soon a breaker's
//! opening is on the screen, `… -- hands` works it and fails on what is wrong.
//!
//! Relay, journal, feed and window are the real ones; the providers are `belay mock`'s. Of pictures
//! and figures nothing is asserted: they are for eyes, and of this machine, which draws without a
//! GPU here. It needs Xvfb and xdotool, which `tests/run` installs.

mod cast;
mod clipboard;
mod cost;
mod display;
mod hands;
mod journal;
mod picture;
#[path = "../bench/process.rs"]
#[expect(dead_code, reason = "the bench's; memory is read at its peak here")]
mod process;
mod shots;
mod spell;
mod table;
mod transition;
mod window;
mod world;

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tests::clock;

/// Any failure, told as it is.
type Res<T> = Result<T, Box<dyn Error + Send + Sync>>;

const HELP: &str = "\
window shots [FOLDER]   a picture of every screen in both themes; default target/screens
window cost             frames, processor time, memory, and how soon a transition is seen
window hands            works it by keyboard alone and by mouse alone; fails on what is wrong";

/// How often what is waited for is looked at.
const LOOK: Duration = Duration::from_millis(5);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["shots"] => target().and_then(|target| shots::shots(&target.join("screens"))),
        ["shots", folder] => shots::shots(&PathBuf::from(folder)),
        ["cost"] => cost::cost(),
        ["hands"] => hands::hands(),
        ["--help" | "-h"] => {
            say(HELP);
            Ok(())
        }
        _ => Err(format!("what is to be done?\n{HELP}").into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("window: {error}"));
            ExitCode::FAILURE
        }
    }
}

/// Cargo's target folder, in which this program lies.
fn target() -> Res<PathBuf> {
    let me = std::env::current_exe()?;
    Ok(me.ancestors().nth(2).ok_or("this program is not in a target folder")?.to_owned())
}

/// A program that is built beside this one.
fn beside(name: &str) -> Res<PathBuf> {
    let found = std::env::current_exe()?.with_file_name(name);
    if found.is_file() {
        return Ok(found);
    }
    let release = if cfg!(debug_assertions) { "" } else { "--release " };
    Err(format!(
        "no {name} beside this program: build it with \
         `cargo build {release}-p relay -p console -p tests --bins`"
    )
    .into())
}

/// Waits until `look` finds something.
fn wait_for<T>(what: &str, longest: Duration, mut look: impl FnMut() -> Res<Option<T>>) -> Res<T> {
    let began = clock::now();
    loop {
        if let Some(found) = look()? {
            return Ok(found);
        }
        if began.elapsed() > longest {
            return Err(format!("waited {} s in vain for {what}", longest.as_secs()).into());
        }
        std::thread::sleep(LOOK);
    }
}

/// Milliseconds since 1970, as relay and console have them on this machine.
fn unix_ms() -> i64 {
    i64::try_from(clock::unix().as_millis()).unwrap_or(i64::MAX)
}

/// A line for the reader; one who closed the pipe has read enough.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
