//! The plot: the share of requests that still wait, over time, and when requests were hurt.

use crate::Res;
use crate::oracle::Oracles;
use epaint_default_fonts::UBUNTU_LIGHT;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::register_font;
use simulate::policies::Policy;
use simulate::run::{Outcome, Record};
use simulate::stats::{Figures, HURT};
use simulate::world::World;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

const SIZE: (u32, u32) = (1200, 1140);
/// Heights of the table of figures and of the curves; the timeline has the rest.
const TABLE: u32 = 200;
const CURVES: u32 = 560;
const FONT: (&str, u32) = ("sans-serif", 17);
const BAND: RGBColor = RGBColor(252, 236, 214);
/// The least share that is drawn.
const LEAST: f64 = 1e-4;
/// Steps of a curve, evenly over the logarithm of the time.
const STEPS: u32 = 600;
/// The timeline counts in parts of this length.
const PART: f64 = 60.0;
/// The policies in the timeline; more would hide each other.
const SHOWN: [Policy; 2] = [Policy::Timeout, Policy::Ours];
/// More incidents than this are not named: their bands are too narrow for a number.
const NAMED: usize = 12;

const fn colour(policy: Policy) -> RGBColor {
    match policy {
        Policy::Timeout => RGBColor(200, 60, 50),
        Policy::CoolDown => RGBColor(225, 140, 40),
        Policy::FixedHedge => RGBColor(150, 110, 190),
        Policy::HedgeOnly => RGBColor(90, 90, 200),
        Policy::BreakerOnly => RGBColor(60, 150, 170),
        Policy::Ours => RGBColor(20, 130, 60),
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
    register_font("sans-serif", FontStyle::Normal, UBUNTU_LIGHT)
        .map_err(|_invalid| "the font of the plot cannot be read")?;
    let mut dots = vec![255; usize::try_from(SIZE.0 * SIZE.1 * 3)?];
    let area = BitMapBackend::with_buffer(&mut dots, SIZE).into_drawing_area();
    area.fill(&WHITE)?;
    let (top, rest) = area.split_vertically(TABLE);
    let (middle, bottom) = rest.split_vertically(CURVES);
    table(&top, title, records, oracles)?;
    curves(&middle, records, oracles)?;
    timeline(&bottom, world, records)?;
    area.present()?;
    drop((area, top, rest, middle, bottom));
    save(path, &dots)
}

fn words(area: &Area<'_>, at: (i32, i32), words: &str, colour: RGBColor) -> Res<()> {
    area.draw(&Text::new(words.to_owned(), at, FONT.into_font().color(&colour)))?;
    Ok(())
}

/// The figures of each, in its colour.
fn table(area: &Area<'_>, title: &str, records: &[(Policy, Record)], oracles: &Oracles) -> Res<()> {
    let row = |y: i32, cells: [&str; 5], colour| -> Res<()> {
        for (cell, x) in cells.into_iter().zip([70, 360, 460, 560, 660]) {
            words(area, (x, y), cell, colour)?;
        }
        Ok(())
    };
    words(area, (70, 16), title, BLACK)?;
    row(42, ["", "p50", "p99", "p99.9", "extra calls"], BLACK)?;
    let mut rows: Vec<(&str, Figures, RGBColor)> = records
        .iter()
        .map(|(policy, record)| (policy.name(), Figures::of(record), colour(*policy)))
        .collect();
    rows.push(("oracle that knows the incident", oracles.aware_tail.figures, BLACK));
    for ((name, figures, colour), y) in rows.into_iter().zip((62..).step_by(20)) {
        let Figures { p50, p99, p999, extra, .. } = figures;
        let seconds = |time: f64| format!("{time:.2} s");
        let extra = format!("{:.1} %", extra * 100.0);
        row(y, [name, &seconds(p50), &seconds(p99), &seconds(p999), &extra], colour)?;
    }
    Ok(())
}

fn curves(area: &Area<'_>, records: &[(Policy, Record)], oracles: &Oracles) -> Res<()> {
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_right(30)
        .x_label_area_size(46)
        .y_label_area_size(80)
        .build_cartesian_2d((0.1..100.0).log_scale(), (LEAST..1.0).log_scale())?;
    chart
        .configure_mesh()
        .label_style(FONT)
        .x_desc("share of requests that still wait for their first token, after so many seconds")
        .x_label_formatter(&|seconds| format!("{seconds} s"))
        .y_label_formatter(&|share| format!("{} %", (share * 1e6).round() / 1e4))
        .draw()?;
    for (policy, record) in records {
        let times = record.outcomes.iter().map(|outcome| outcome.ttft).collect();
        chart.draw_series(LineSeries::new(waiting(times), colour(*policy).stroke_width(3)))?;
    }
    let oracle = oracles.aware_tail.times.clone();
    chart.draw_series(LineSeries::new(waiting(oracle), &BLACK))?;
    Ok(())
}

/// The share of `times` that are longer than a time, for each time.
fn waiting(mut times: Vec<f64>) -> Vec<(f64, f64)> {
    times.sort_by(f64::total_cmp);
    let count = times.len().max(1) as f64;
    let at = |step: u32| 10_f64.powf(3.0 * f64::from(step) / f64::from(STEPS) - 1.0);
    let longer = |seconds: f64| times.len() - times.partition_point(|time| *time <= seconds);
    let points = (0..=STEPS).map(at).map(|seconds| (seconds, longer(seconds) as f64 / count));
    points.take_while(|(_, share)| *share >= LEAST).collect()
}

fn timeline(area: &Area<'_>, world: &World, records: &[(Policy, Record)]) -> Res<()> {
    let hours = |seconds: f64| seconds / 3600.0;
    let shown = || records.iter().filter(|(policy, _)| SHOWN.contains(policy));
    let most = shown().flat_map(|(_, record)| minutes(&record.outcomes)).max().unwrap_or(1).max(1);
    let named = world.incidents.len() <= NAMED;
    let (area, names) = area.split_vertically(if named { 290 } else { 370 });
    let mut chart = ChartBuilder::on(&area)
        .margin(12)
        .margin_right(30)
        .x_label_area_size(46)
        .y_label_area_size(80)
        .build_cartesian_2d(0.0..hours(world.seconds()).max(0.1), 0..most + most / 8 + 1)?;
    let end = |to: f64| hours(to.min(world.seconds()));
    chart.draw_series(world.incidents.iter().map(|incident| {
        let corners = [(hours(incident.from), 0), (end(incident.to), most)];
        Rectangle::new(corners, BAND.filled())
    }))?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .max_light_lines(0)
        .label_style(FONT)
        .x_desc("requests that waited over 3 s, in each minute: time-out and belay")
        .x_label_formatter(&|hours| format!("{hours:.1} h"))
        .draw()?;
    for (policy, record) in shown() {
        let counts = minutes(&record.outcomes).into_iter().zip(0_u32..);
        let points = counts.map(|(count, part)| (hours((f64::from(part) + 0.5) * PART), count));
        chart.draw_series(LineSeries::new(points, colour(*policy).stroke_width(2)))?;
    }
    if !named {
        return Ok(());
    }
    chart.draw_series(world.incidents.iter().zip(1..).map(|(incident, number)| {
        let middle = (hours(incident.from) + end(incident.to)) / 2.0;
        Text::new(number.to_string(), (middle, most + most / 8), FONT)
    }))?;
    for (incident, place) in world.incidents.iter().zip(0_i32..) {
        let at = (70 + 370 * (place % 3), 4 + 20 * (place / 3));
        words(&names, at, &format!("{}: {}", place + 1, incident.name()), BLACK)?;
    }
    Ok(())
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

fn save(path: &Path, dots: &[u8]) -> Res<()> {
    let file = BufWriter::new(File::create(path)?);
    let mut encoder = png::Encoder::new(file, SIZE.0, SIZE.1);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(dots)?;
    writer.finish()?;
    Ok(())
}
