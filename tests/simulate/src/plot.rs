//! The plot: who still waits after how long, and when requests were hurt.

use crate::Res;
use crate::canvas::{Canvas, Colour};
use crate::oracle::Oracles;
use simulate::policies::Policy;
use simulate::run::{Outcome, Record};
use simulate::stats::{Figures, HURT};
use simulate::world::World;
use std::path::Path;

const BLACK: Colour = [40, 40, 40];
const GREY: Colour = [222, 222, 222];
const BAND: Colour = [252, 236, 214];
const WIDTH: f64 = 1200.0;
const LEFT: f64 = 90.0;
const RIGHT: f64 = 1170.0;
/// The curves' panel: top and bottom; 0.1 to 100 s against 1 to 1 in 10,000.
const CURVES: (f64, f64) = (240.0, 720.0);
/// The least share that is drawn.
const LEAST: f64 = 1e-4;
/// The timeline's panel.
const TIMELINE: (f64, f64) = (820.0, 1020.0);
/// The timeline counts in parts of this.
const PART: f64 = 60.0;
/// Those in the timeline; more would hide each other.
const SHOWN: [Policy; 2] = [Policy::Timeout, Policy::Ours];
/// More incidents than this are not named: their bands are too narrow for a number.
const NAMED: usize = 12;

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
    title: &str,
    world: &World,
    records: &[(Policy, Record)],
    oracles: &Oracles,
) -> Res<()> {
    let mut canvas = Canvas::new(1200, 1140);
    canvas.words((LEFT, 16.0), title, BLACK);
    curves_frame(&mut canvas);
    let mut line = 44.0;
    legend(&mut canvas, line, ["", "p50", "p99", "p99.9", "extra calls"].map(str::to_owned), BLACK);
    let mut row = |canvas: &mut Canvas, name: &str, figures: &Figures, colour| {
        line += 20.0;
        let seconds = |time: f64| format!("{time:.2} s");
        let Figures { p50, p99, p999, extra, .. } = *figures;
        let extra = format!("{:.1} %", extra * 100.0);
        let cells = [name.to_owned(), seconds(p50), seconds(p99), seconds(p999), extra];
        legend(canvas, line, cells, colour);
    };
    let oracle = &oracles.aware_tail;
    for (policy, record) in records {
        let times = record.outcomes.iter().map(|outcome| outcome.ttft).collect();
        curve(&mut canvas, times, colour(*policy), 3.0);
        row(&mut canvas, policy.name(), &Figures::of(record), colour(*policy));
    }
    curve(&mut canvas, oracle.times.clone(), BLACK, 1.0);
    row(&mut canvas, "oracle that knows the incident", &oracle.figures, BLACK);
    timeline_frame(&mut canvas, world);
    let shown = || records.iter().filter(|(policy, _)| SHOWN.contains(policy));
    let most = shown().flat_map(|(_, record)| minutes(&record.outcomes)).max().unwrap_or(1);
    for (policy, record) in shown() {
        timeline(&mut canvas, world, &record.outcomes, most.max(1), colour(*policy));
    }
    canvas.save(path)
}

/// A line of the legend.
fn legend(canvas: &mut Canvas, y: f64, cells: [String; 5], colour: Colour) {
    for (cell, x) in
        cells.iter().zip([LEFT, LEFT + 290.0, LEFT + 390.0, LEFT + 490.0, LEFT + 590.0])
    {
        canvas.words((x, y), cell, colour);
    }
}

fn across(seconds: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * (seconds.max(0.1).log10() + 1.0) / 3.0
}

fn down(share: f64) -> f64 {
    CURVES.0 - (CURVES.1 - CURVES.0) * share.max(LEAST).log10() / 4.0
}

fn curves_frame(canvas: &mut Canvas) {
    let words = "share of requests that still wait for their first token, after so many seconds";
    canvas.words((LEFT, CURVES.0 - 24.0), words, BLACK);
    for (seconds, words) in [
        (0.1, "0.1 s"),
        (0.3, "0.3 s"),
        (1.0, "1 s"),
        (3.0, "3 s"),
        (10.0, "10 s"),
        (30.0, "30 s"),
        (100.0, "100 s"),
    ] {
        let x = across(seconds);
        canvas.line((x, CURVES.0), (x, CURVES.1), 1.0, GREY);
        canvas.words((x.min(WIDTH - 44.0) - 8.0, CURVES.1 + 10.0), words, BLACK);
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
        if (longer as f64) < LEAST * count {
            return;
        }
        let here = (across(seconds), down(longer as f64 / count));
        if let Some(before) = before {
            canvas.line(before, here, thick, colour);
        }
        before = Some(here);
    }
}

fn timeline_frame(canvas: &mut Canvas, world: &World) {
    let words = "requests that waited over 3 s, in each minute: time-out and belay";
    canvas.words((LEFT, TIMELINE.0 - 44.0), words, BLACK);
    let named = world.incidents.len() <= NAMED;
    for (place, incident) in world.incidents.iter().enumerate() {
        let from = along(world, incident.from);
        let to = along(world, incident.to.min(world.seconds()));
        canvas.fill((from, TIMELINE.0), (to, TIMELINE.1), BAND);
        if named {
            let number = (place + 1).to_string();
            canvas.words(((from + to) / 2.0 - 4.0, TIMELINE.0 - 16.0), &number, BLACK);
            let (column, row) = ((place % 3) as f64, (place / 3) as f64);
            let at = (LEFT + 370.0 * column, TIMELINE.1 + 44.0 + 18.0 * row);
            canvas.words(at, &format!("{number}: {}", incident.name()), BLACK);
        }
    }
    canvas.line((LEFT, TIMELINE.1), (RIGHT, TIMELINE.1), 1.0, BLACK);
    let mut hours = 0_u32;
    while f64::from(hours) * 3600.0 < world.seconds() && hours < 24 {
        let x = along(world, f64::from(hours) * 3600.0);
        canvas.words((x.min(WIDTH - 40.0), TIMELINE.1 + 10.0), &format!("{hours} h"), BLACK);
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
