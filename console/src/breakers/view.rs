//! Breakers: how they turned and what operators did, over first-token times and failures.

use super::curve::{Step, curve, goes_on};
use super::state::SPANS;
use crate::board;
use crate::board::cell::worst;
use crate::breakers;
use crate::msg::Msg;
use crate::panel::acts::hint;
use crate::panel::{Scene, cut, line, strong};
use crate::theme::{BLOCK, mono};
use eframe::egui::{
    Align2, CentralPanel, Color32, Frame, Margin, Painter, Panel, Pos2, Rect, RichText, ScrollArea,
    Sense, Shape, Stroke, Ui, WidgetInfo, accesskit::Role, pos2, vec2,
};
use shared::admin::actions::ActionKind;
use shared::figures::{span, wait};
use shared::{BreakerState, UnixMillis, Word};

/// Rungs that have a line, the worst first.
const WORST: usize = 6;
/// Width of the names.
const NAME: f32 = 200.0;
const ROW: f32 = 17.0;
const CURVE: f32 = 84.0;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let frame = Frame::new().fill(scene.colours.ground).inner_margin(Margin::symmetric(6, 4));
    Panel::top("curves").frame(frame).show(ui, |ui| {
        spans(ui, scene);
        timeline(ui, scene);
    });
    CentralPanel::default().frame(frame).show(ui, |ui| transitions(ui, scene));
}

fn spans(ui: &mut Ui, scene: &mut Scene<'_>) {
    ui.horizontal_wrapped(|ui| {
        for (place, (words, ..)) in SPANS.into_iter().enumerate() {
            let chosen = place == scene.model.breakers.span;
            if ui.selectable_label(chosen, RichText::new(words).font(mono())).clicked() {
                scene.send(breakers::Msg::Span(place));
            }
        }
        let cursor = scene.model.breakers.cursor;
        let end = scene.model.breakers.window.map(|(_, until)| scene.clock(until));
        let end = end.unwrap_or_default();
        let at = cursor.map_or_else(|| format!("at the end, {end}"), |at| scene.clock(at));
        hint(ui, scene, ". span", Msg::Next);
        let text = format!("· ← → or a click: cursor {at} {} · ↑ ↓ rung ·", scene.zone());
        line(ui, text, scene.colours.dim);
        hint(ui, scene, "Enter history there", Msg::Enter);
    });
}

/// Where moments are within a width.
#[derive(Debug, Clone, Copy)]
struct Time {
    since: i64,
    until: i64,
    left: f32,
    width: f32,
}

impl Time {
    fn x(&self, at: i64) -> f32 {
        let whole = (self.until - self.since).max(1) as f32;
        self.left + self.width * ((at - self.since) as f32 / whole).clamp(0.0, 1.0)
    }

    /// The moment at `x`; `None`: that is beside the time.
    fn at(&self, x: f32) -> Option<UnixMillis> {
        let share = (x - self.left) / self.width;
        #[expect(clippy::cast_possible_truncation, reason = "within the window")]
        let ahead = ((self.until - self.since) as f32 * share) as i64;
        (0.0..=1.0).contains(&share).then(|| UnixMillis(self.since + ahead))
    }
}

fn timeline(ui: &mut Ui, scene: &mut Scene<'_>) {
    let Some(board) = scene.model.board() else { return };
    let Some((since, until)) = scene.model.breakers.window else { return };
    let left = ui.cursor().min.x + NAME;
    let width = (ui.available_width() - NAME - 8.0).max(40.0);
    let time = Time { since: since.0, until: until.0, left, width };
    let mut clicked = axis(ui, scene, time);
    let rungs: Vec<String> =
        worst(&board.rungs).into_iter().take(WORST).map(|rung| rung.name.clone()).collect();
    for name in &rungs {
        let chosen = scene.model.selected.rung.as_ref() == Some(name);
        let on_it = states(ui, scene, time, name, chosen);
        if on_it.is_some() {
            scene.send(board::Msg::Select { ladder: None, rung: Some(name.clone()) });
        }
        clicked = clicked.or(on_it);
    }
    clicked = clicked.or(operators(ui, scene, time));
    let chosen = scene.model.selected.rung.as_ref().filter(|name| rungs.contains(name));
    if let Some(name) = chosen.or(rungs.first()) {
        clicked = clicked.or(curves(ui, scene, time, name));
    }
    if let Some(at) = clicked.and_then(|place| time.at(place.x)) {
        scene.send(breakers::Msg::Cursor(at));
    }
}

/// A row of the timeline: its place, its painter, and where it was clicked.
fn row(ui: &mut Ui, height: f32, name: &str) -> (Rect, Painter, Option<Pos2>) {
    let size = vec2(ui.available_width(), height);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
    let clicked = response.interact_pointer_pos().filter(|_| response.clicked());
    (rect, ui.painter_at(rect), clicked)
}

