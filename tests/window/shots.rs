//! A picture of every screen in both themes.

use crate::cast::OTHER;
use crate::display::Display;
use crate::window::Window;
use crate::world::World;
use crate::{Res, say};
use serde_json::{Value, json};
use shared::BreakerState;
use std::path::Path;
use std::time::Duration;

/// Requests a second.
const RATE: u32 = 12;
const LADDERS: &[&str] = &["chat", "chat", "code", "chat", "agents", "cheap", "code"];
/// Well before the trouble, so that the curves have something to fall from.
const CALM: Duration = Duration::from_secs(20);
/// After it.
const TROUBLE: Duration = Duration::from_secs(6);
/// A provider that falls ill is found out by then.
const FOUND_OUT: Duration = Duration::from_secs(60);
/// What keys ask for has come by then: a screen's list, a preview.
const ANSWERED: Duration = Duration::from_millis(900);
/// The pictures: a name, the keys that lead there from the Board, those that lead back.
const ALL: &[(&str, &[&str], &[&str])] = &[
    ("board", &[], &[]),
    ("board-selected", &["g"], &[]),
    ("board-providers", &["v"], &[]),
    ("board-domains", &["v"], &["v"]),
    ("dialog-open", &["g", "o"], &["Escape"]),
    ("dialog-reorder", &["m"], &["Escape"]),
    ("history", &["2", "Down", "Down"], &[]),
    ("breakers", &["3"], &[]),
    ("actions", &["4", "Down"], &[]),
    ("setup", &["5"], &[]),
    ("keys", &["1", "question"], &["Escape"]),
    ("palette", &["ctrl+k"], &["Escape"]),
];

/// Takes them all.
pub(crate) fn shots(folder: &Path) -> Res<()> {
    std::fs::create_dir_all(folder)?;
    let display = Display::start()?;
    let world = World::start(tempfile::tempdir()?)?;
    let mut window = Window::open(&display, &world, None)?;
    let load = world.load(RATE, LADDERS);
    say(&format!("{} s of calm, then sol takes requests and never answers", CALM.as_secs()));
    std::thread::sleep(CALM);
    world.fault("sol", Some("hang"))?;
    world.until_rung("sol", FOUND_OUT, |rung| rung.health.state == BreakerState::Open)?;
    others_hand(&world)?;
    std::thread::sleep(TROUBLE);
    for theme in ["dark", "light"] {
        window.press(&["1", "Escape"])?;
        for (name, there, back) in ALL {
            window.press(there)?;
            std::thread::sleep(ANSWERED);
            let path = folder.join(format!("{name}-{theme}.png"));
            display.look()?.write(&path)?;
            say(&path.display().to_string());
            window.press(back)?;
        }
        window.press(&["Escape", "ctrl+t"])?;
    }
    let (answered, failed) = load.so_far();
    say(&format!("meanwhile {answered} requests were answered, {failed} were not"));
    Ok(())
}

/// What somebody else did: a rung is forced open, and an order is not the config's.
fn others_hand(world: &World) -> Res<()> {
    let changes = [
        json!({ "rung": "gemini", "mode": "forced_open" }),
        json!({ "ladder": "code", "order": ["opus", "sol", "haiku", "sol-eu"] }),
    ];
    let reasons = ["empty answers, ticket 4711", "sol slow all evening"];
    for ((change, reason), ttl) in changes.into_iter().zip(reasons).zip(["15m", "4h"]) {
        let body = json!({
            "id": format!("shots-{ttl}"), "reason": reason, "ttl": ttl, "changes": [change],
            // The order that it is put on top of: nobody has made another.
            "expect": { "code": 0 },
        });
        world.call::<Value>(OTHER, ("POST", "changes"), Some(&body))?;
    }
    Ok(())
}
