//! The console worked by hand, in a real window: by the keyboard alone and by the mouse alone.
//! Asserts what reached the relay, and counts presses and clicks.

use crate::cast::{ME, OTHER};
use crate::clipboard::Clipboard;
use crate::display::Display;
use crate::window::{Button, Window};
use crate::world::World;
use crate::{Res, say, wait_for};

use shared::admin::RungState;
use shared::admin::actions::{Action, ActionKind, ActionPage};
use shared::admin::changes::{Change, NewOrder};
use shared::{BreakerState, OverrideMode};
use std::time::Duration;

/// Requests a second.
const RATE: u32 = 12;
const LADDERS: &[&str] = &["chat", "code", "chat", "agents", "cheap"];
/// What a hand waits for is there by then.
const SOON: Duration = Duration::from_secs(10);
/// A provider that hangs is found out by then.
const FOUND_OUT: Duration = Duration::from_secs(60);
/// For so long after a dialog the console takes letters for its reason; and some more.
const PAUSE: Duration = Duration::from_millis(1_500);

/// Works it by hand.
pub(crate) fn hands() -> Res<()> {
    let display = Display::start()?;
    let world = World::start(tempfile::tempdir()?)?;
    let mut window = Window::open(&display, &world, None)?;
    let _load = world.load(RATE, LADDERS);
    world.fault("sol", Some("hang"))?;
    world.until_rung("sol", FOUND_OUT, |rung| rung.health.state == BreakerState::Open)?;
    let mut hand = Hand { world: &world, window: &mut window, seen: 0 };
    by_keyboard(&mut hand, &display)?;
    by_mouse(&mut hand)?;
    incidents_by_mouse(&mut hand)
}

/// A hand on the window, and what it has done at the relay so far.
struct Hand<'a, 'w> {
    world: &'a World,
    window: &'a mut Window<'w>,
    seen: usize,
}

impl Hand<'_, '_> {
    /// The one action that has come since, once it is there.
    fn did(&mut self) -> Res<Action> {
        let (world, seen) = (self.world, self.seen);
        let action = wait_for("an action at the relay", SOON, || {
            let page: ActionPage = world.get("actions?limit=100")?;
            Ok((page.items.len() > seen).then_some(page.items))
        })?;
        if action.len() != self.seen + 1 {
            return Err(format!("{} actions came at once", action.len() - self.seen).into());
        }
        self.seen += 1;
        action.into_iter().next().ok_or_else(|| "no action".into())
    }

    /// Fails if anything was done.
    fn did_nothing(&self, why: &str) -> Res<()> {
        std::thread::sleep(PAUSE);
        let page: ActionPage = self.world.get("actions?limit=100")?;
        let more: Vec<_> = page.items.iter().take(page.items.len() - self.seen).collect();
        if more.is_empty() { Ok(()) } else { Err(format!("{why}: {more:?}").into()) }
    }

