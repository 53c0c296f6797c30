//! The Board's grid: a ladder is a row, its rungs stand in it from left to right.

use super::Scene;
use crate::cell::{Cell, Fill, cell, ladder};
use crate::theme::{BLOCK, ON_BLOCK, mono};
use crate::update::Msg;
use eframe::egui::{
    Align2, Color32, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, Ui, Vec2, WidgetInfo,
    accesskit::Role, pos2, vec2,
};

/// The ladder's own column.
const LADDER: f32 = 186.0;
/// A rung's column at the least.
const LEAST: f32 = 120.0;
/// A row with three lines.
const ROW: f32 = 47.0;
/// A line of text.
const LINE: f32 = 14.0;
const PAD: f32 = 4.0;
/// Rungs of a ladder that are shown; the last cell counts the others.
const MOST: usize = 6;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let Some(board) = scene.model.board() else { return };
    let longest = board.ladders.iter().map(|ladder| ladder.order.len()).max().unwrap_or(1);
    let columns = longest.clamp(1, MOST);
    let room = ui.available_width() - LADDER;
    let width = (room / columns as f32).clamp(LEAST, 200.0);
    head(ui, scene, columns, width);
    let stale = scene.model.is_stale(scene.now);
    let age = scene.model.relay().and_then(|known| known.age(scene.now));
    let stale = stale.then(|| age.unwrap_or(0));
    let now = scene.relay_now();
    for state in &board.ladders {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing = Vec2::ZERO;
            let (words, hurt) = ladder(state);
            let chosen = scene.model.selected.ladder.as_ref() == Some(&state.name)
                && scene.model.selected.rung.is_none();
            if ladder_cell(ui, scene, &words, hurt, chosen).clicked() {
                scene.out.push(Msg::Select { ladder: Some(state.name.clone()), rung: None });
            }
            for (place, name) in state.order.iter().enumerate().take(columns) {
                let more = state.order.len() - columns.min(state.order.len());
                if place + 1 == columns && more > 0 {
                    text_cell(ui, scene, width, &format!("+{}", more + 1));
                    continue;
                }
                let Some(rung) = board.rungs.iter().find(|rung| rung.name == *name) else {
                    text_cell(ui, scene, width, name);
                    continue;
                };
                let step = state.steps.iter().find(|step| step.rung == *name);
                let said = cell(rung, step, now, stale);
                let selected = &scene.model.selected;
                let is_rung = selected.rung.as_ref() == Some(name);
                let is_here = selected.ladder.as_ref() == Some(&state.name);
                // The same rung lights up wherever it stands.
                let mark = match (is_rung, is_here) {
                    (true, true) => Mark::Chosen,
                    (true, false) => Mark::Same,
                    _ => Mark::No,
                };
                if rung_cell(ui, scene, width, &said, mark).clicked() {
                    let (ladder, rung) = (Some(state.name.clone()), Some(name.clone()));
                    scene.out.push(Msg::Select { ladder, rung });
                }
            }
        });
    }
}

/// Whether a cell is the selected one, or the same rung elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    No,
    Same,
    Chosen,
}

fn head(ui: &mut Ui, scene: &Scene<'_>, columns: usize, width: f32) {
    let size = vec2(LADDER + width * columns as f32, LINE + 2.0);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter();
    let dim = scene.colours.dim;
    painter.text(rect.min, Align2::LEFT_TOP, "LADDER", mono(), dim);
    for column in 0..columns {
        let at = pos2(rect.min.x + LADDER + width * column as f32 + PAD, rect.min.y);
        painter.text(at, Align2::LEFT_TOP, format!("{}", column + 1), mono(), dim);
    }
}

fn ladder_cell(
    ui: &mut Ui,
    scene: &Scene<'_>,
    words: &[String; 3],
    hurt: bool,
    chosen: bool,
) -> Response {
    let colours = scene.colours;
    let (rect, response) = ui.allocate_exact_size(vec2(LADDER, ROW), Sense::click());
    if chosen {
        ui.painter().rect_filled(rect.shrink(1.0), 2.0, colours.chosen);
    }
    let second = if hurt { colours.bad } else { colours.dim };
    let all = [(&words[0], colours.text), (&words[1], second), (&words[2], colours.dim)];
    lines(ui, rect, &all);
    let name = words.iter().map(|words| words.trim()).collect::<Vec<_>>().join(", ");
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    response
}

fn text_cell(ui: &mut Ui, scene: &Scene<'_>, width: f32, text: &str) {
    let (rect, _) = ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
    lines(ui, rect, &[(&text.to_owned(), scene.colours.dim)]);
}

fn rung_cell(ui: &mut Ui, scene: &Scene<'_>, width: f32, said: &Cell, mark: Mark) -> Response {
    let colours = scene.colours;
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), Sense::click());
    let inner = rect.shrink(1.5);
    let painter = ui.painter();
    if mark != Mark::No {
        painter.rect_filled(inner, 2.0, colours.chosen);
    }
    let (head, rest) = match said.fill {
        Fill::None => (colours.text, colours.dim),
        Fill::Tint => {
            painter.rect_filled(inner, 2.0, colours.tint(colours.warn));
            (colours.warn, colours.warn)
        }
        Fill::Block => {
            painter.rect_filled(inner, 2.0, BLOCK);
            (ON_BLOCK, ON_BLOCK)
        }
        Fill::Outline => {
            let stroke = Stroke::new(1.5, colours.hand);
            painter.rect_stroke(inner, 2.0, stroke, StrokeKind::Inside);
            (colours.hand, colours.hand)
        }
        Fill::Dashed => {
            let corners = [
                inner.left_top(),
                inner.right_top(),
                inner.right_bottom(),
                inner.left_bottom(),
                inner.left_top(),
            ];
            let stroke = Stroke::new(1.0, colours.dim);
            painter.extend(Shape::dashed_line(&corners, stroke, 4.0, 3.0));
            (colours.dim, colours.dim)
        }
    };
    if mark == Mark::Chosen {
        let stroke = Stroke::new(2.0, colours.text);
        painter.rect_stroke(rect.shrink(0.5), 2.0, stroke, StrokeKind::Inside);
    }
    lines(ui, rect, &[(&said.head, head), (&said.second, rest), (&said.third, rest)]);
    let is_chosen = mark == Mark::Chosen;
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, &said.spoken));
    response.on_hover_text(&said.spoken)
}

fn lines(ui: &Ui, rect: Rect, words: &[(&String, Color32)]) {
    let clip = ui.painter().with_clip_rect(rect.shrink(2.0).intersect(ui.clip_rect()));
    for (number, (words, colour)) in words.iter().enumerate() {
        let at: Pos2 = rect.min + vec2(PAD, 2.0 + LINE * number as f32);
        clip.text(at, Align2::LEFT_TOP, words, mono(), *colour);
    }
}