fn axis(ui: &mut Ui, scene: &Scene<'_>, time: Time) -> Option<Pos2> {
    const STEPS: [i64; 9] = [1, 2, 5, 15, 30, 60, 120, 240, 480];
    let (rect, painter, clicked) = row(ui, ROW, "time");
    let minutes = (time.until - time.since) / 60_000;
    let step = STEPS.into_iter().find(|step| minutes / step <= 9).unwrap_or(480) * 60_000;
    let mut at = time.since - time.since.rem_euclid(step) + step;
    while at <= time.until {
        let clock = scene.clock(UnixMillis(at));
        let text = clock.get(..5).unwrap_or_default().to_owned();
        painter.text(
            pos2(time.x(at), rect.min.y),
            Align2::CENTER_TOP,
            text,
            mono(),
            scene.colours.dim,
        );
        at += step;
    }
    cursor(&painter, scene, time, rect);
    clicked
}

fn cursor(painter: &Painter, scene: &Scene<'_>, time: Time, rect: Rect) {
    if let Some(at) = scene.model.breakers.cursor {
        let x = time.x(at.0);
        let ends = [pos2(x, rect.min.y), pos2(x, rect.max.y)];
        painter.line_segment(ends, Stroke::new(1.0, scene.colours.hand));
    }
}

/// How a rung's breaker stood: a line while it is closed, a block while it is open. Several
/// relays share the row.
fn states(ui: &mut Ui, scene: &Scene<'_>, time: Time, name: &str, chosen: bool) -> Option<Pos2> {
    let colours = scene.colours;
    let said = scene.model.rung(name).map_or("", |rung| rung.health.state.as_str());
    let (rect, painter, clicked) = row(ui, ROW, &format!("{name}, {}", said.replace('_', "-")));
    if chosen {
        painter.rect_filled(rect, 2.0, colours.chosen);
    }
    painter.text(rect.min, Align2::LEFT_TOP, name, mono(), colours.text);
    let relays: Vec<usize> = scene.model.breakers.transitions.keys().copied().collect();
    let each = (rect.height() - 4.0) / relays.len().max(1) as f32;
    for (place, relay) in relays.into_iter().enumerate() {
        let top = rect.min.y + 2.0 + each * place as f32;
        let board = scene.model.relays.get(relay).and_then(|known| known.board.as_ref());
        let rung = board.and_then(|board| board.rungs.iter().find(|rung| rung.name == name));
        let now = rung.map_or(Word::Known(BreakerState::Closed), |rung| rung.health.state.clone());
        let held = scene.model.breakers.states(relay, name, &now);
        for (number, (at, state)) in held.iter().enumerate() {
            let end = held.get(number + 1).map_or(time.until, |(at, _)| at.0);
            let (from, to) = (time.x(at.0), time.x(end).max(time.x(at.0) + 2.0));
            let area = Rect::from_min_max(pos2(from, top), pos2(to, top + each - 1.0));
            match state.known() {
                Some(BreakerState::Open) => {
                    painter.rect_filled(area, 0.0, BLOCK);
                }
                Some(BreakerState::HalfOpen) => {
                    painter.rect_filled(area, 0.0, colours.tint(colours.warn));
                    painter.rect_stroke(
                        area,
                        0.0,
                        Stroke::new(1.0, colours.warn),
                        eframe::egui::StrokeKind::Inside,
                    );
                }
                _ => {
                    let y = area.center().y;
                    let ends = [pos2(from, y), pos2(to, y)];
                    painter.line_segment(ends, Stroke::new(1.0, colours.dim));
                }
            }
        }
    }
    let forced = scene.model.rung(name).and_then(|rung| rung.forced.as_ref());
    if let Some(at) = forced.and_then(|forced| forced.at) {
        // An operator's hand lies over what the breaker says.
        let from = pos2(time.x(at.0), rect.min.y + 1.0);
        let over = Rect::from_min_max(from, pos2(time.left + time.width, rect.max.y - 1.0));
        let stroke = Stroke::new(1.5, colours.hand);
        painter.rect_stroke(over, 0.0, stroke, eframe::egui::StrokeKind::Inside);
    }
    cursor(&painter, scene, time, rect);
    clicked
}

/// What operators did and when configs were read.
fn operators(ui: &mut Ui, scene: &Scene<'_>, time: Time) -> Option<Pos2> {
    let colours = scene.colours;
    let (rect, painter, clicked) = row(ui, ROW, "operators");
    painter.text(rect.min, Align2::LEFT_TOP, "operators", mono(), colours.dim);
    let mut last = f32::MIN;
    let mut put = |at: i64, text: String, colour: Color32| {
        if at < time.since || at > time.until {
            return;
        }
        let x = time.x(at);
        let ends = [pos2(x, rect.min.y), pos2(x, rect.max.y)];
        painter.line_segment(ends, Stroke::new(1.0, colour));
        // Words that would lie on others are left out; the line stands.
        if x > last {
            let place =
                painter.text(pos2(x + 3.0, rect.min.y), Align2::LEFT_TOP, text, mono(), colour);
            last = place.max.x + 6.0;
        }
    };
    let mut rows = crate::actions::rows::rows(scene.model);
    rows.sort_by_key(|row| row.action.at);
    for row in rows.iter().filter(|row| row.action.kind != ActionKind::Check) {
        put(row.action.at.0, row.action.by.clone(), colours.hand);
    }
    let viewed = scene.model.viewed();
    let boards = viewed.iter().filter_map(|index| scene.model.relays.get(*index)?.board.as_ref());
    if let Some(at) = boards.map(|board| board.relay.config.loaded_at.0).max() {
        put(at, "config".to_owned(), colours.dim);
    }
    cursor(&painter, scene, time, rect);
    clicked
}

