//! What the window costs, in a table.

use crate::cast::OTHER;
use crate::display::Display;
use crate::spell::{Spell, quantile};
use crate::table::Table;
use crate::window::Window;
use crate::world::World;
use crate::{Res, journal, say, target, transition, wait_for};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// Each figure is one of so long.
const LENGTH: Duration = Duration::from_secs(30);
/// Before it, so that hiding, or what came before, is not part of it: a span, not a wait.
const SETTLED: Duration = Duration::from_secs(4);
/// A list is there after so long, or its keys were not heard; they are pressed anew for so long.
const LOADED: Duration = Duration::from_secs(4);
const TRIES: Duration = Duration::from_secs(40);
/// Nothing else that is waited for takes longer.
const LONGEST: Duration = Duration::from_secs(15);
/// Requests a second beside the long past.
const RATE: u32 = 100;
/// The ladders that the long past is about.
const LADDERS: &[&str] = &["chat", "chat", "code"];
/// Openings of a breaker.
const OPENINGS: u64 = 10;

/// Measures and prints.
pub(crate) fn cost() -> Res<()> {
    if cfg!(debug_assertions) {
        say("This is a debug build: add --release for figures that mean something.");
    }
    say("CPU is that of the console's process, in per cent of one core; without a GPU its own");
    say("threads draw the pixels, too. A frame is its update and tessellation, without them.");
    let table = Table::begin();
    let display = Display::start()?;
    let files = tempfile::tempdir()?;
    quiet(&display, &files, &table)?;
    say(&format!("500,000 attempts in the journal, {RATE} requests/s:"));
    busy(&display, &files, &table)
}

/// On a relay without traffic: nothing moves, one clock runs, nobody looks, a breaker opens.
fn quiet(display: &Display, files: &TempDir, table: &Table) -> Res<()> {
    let world = World::start(tempfile::tempdir()?)?;
    let frames = files.path().join("quiet");
    let mut window = Window::open(display, &world, Some(&frames))?;
    let id = window.id();
    let mut watch = |name: &str, most: (Option<f64>, f64)| -> Res<()> {
        std::thread::sleep(SETTLED);
        let spell = Spell::of(&mut window, &frames, LENGTH, &[])?;
        table.row(name, spell.rate(), "frames/s", most.0);
        table.row(name, spell.cpu(), "CPU %", Some(most.1));
        Ok(())
    };
    watch("idle", (Some(2.0), 2.0))?;
    let body = json!({
        "id": "counted-down", "reason": "measured", "mode": "forced_open", "ttl": "15m",
    });
    world.call::<Value>(OTHER, ("PUT", "rungs/gemini/override"), Some(&body))?;
    watch("one countdown", (None, 6.0))?;
    display.unmap(id)?;
    watch("one countdown, unmapped", (None, 1.0))?;
    display.map(id)?;
    let cover = display.cover()?;
    watch("one countdown, covered", (None, 1.0))?;
    display.unmap(cover)?;
    watch("one countdown, shown again", (None, 6.0))?;
    display.minimise(id)?;
    watch("one countdown, minimised", (None, 1.0))?;
    drop(window);
    let opened = files.path().join("opened");
    let _window = Window::open(display, &world, Some(&opened))?;
    until_drawn(&opened)?;
    let (times, look) = transition::times(&world, display, OPENINGS)?;
    let name = format!("{OPENINGS} transitions to pixels");
    table.row(&format!("{name}, p50"), quantile(&times, 50), "ms", None);
    table.row(&format!("{name}, longest"), quantile(&times, 100), "ms", Some(250.0));
    table.row(&format!("{name}, seen too late by"), look, "ms", None);
    Ok(())
}

/// Waits until the window has drawn something.
fn until_drawn(frames: &Path) -> Res<()> {
    wait_for("the first frame", LONGEST, || Ok((frames.metadata()?.len() > 0).then_some(())))
}

/// How many requests the last frame's list had.
fn listed(frames: &Path) -> Res<u32> {
    let text = std::fs::read_to_string(frames)?;
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let last = whole.lines().last().and_then(|line| line.split(' ').nth(2));
    Ok(last.map(str::parse).transpose()?.unwrap_or(0))
}

/// A screen under load: its name, the keys that lead there, those that are pressed once a second.
type View = (&'static str, &'static [&'static str], &'static [&'static str]);

/// All of the past there is, in the list.
const ALL: &[&str] =
    &["2", "Left", "slash", "ctrl+a", "s", "i", "n", "c", "e", "colon", "a", "l", "l", "Return"];

const VIEWS: [View; 3] =
    [("Board", &["1"], &[]), ("History", ALL, &[]), ("History, paged through", ALL, &["Next"])];

/// On a relay with a long past and much traffic.
fn busy(display: &Display, files: &TempDir, table: &Table) -> Res<()> {
    let pictures = target()?.join("screens");
    std::fs::create_dir_all(&pictures)?;
    let folder = tempfile::tempdir()?;
    journal::fill(&folder.path().join("belay.db"))?;
    let world = World::start(folder)?;
    let load = world.load(RATE, LADDERS);
    wait_for("the load to be answered", LONGEST, || {
        Ok((load.so_far().0 >= u64::from(RATE)).then_some(()))
    })?;
    for (name, there, hand) in VIEWS {
        let frames = files.path().join(name);
        let mut window = Window::open(display, &world, Some(&frames))?;
        until_drawn(&frames)?;
        // A window that has just come up may not hear its first keys; and a list without rows is
        // not what is measured.
        wait_for("rows on the list", TRIES, || {
            window.press(&["Escape", "Escape"])?;
            window.press(there)?;
            let rows = || Ok((there != ALL || listed(&frames)? > 0).then_some(()));
            Ok(wait_for("them", LOADED, rows).ok())
        })?;
        let before = load.so_far();
        let spell = Spell::of(&mut window, &frames, LENGTH, hand)?;
        let (answered, failed) = load.so_far();
        table.row(name, spell.frame(50), "frame p50 ms", Some(16.0));
        table.row(name, spell.frame(95), "frame p95 ms", Some(16.0));
        table.row(name, spell.frame(100), "longest frame ms", Some(16.0));
        table.row(name, spell.rate(), "frames/s", None);
        table.row(name, spell.cpu(), "CPU %", None);
        table.row(name, peak_mb(window.pid())?, "memory at its peak, MB", Some(300.0));
        let seconds = LENGTH.as_secs_f64();
        table.row(name, (answered - before.0) as f64 / seconds, "answered requests/s", None);
        if failed > before.1 {
            say(&format!("{} requests were not answered", failed - before.1));
        }
        let picture =
            pictures.join(format!("cost-{}.png", name.replace(", ", "-").replace(' ', "-")));
        display.look()?.write(&picture)?;
        say(&format!("it was {}", picture.display()));
    }
    Ok(())
}

/// The most memory that a process ever had resident, in MB.
fn peak_mb(pid: u32) -> Res<f64> {
    let path = PathBuf::from(format!("/proc/{pid}/status"));
    Ok(peak_kib(&path)? * 1024.0 / 1e6)
}

fn peak_kib(path: &Path) -> Res<f64> {
    let status = std::fs::read_to_string(path)?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    Ok(number.ok_or("no VmHWM")?.parse()?)
}
