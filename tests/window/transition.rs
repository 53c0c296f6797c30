//! From a breaker's opening to its red block on the screen.

use crate::cast::ME;
use crate::display::Display;
use crate::picture::Rgb;
use crate::world::World;
use crate::{Res, unix_ms, wait_for};
use serde_json::{Value, json};
use shared::BreakerState;
use shared::admin::TransitionPage;
use std::time::Duration;
use tests::clock;

/// What is broken lies on this.
const BLOCK: Rgb = [0xA8, 0x34, 0x08];
/// So many more pixels of it are a cell, and no letter.
const CELL: usize = 500;
/// Failures in a row that open a breaker.
const MOST: u32 = 5;
/// What is not on the screen by then never comes.
const LONGEST: Duration = Duration::from_secs(15);
/// The relay tells how a rung is four times a second: the openings must fall on every part of that.
const LOOK: u64 = 250;
const LONGER: u64 = 37;

/// How late so many openings were seen, in milliseconds, the soonest first; and how long it takes to
/// look, by which they were seen too late.
pub(crate) fn times(world: &World, display: &Display, count: u64) -> Res<(Vec<f64>, f64)> {
    let began = clock::now();
    let _calm = display.look()?.count(BLOCK);
    let look = (began.elapsed() + crate::LOOK).as_secs_f64() * 1e3;
    let mut all = Vec::new();
    for number in 0..count {
        std::thread::sleep(Duration::from_millis(number * LONGER % LOOK));
        all.push(open(world, display)?);
        close(world, display, number)?;
    }
    all.sort_by(f64::total_cmp);
    Ok((all, look))
}

/// Opens the breaker of `sol`; milliseconds from the relay's moment to the picture's.
fn open(world: &World, display: &Display) -> Res<f64> {
    let calm = display.look()?.count(BLOCK);
    let began = unix_ms();
    world.fault("sol", Some("status:500"))?;
    // Each fails at once, and then waits for the next rung, which takes longer than what is measured.
    world.send(MOST, "chat");
    let seen = wait_for("the block of an open breaker", LONGEST, || {
        // Later than what the picture shows by what it takes to get it.
        let is_there = display.look()?.count(BLOCK) >= calm + CELL;
        Ok(is_there.then(unix_ms))
    })?;
    world.fault("sol", None)?;
    let opened = wait_for("the opening in the journal", LONGEST, || {
        let page: TransitionPage = world.get("transitions?rung=sol&limit=5")?;
        let is_it = |row: &&shared::admin::TransitionRow| {
            row.after == BreakerState::Open && row.at.0 >= began
        };
        Ok(page.items.iter().filter(is_it).map(|row| row.at.0).min())
    })?;
    Ok((seen - opened) as f64)
}

/// Closes it by hand, lets it go, and waits until the block is gone.
fn close(world: &World, display: &Display, number: u64) -> Res<()> {
    let path = "rungs/sol/override";
    let put = json!({ "id": format!("c{number}"), "reason": "measured", "mode": "forced_closed" });
    world.call::<Value>(ME, ("PUT", path), Some(&put))?;
    let delete = json!({ "id": format!("l{number}"), "reason": "measured" });
    world.call::<Value>(ME, ("DELETE", path), Some(&delete))?;
    wait_for("the block to go away", LONGEST, || {
        Ok((display.look()?.count(BLOCK) < CELL).then_some(()))
    })
}