/// First-token times and the share of slow and bad calls of one rung.
fn curves(ui: &mut Ui, scene: &Scene<'_>, time: Time, name: &str) -> Option<Pos2> {
    let colours = scene.colours;
    let curve = curve(scene.model, name, scene.relay_now());
    let mark = scene.model.rung(name).and_then(|rung| rung.now.mark_ms);
    let top = curve.iter().filter_map(|step| step.p95_ms).chain(mark).max().unwrap_or(1).max(1);
    let (rect, painter, clicked) = row(ui, CURVE, &format!("{name}, first token p95"));
    painter.text(
        rect.min,
        Align2::LEFT_TOP,
        format!("{name} first token p95"),
        mono(),
        colours.text,
    );
    let below = rect.min + vec2(0.0, 15.0);
    let words = format!("up to {}, mark {} dashed", wait(Some(top)), wait(mark));
    painter.text(below, Align2::LEFT_TOP, words, mono(), colours.dim);
    let y = |ms: u64| rect.max.y - 3.0 - (rect.height() - 6.0) * (ms as f32 / top as f32);
    if let Some(mark) = mark {
        let ends = [pos2(time.left, y(mark)), pos2(time.left + time.width, y(mark))];
        painter.extend(Shape::dashed_line(&ends, Stroke::new(1.0, colours.dim), 4.0, 4.0));
    }
    let mut before: Option<(&Step, Pos2)> = None;
    for step in &curve {
        let Some(ms) = step.p95_ms else {
            before = None;
            continue;
        };
        let here = pos2(time.x(i64::midpoint(step.from, step.until)), y(ms));
        match before {
            // Never a line across a gap.
            Some((last, from)) if goes_on(last, step) => {
                painter.line_segment([from, here], Stroke::new(1.5, colours.text));
            }
            _ => {
                painter.circle_filled(here, 1.5, colours.text);
            }
        }
        before = Some((step, here));
    }
    cursor(&painter, scene, time, rect);
    let (rect, painter, below) = row(ui, 40.0, &format!("{name}, share of slow and bad calls"));
    painter.text(rect.min, Align2::LEFT_TOP, "slow and bad, share", mono(), colours.dim);
    for step in &curve {
        let share = step.ill_share;
        let tall = ((rect.height() - 4.0) * share).max(1.0);
        let (from, to) = (time.x(step.from), time.x(step.until));
        let area = Rect::from_min_max(
            pos2(from, rect.max.y - tall),
            pos2((to - 1.0).max(from + 1.0), rect.max.y),
        );
        painter.rect_filled(area, 0.0, if share > 0.0 { colours.bad } else { colours.line });
    }
    cursor(&painter, scene, time, rect);
    clicked.or(below)
}

fn transitions(ui: &mut Ui, scene: &Scene<'_>) {
    let colours = scene.colours;
    let rows = scene.model.breakers.rows();
    let several = scene.model.viewed().len() > 1;
    let asked = scene.model.breakers.transitions.values().any(crate::model::Loaded::is_loading);
    strong(ui, format!("{} transitions, newest first", rows.len()), colours.text);
    for page in scene.model.breakers.transitions.values() {
        if let crate::model::Loaded::Failed(why) = page {
            line(ui, why.to_string(), colours.warn);
        }
    }
    if rows.is_empty() {
        line(ui, if asked { "reading …" } else { "no breaker has turned" }, colours.dim);
    }
    let area = ScrollArea::vertical().auto_shrink([false, false]);
    area.show_rows(ui, 15.0, rows.len(), |ui, range| {
        for (relay, row) in rows.get(range).unwrap_or_default() {
            let on = if several {
                format!("{:<10} ", scene.model.names(&[*relay]))
            } else {
                String::new()
            };
            let figures = match (row.slow, row.bad, row.n) {
                (Some(slow), Some(bad), Some(n)) if n > 0 => {
                    format!("  {slow} slow, {} bad of {n}", bad.saturating_sub(slow))
                }
                _ => String::new(),
            };
            let ago = span(scene.relay_now().0 - row.at.0);
            let text = format!(
                "{} {ago:>7} ago  {on}{:<16} {:>9} → {:<9}  {}{figures}",
                scene.clock(row.at),
                row.rung,
                row.before.as_ref().map_or_else(|| "start".to_owned(), |state| state.spaced("-")),
                row.after.spaced("-"),
                row.text
            );
            let colour = if row.after == BreakerState::Open { colours.bad } else { colours.dim };
            cut(ui, text, colour);
        }
    });
}
