//! Breakers: when they turned and why, beside each rung's first-token times of late.

use super::{Scene, line, strong};
use crate::model::Loaded;
use eframe::egui::{CentralPanel, Frame, Margin, Panel, ScrollArea, Sense, Stroke, Ui, pos2, vec2};
use shared::admin::RungState;
use shared::figures::wait;

/// Rungs whose curves are drawn, the worst first.
const WORST: usize = 6;
const HEIGHT: f32 = 52.0;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let frame = Frame::new().fill(scene.colours.ground).inner_margin(Margin::symmetric(6, 4));
    Panel::top("curves").frame(frame).show(ui, |ui| curves(ui, scene));
    CentralPanel::default().frame(frame).show(ui, |ui| transitions(ui, scene));
}

fn transitions(ui: &mut Ui, scene: &Scene<'_>) {
    let colours = scene.colours;
    strong(ui, "transitions, newest first", colours.text);
    match &scene.model.transitions {
        Loaded::No | Loaded::Asked => line(ui, "reading …", colours.dim),
        Loaded::Failed(why) => line(ui, why.clone(), colours.warn),
        Loaded::Come(page) => {
            if page.items.is_empty() {
                line(ui, "no breaker has turned", colours.dim);
            }
            let area = ScrollArea::vertical().auto_shrink([false, false]);
            area.show_rows(ui, 15.0, page.items.len(), |ui, range| {
                for row in page.items.get(range).unwrap_or_default() {
                    let text = format!(
                        "{}  {:<16} {:>9} → {:<9}  {}",
                        scene.clock(row.at),
                        row.rung,
                        row.before.as_deref().unwrap_or("start"),
                        row.after,
                        row.text
                    );
                    let colour = if row.after == "open" { colours.bad } else { colours.dim };
                    line(ui, text, colour);
                }
            });
        }
    }
}

/// The rungs to look at first: those that are out or away, then by share of slow and bad.
#[must_use]
pub fn worst(rungs: &[RungState]) -> Vec<&RungState> {
    let poor = |rung: &RungState| {
        let away = u64::from(rung.health.sick_since_at.is_some()) * 1_000_000;
        away + (rung.now.slow + rung.now.bad) * 1_000 / rung.now.calls.max(1)
    };
    let mut all: Vec<&RungState> = rungs.iter().collect();
    all.sort_by_key(|rung| std::cmp::Reverse(poor(rung)));
    all.truncate(WORST);
    all
}

fn curves(ui: &mut Ui, scene: &Scene<'_>) {
    let Some(board) = scene.model.board() else { return };
    let colours = scene.colours;
    line(
        ui,
        "first token p95, last 15 min; the mark dashed; a gap where nothing was called",
        colours.dim,
    );
    for rung in worst(&board.rungs) {
        let Some(spark) = &rung.past.spark else { continue };
        let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
        let painter = ui.painter_at(rect);
        let font = crate::theme::mono;
        let top = spark.p95_ms.iter().flatten().copied().max().unwrap_or(0);
        let top = top.max(rung.now.mark_ms.unwrap_or(0)).max(1);
        let words = format!("{:<16} up to {}", rung.name, wait(Some(top)));
        let align = eframe::egui::Align2::LEFT_TOP;
        painter.text(rect.min, align, words, font(), colours.text);
        let left = rect.min.x + 240.0;
        let room = (rect.max.x - left).max(1.0);
        let steps = spark.p95_ms.len().max(2) as f32;
        let x = |step: usize| left + room * step as f32 / (steps - 1.0);
        let y = |ms: u64| rect.max.y - 2.0 - (HEIGHT - 6.0) * (ms as f32 / top as f32);
        if let Some(mark) = rung.now.mark_ms {
            let line = [pos2(left, y(mark)), pos2(rect.max.x, y(mark))];
            let stroke = Stroke::new(1.0, colours.dim);
            painter.extend(eframe::egui::Shape::dashed_line(&line, stroke, 4.0, 4.0));
        }
        let mut last = None;
        for (step, p95) in spark.p95_ms.iter().enumerate() {
            let Some(p95) = p95 else {
                last = None;
                continue;
            };
            let here = pos2(x(step), y(*p95));
            if let Some(before) = last {
                painter.line_segment([before, here], Stroke::new(1.5, colours.text));
            } else {
                painter.circle_filled(here, 1.5, colours.text);
            }
            last = Some(here);
        }
        let poor: Vec<u32> =
            spark.slow.iter().zip(&spark.bad).map(|(slow, bad)| slow + bad).collect();
        for (step, count) in poor.iter().enumerate().filter(|(_, count)| **count > 0) {
            let tall = (*count as f32).min(10.0);
            let foot = pos2(x(step), rect.max.y);
            painter.line_segment([foot, foot - vec2(0.0, tall)], Stroke::new(3.0, colours.bad));
        }
    }
    ui.separator();
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::admin::sample;

    #[test]
    fn the_sick_come_first_then_those_that_are_late() {
        let mut rungs = ["a", "b", "c"].map(sample::rung).to_vec();
        rungs[1].now.calls = 10;
        rungs[1].now.slow = 5;
        rungs[2].health.sick_since_at = Some(sample::before(60));
        let names: Vec<&str> = worst(&rungs).iter().map(|rung| rung.name.as_str()).collect();
        assert_eq!(names, ["c", "b", "a"]);
    }
}