    /// Presses Ctrl+Enter once the dialog may be sent.
    fn confirm(&mut self) -> Res<()> {
        self.window.until_widget("Ctrl+Enter")?;
        // It is pressed for as long as the preview is on its way, as an impatient hand does.
        for _ in 0..20 {
            self.window.press(&["ctrl+Return"])?;
            if !self.window.has_widget("Ctrl+Enter")? {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err("the dialog does not go away".into())
    }

    /// Waits until the board has a rung under this override.
    fn until_mode(&self, rung: &str, mode: Option<OverrideMode>) -> Res<()> {
        let is_so = |one: &RungState| one.forced.as_ref().and_then(|it| it.mode.known()) == mode;
        self.world.until_rung(rung, SOON, is_so)
    }

    /// Waits until the board has the first ladder in this order.
    fn until_order(&self, order: &[String]) -> Res<()> {
        wait_for(&format!("the order {order:?}"), SOON, || {
            let board = self.world.board()?;
            let first = board.ladders.first().map(|ladder| &ladder.order[..]);
            Ok((first == Some(order)).then_some(()))
        })
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, found: &T, wanted: &T) -> Res<()> {
    if found == wanted {
        return Ok(());
    }
    Err(format!("{what}: found {found:?}, wanted {wanted:?}").into())
}

fn by_keyboard(hand: &mut Hand<'_, '_>, display: &Display) -> Res<()> {
    say("keyboard alone:");
    let before = hand.window.pressed;
    let clipboard = Clipboard::of(display)?;
    hand.window.press(&["g", "shift+y"])?;
    let copied = wait_for("the id in the clipboard", SOON, || {
        Ok(clipboard.read()?.filter(|text| text == "sol"))
    })?;
    say(&format!("  g Y: the clipboard holds \"{copied}\""));

    // The suggested cause.
    hand.window.press(&["g", "o", "Tab"])?;
    hand.confirm()?;
    let action = hand.did()?;
    if action.reason.is_empty() {
        return Err("Tab took no cause over".into());
    }
    std::thread::sleep(PAUSE);
    hand.window.press(&["u"])?;
    hand.confirm()?;
    expect("the undo", &hand.did()?.kind, &ActionKind::Undo)?;
    hand.until_mode("sol", None)?;
    say(&format!("  g o Tab Ctrl+Enter, u Ctrl+Enter: \"{}\", taken back", action.reason));

    std::thread::sleep(PAUSE);
    // Into the reason of a rung that is taken out, what another program copied.
    let pasted = "pasted: ticket 4711, äöü";
    let _owner = clipboard.own(pasted)?;
    hand.window.press(&["o", "ctrl+v"])?;
    hand.confirm()?;
    let action = hand.did()?;
    expect("the pasted reason", &action.reason.as_str(), &pasted)?;
    hand.until_mode("sol", Some(OverrideMode::ForcedOpen))?;
    say(&format!("  o Ctrl+V Ctrl+Enter: sol is taken out, \"{}\"", action.reason));

    // A reason whose letters are all commands of the Board.
    std::thread::sleep(PAUSE);
    hand.window.press(&["a"])?;
    hand.window.write("o c d m x 1 2 q")?;
    hand.confirm()?;
    let action = hand.did()?;
    expect("the typed reason", &action.reason.as_str(), &"o c d m x 1 2 q")?;
    hand.until_mode("sol", None)?;
    // Written on after it has closed.
    hand.window.write("ooo")?;
    hand.window.press(&["ctrl+Return"])?;
    hand.did_nothing("what was typed on did something")?;
    for rung in ["opus", "gemini", "haiku"] {
        hand.until_mode(rung, None)?;
    }
    say("  a, a reason of command letters, Ctrl+Enter: sol is back, and nothing else happened");

    // An order, its arrows faster than frames.
    std::thread::sleep(PAUSE);
    hand.window.press(&["m"])?;
    hand.window.until_widget("Reorder")?;
    hand.window.write("slow")?;
    hand.window.hit(&["alt+Down", "alt+Down"])?;
    hand.confirm()?;
    let action = hand.did()?;
    let [Change::Order { order: NewOrder::Rungs(rungs), .. }] = &action.changes[..] else {
        return Err(format!("no order: {action:?}").into());
    };
    expect("the place of sol", &rungs.iter().position(|rung| rung == "sol"), &Some(2))?;
    say(&format!("  m Alt+↓ Alt+↓: {}", rungs.join(" > ")));
    std::thread::sleep(PAUSE);
    hand.window.press(&["u"])?;
    hand.confirm()?;
    hand.did()?;
    say(&format!("  {} presses in all", hand.window.pressed - before));
    Ok(())
}

fn by_mouse(hand: &mut Hand<'_, '_>) -> Res<()> {
    say("mouse alone:");
    let before = hand.window.clicked;
    std::thread::sleep(PAUSE);
    // By the menu of a right click on the cell.
    hand.window.click("opus, ", Button::Right)?;
    hand.window.click("last choice (demote)", Button::Left)?;
    hand.window.click("planned work", Button::Left)?;
    hand.window.click_enabled("Ctrl+Enter")?;
    let action = hand.did()?;
    expect("the reason", &action.reason.as_str(), &"planned work")?;
    hand.until_mode("opus", Some(OverrideMode::Demoted))?;
    say("  right click, last choice, a reason, do it: opus is the last choice");

    // By the button beside the Board.
    hand.window.click("opus, ", Button::Left)?;
    hand.window.click("a put back", Button::Left)?;
    hand.window.click("incident", Button::Left)?;
    hand.window.click_enabled("Ctrl+Enter")?;
    hand.did()?;
    hand.until_mode("opus", None)?;
    say("  a click, put back, a reason, do it: opus is back");

    // By a drag: the first cell onto the second.
    let board = hand.world.board()?;
    let was = board.ladders.first().map(|ladder| ladder.order.clone()).unwrap_or_default();
    let [first, second, third] = &was[..] else { return Err(format!("an order: {was:?}").into()) };
    hand.window.drag(&format!("{first}, "), &format!("{second}, "))?;
    hand.window.click("cost", Button::Left)?;
    hand.window.click_enabled("Ctrl+Enter")?;
    hand.did()?;
    let now = [second.clone(), first.clone(), third.clone()];
    hand.until_order(&now)?;
    say(&format!("  a drag, a reason, do it: {}", now.join(" > ")));

    hand.window.click("u undo", Button::Left)?;
    hand.window.click_enabled("Ctrl+Enter")?;
    hand.did()?;
    hand.until_order(&was)?;
    say("  undo, do it: as before");
    // What lies behind a dialog is out of reach.
    hand.window.click("opus, ", Button::Left)?;
    hand.window.click("d last choice", Button::Left)?;
    hand.window.until_widget("Esc cancel")?;
    hand.window.click("2 History", Button::Left)?;
    if !hand.window.has_widget("Esc cancel")? {
        return Err("a click behind the dialog closed it".into());
    }
    hand.window.click("Esc cancel", Button::Left)?;
    hand.did_nothing("a dialog that was left did something")?;
    say(&format!("  {} clicks in all, by {}", hand.window.clicked - before, ME.0));
    Ok(())
}

/// Three incidents, each from the trouble line to its end: a provider hangs, a key is refused, a
/// colleague is faster.
fn incidents_by_mouse(hand: &mut Hand<'_, '_>) -> Res<()> {
    say("incidents, mouse alone:");
    // sol still hangs: all that shares its vendor is taken out, and put back by an undo on Actions.
    let before = hand.window.clicked;
    hand.world.until_rung("sol", FOUND_OUT, |rung| rung.health.state == BreakerState::Open)?;
    hand.window.click("g worst", Button::Left)?;
    hand.window.click("o take out", Button::Left)?;
    hand.window.click("all 2 in openai", Button::Left)?;
    hand.window.click("incident", Button::Left)?;
    hand.window.click_enabled("Ctrl+Enter")?;
    hand.did()?;
    for rung in ["sol", "sol-eu"] {
        hand.until_mode(rung, Some(OverrideMode::ForcedOpen))?;
    }
    hand.world.fault("sol", None)?;
    hand.window.click("4 Actions", Button::Left)?;
    hand.window.click("■ ", Button::Left)?;
    hand.window.click("u undo", Button::Left)?;
    hand.window.click_enabled("Ctrl+Enter")?;
    expect("the undo", &hand.did()?.kind, &ActionKind::Undo)?;
    for rung in ["sol", "sol-eu"] {
        hand.until_mode(rung, None)?;
    }
    hand.window.click("1 Board", Button::Left)?;
    say(&format!(
        "  a provider hangs: taken out and put back, {} clicks",
        hand.window.clicked - before
    ));

    // haiku's key is refused, and works again: the next request is its probe.
    let before = hand.window.clicked;
    hand.world.fault("haiku", Some("status:401"))?;
    hand.world.until_rung("haiku", FOUND_OUT, |rung| rung.health.hard_down.is_some())?;
    hand.world.fault("haiku", None)?;
    hand.window.click("haiku, ", Button::Left)?;
    hand.window.click("p probe now", Button::Left)?;
    hand.window.click_enabled("Ctrl+Enter")?;
    expect("the probe", &hand.did()?.kind, &ActionKind::Probe)?;
    hand.world.until_rung("haiku", FOUND_OUT, |rung| rung.health.hard_down.is_none())?;
    say(&format!("  a key is refused: probed, {} clicks", hand.window.clicked - before));

    // A colleague is faster: what is confirmed is what stands there then.
    let before = hand.window.clicked;
    hand.window.click("gemini, ", Button::Left)?;
    hand.window.click("o take out", Button::Left)?;
    hand.window.click("incident", Button::Left)?;
    hand.window.until_widget("Ctrl+Enter")?;
    let body = serde_json::json!({
        "id": "hands-ben", "reason": "empty answers", "ttl": "15m",
        "changes": [{ "rung": "gemini", "mode": "demoted" }],
    });
    hand.world.call::<serde_json::Value>(OTHER, ("POST", "changes"), Some(&body))?;
    hand.seen += 1;
    hand.window.until_widget("gemini is demoted now, by ben")?;
    hand.window.click("Ctrl+Enter", Button::Left)?;
    hand.until_mode("gemini", Some(OverrideMode::Demoted))?;
    hand.window.click_enabled("Ctrl+Enter")?;
    hand.did()?;
    hand.until_mode("gemini", Some(OverrideMode::ForcedOpen))?;
    say(&format!(
        "  a colleague is faster: said, confirmed anew, {} clicks",
        hand.window.clicked - before
    ));
    Ok(())
}
