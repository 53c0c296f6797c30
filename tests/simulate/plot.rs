//! The plot: who still waits after how long, and when requests were hurt.

use crate::Res;
use crate::canvas::{Canvas, Colour};
use crate::oracle::Oracles;
use crate::policies::Policy;
use crate::run::{Outcome, Record};
use crate::stats::HURT;
use crate::world::World;
use std::path::Path;

const BLACK: Colour = [40, 40, 40];
const GREY: Colour = [222, 222, 222];
const BAND: Colour = [252, 236, 214];
const WIDTH: f64 = 1200.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 1170.0;
/// The curves' panel: top and bottom; 0.1 to 100 s against 1 to 1 in 10,000.
const CURVES: (f64, f64) = (50.0, 560.0);
/// The timeline's panel.
const TIMELINE: (f64, f64) = (640.0, 840.0);
/// The timeline counts in parts of this.
const PART: f64 = 60.0;

const fn colour(policy: Policy) -> Colour {
    match policy {
        Policy::Timeout => [200, 60, 50],
        Policy::CoolDown => [225, 140, 40],
        Policy::FixedHedge => [150, 110, 190],
        Policy::HedgeOnly => [90, 90, 200],
        Policy::BreakerOnly => [60, 150, 170],
        Policy::Ours => [20, 130, 60],
    }
}

/// Draws one scenario.
pub(crate) fn write(
    path: &Path,
    world: &World,
    records: &[(Policy, Record)],
    oracles: &Oracles,
) -> Res<()> {
    let mut canvas = Canvas::new(1200, 900);
    curves_frame(&mut canvas);
    let oracle = &oracles.aware_tail;
    curve(&mut canvas, oracle.times.clone(), BLACK, 1.0);
    canvas.words((LEFT + 780.0, CURVES.0 + 14.0), oracle.name, BLACK);
    let mut legend = CURVES.0 + 34.0;
    for (policy, record) in records {
        let times = record.outcomes.iter().map(|outcome| outcome.ttft).collect();
        curve(&mut canvas, times, colour(*policy), 3.0);
        canvas.words((LEFT + 780.0, legend), policy.name(), colour(*policy));
        legend += 20.0;
    }
    timeline_frame(&mut canvas, world);
    let most = records.iter().flat_map(|(_, record)| minutes(&record.outcomes)).max().unwrap_or(1);
    for (policy, record) in records {
        if matches!(policy, Policy::Timeout | Policy::Ours) {
            timeline(&mut canvas, world, &record.outcomes, most.max(1), colour(*policy));
        }
    }
    canvas.save(path)
}

fn across(seconds: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * (seconds.max(0.1).log10() + 1.0) / 3.0
}

fn down(share: f64) -> f64 {
    CURVES.0 - (CURVES.1 - CURVES.0) * share.max(1e-4).log10() / 4.0
}

fn curves_frame(canvas: &mut Canvas) {
    canvas.words((LEFT, 20.0), "share of requests without a first token, after seconds", BLACK);
    for (seconds, words) in [
        (0.1, "0.1"),
        (0.3, "0.3"),
        (1.0, "1"),
        (3.0, "3"),
        (10.0, "10"),
        (30.0, "30"),
        (100.0, "100"),
    ] {
        let x = across(seconds);
        canvas.line((x, CURVES.0), (x, CURVES.1), 1.0, GREY);
        canvas.words((x - 8.0, CURVES.1 + 10.0), words, BLACK);
    }
    for (share, words) in
        [(1.0, "100 %"), (0.1, "10 %"), (0.01, "1 %"), (0.001, "0.1 %"), (0.0001, "0.01 %")]
    {
        let y = down(share);
        canvas.line((LEFT, y), (RIGHT, y), 1.0, GREY);
        canvas.words((20.0, y - 5.0), words, BLACK);
    }
}

/// The share of `times` that are longer, against time.
fn curve(canvas: &mut Canvas, mut times: Vec<f64>, colour: Colour, thick: f64) {
    times.sort_by(f64::total_cmp);
    let count = times.len() as f64;
    let mut before: Option<(f64, f64)> = None;
    for step in 0..=600_u32 {
        let seconds = 0.1 * (f64::from(step) / 200.0 * std::f64::consts::LN_10).exp();
        let longer = times.len() - times.partition_point(|time| *time <= seconds);
        let here = (across(seconds), down(longer as f64 / count));
        if let Some(before) = before {
            canvas.line(before, here, thick, colour);
        }
        before = Some(here);
        if longer == 0 {
            return;
        }
    }
}

fn timeline_frame(canvas: &mut Canvas, world: &World) {
    let words = "requests without a first token in 3 s, per minute, by hour; incidents shaded";
    canvas.words((LEFT, TIMELINE.0 - 30.0), words, BLACK);
    for incident in &world.incidents {
        let from = along(world, incident.from);
        let to = along(world, incident.to.min(world.seconds()));
        canvas.fill((from, TIMELINE.0), (to, TIMELINE.1), BAND);
    }
    canvas.line((LEFT, TIMELINE.1), (RIGHT, TIMELINE.1), 1.0, BLACK);
    let mut hours = 0_u32;
    while f64::from(hours) * 3600.0 < world.seconds() && hours < 24 {
        let x = along(world, f64::from(hours) * 3600.0);
        canvas.words((x.min(WIDTH - 40.0), TIMELINE.1 + 10.0), &hours.to_string(), BLACK);
        hours += 1;
    }
}

fn along(world: &World, at: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * at / world.seconds().max(1.0)
}

/// Hurt requests by minute.
fn minutes(outcomes: &[Outcome]) -> Vec<u32> {
    let mut counts = Vec::new();
    let mut until = PART;
    let mut count = 0;
    for outcome in outcomes {
        while outcome.at >= until {
            counts.push(count);
            count = 0;
            until += PART;
        }
        count += u32::from(outcome.ttft > HURT);
    }
    counts.push(count);
    counts
}

fn timeline(canvas: &mut Canvas, world: &World, outcomes: &[Outcome], most: u32, colour: Colour) {
    let height =
        |count: u32| TIMELINE.1 - (TIMELINE.1 - TIMELINE.0) * f64::from(count) / f64::from(most);
    let mut before = (LEFT, TIMELINE.1);
    let mut at = 0.0;
    for count in minutes(outcomes) {
        let here = (along(world, at + PART / 2.0), height(count));
        canvas.line(before, here, 2.0, colour);
        before = here;
        at += PART;
    }
    canvas.words((30.0, TIMELINE.0), &most.to_string(), BLACK);
}
