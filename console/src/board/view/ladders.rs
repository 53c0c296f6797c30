//! The Board's grid: a ladder is a row, its rungs stand in it from left to right.
//!
//! Rows are as high as the room allows: with a curve, with three lines, two, or one; then they
//! are scrolled, and the sick ones out of view are named.

use crate::board;
use crate::board::cell::{Cell, Fill, cell, ladder};
use crate::board::order::ladders;
use crate::commands::{OF_LADDER, OF_RUNG};
use crate::dialog;
use crate::panel::Scene;
use crate::panel::acts::menu;
use crate::theme::{BLOCK, ON_BLOCK, mono};

use eframe::egui::{
    Align2, Color32, Pos2, Rect, Response, ScrollArea, Sense, Shape, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, accesskit::Role, pos2, vec2,
};
use shared::admin::{LadderState, RungState};
use shared::diagnose::{is_failing, is_out};
use shared::figures::UNKNOWN;

/// The ladder's own column.
const LADDER: f32 = 186.0;
/// A rung's column.
const LEAST: f32 = 120.0;
const WIDEST: f32 = 200.0;
/// Heights of a row: eight lines with a curve, three lines, two, one.
const ROWS: [f32; 4] = [119.0, 47.0, 33.0, 19.0];
/// At the most so many ladders have a curve.
const WITH_CURVE: usize = 4;
/// A line of text.
const LINE: f32 = 14.0;
const PAD: f32 = 5.0;
/// Rungs of a ladder that are shown; the last cell counts the others.
const MOST: usize = 6;

/// The height of a row for so many ladders in so much room.
#[must_use]
pub fn row_height(count: usize, room: f32) -> f32 {
    let fits = |row: &f32| {
        let curve = *row > ROWS[1];
        count as f32 * row <= room && !(curve && count > WITH_CURVE)
    };
    ROWS.into_iter().find(|row| fits(row)).unwrap_or(ROWS[3])
}

/// What all cells of the grid have in common.
#[derive(Debug, Clone, Copy)]
struct Grid {
    columns: usize,
    width: f32,
    row: f32,
    /// How old everything is, if it is too old.
    stale: Option<i64>,
}

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let ladders = ladders(scene.model);
    let longest = ladders.iter().map(|ladder| ladder.order.len()).max().unwrap_or(1);
    let columns = longest.clamp(1, MOST);
    let room = ui.available_width() - LADDER;
    let width = (room / columns as f32).clamp(LEAST, WIDEST);
    let stale = scene.model.is_stale(scene.now);
    let age = scene.model.lead().and_then(|known| known.age(scene.now));
    let stale = stale.then(|| age.unwrap_or(0));
    head(ui, scene, columns, width);
    let row = row_height(ladders.len(), ui.available_height());
    let grid = Grid { columns, width, row, stale };
    let fits = ladders.len() as f32 * row <= ui.available_height();
    let strip = if fits { 0.0 } else { LINE + 4.0 };
    let tall = ui.available_height() - strip;
    let area = ScrollArea::both().id_salt("board").auto_shrink([false, false]).max_height(tall);
    let shown = area.show(ui, |ui| {
        ui.spacing_mut().item_spacing = Vec2::ZERO;
        for state in &ladders {
            let row = ui.horizontal(|ui| one(ui, scene, state, grid)).response.rect;
            // What keeps the eye on a row of cells that are not filled.
            let under = Stroke::new(1.0, scene.colours.line);
            ui.painter().hline(ui.max_rect().x_range(), row.max.y - 0.5, under);
        }
        ui.clip_rect()
    });
    if !fits {
        let top = shown.state.clamped_offset().y;
        out_of_view(ui, scene, &ladders, top / row, (top + shown.inner.height()) / row);
    }
}

fn one(ui: &mut Ui, scene: &mut Scene<'_>, state: &LadderState, grid: Grid) {
    let (mut words, mut hurt) =
        ladder(state, scene.model.board().map_or(0, |board| board.unpriced(state)));
    if grid.stale.is_some() {
        // Rates of a moment that is gone are no rates.
        let name = std::mem::take(&mut words[0]);
        words = [name, format!(" fail {UNKNOWN}"), format!(" p95 {UNKNOWN}")];
        hurt = false;
    }
    let selected = scene.model.selected.clone();
    let chosen = selected.ladder.as_ref() == Some(&state.name);
    let cell = ladder_cell(ui, scene, &words, hurt, chosen && selected.rung.is_none(), grid);
    if chosen {
        follow(ui, &cell);
    }
    let select = || board::Msg::Select { ladder: Some(state.name.clone()), rung: None }.into();
    menu(&cell, scene, &OF_LADDER, select);
    if cell.clicked() {
        scene.send(select());
    }
    for (place, name) in state.order.iter().enumerate().take(grid.columns) {
        let more = state.order.len() - grid.columns.min(state.order.len());
        if place + 1 == grid.columns && more > 0 {
            text_cell(ui, scene, grid, &format!("+{}", more + 1));
            continue;
        }
        let Some(rung) = scene.model.rung(name) else {
            text_cell(ui, scene, grid, name);
            continue;
        };
        // The same rung lights up wherever it stands.
        let mark = match (selected.rung.as_ref() == Some(name), chosen) {
            (true, true) => Badge::Chosen,
            (true, false) => Badge::Same,
            _ => Badge::No,
        };
        let cell = rung_cell(ui, scene, state, rung, mark, grid);
        let select = || {
            let (ladder, rung) = (Some(state.name.clone()), Some(name.clone()));
            board::Msg::Select { ladder, rung }.into()
        };
        menu(&cell, scene, &OF_RUNG, select);
        if cell.clicked() {
            scene.send(select());
        }
        if let Some(to) = dropped_at(&cell, place, state.order.len(), grid) {
            scene.send(select());
            scene.send(dialog::Open::Move { from: place, to });
        }
    }
}

/// The place of its ladder onto which the rung at `place` was dragged, if it was.
fn dropped_at(cell: &Response, place: usize, count: usize, grid: Grid) -> Option<usize> {
    let pointer = cell.interact_pointer_pos().filter(|_| cell.drag_stopped())?;
    #[expect(clippy::cast_possible_truncation, reason = "a few columns")]
    let by = ((pointer.x - cell.rect.center().x) / grid.width).round() as isize;
    let to = place.saturating_add_signed(by).min(count.saturating_sub(1));
    (to != place).then_some(to)
}

/// Keeps the selected row in view, when it was selected just now.
fn follow(ui: &Ui, cell: &Response) {
    let place = eframe::egui::Id::unique("followed");
    let known = ui.data(|data| data.get_temp::<eframe::egui::Id>(place));
    if known != Some(cell.id) {
        ui.data_mut(|data| data.insert_temp(place, cell.id));
        cell.scroll_to_me(None);
    }
}

/// The sick ladders above and below what is seen.
fn out_of_view(ui: &mut Ui, scene: &Scene<'_>, ladders: &[&LadderState], top: f32, end: f32) {
    let now = scene.relay_now();
    let is_sick = |ladder: &LadderState| {
        let rungs = ladder.order.iter().filter_map(|name| scene.model.rung(name));
        ladder.users.failed + ladder.users.broken > 0
            || rungs.into_iter().any(|rung| is_out(rung, now) || is_failing(rung))
    };
    let mut names = Vec::new();
    for (place, ladder) in ladders.iter().enumerate() {
        let at = place as f32;
        if is_sick(ladder) && (at + 0.5 < top || at + 0.5 > end) {
            let way = if at < top { "↑" } else { "↓" };
            names.push(format!("{way} {}", ladder.name));
        }
    }
    let hidden = ladders.len() as f32 - (end - top);
    let text = match names.is_empty() {
        true => format!("{hidden:.0} ladders out of view, none of them sick"),
        false => format!("sick and out of view: {}", names.join("  ")),
    };
    crate::panel::cut(
        ui,
        text,
        if names.is_empty() { scene.colours.dim } else { scene.colours.bad },
    );
}

/// Whether a cell is the selected one, or the same rung elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Badge {
    No,
    Same,
    Chosen,
}

fn head(ui: &mut Ui, scene: &Scene<'_>, columns: usize, width: f32) {
    let size = vec2(LADDER + width * columns as f32, LINE + 2.0);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    let painter = ui.painter();
    let dim = scene.colours.dim;
    let title =
        if scene.model.worst_first.is_some() { "LADDER, worst first (w)" } else { "LADDER" };
    painter.text(rect.min, Align2::LEFT_TOP, title, mono(), dim);
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
    grid: Grid,
) -> Response {
    let colours = scene.colours;
    let (rect, response) = ui.allocate_exact_size(vec2(LADDER, grid.row), Sense::click());
    if chosen {
        ui.painter().rect_filled(rect.shrink(1.0), 2.0, colours.chosen);
    }
    let second = if hurt { colours.bad } else { colours.dim };
    let first = if hurt { colours.bad } else { colours.text };
    let all = [(&words[0], first), (&words[1], second), (&words[2], colours.dim)];
    lines(ui, rect, &all);
    let name = words.iter().map(|words| words.trim()).collect::<Vec<_>>().join(", ");
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
    response
}

fn text_cell(ui: &mut Ui, scene: &Scene<'_>, grid: Grid, text: &str) {
    let (rect, _) = ui.allocate_exact_size(vec2(grid.width, grid.row), Sense::hover());
    lines(ui, rect, &[(&text.to_owned(), scene.colours.dim)]);
}

fn rung_cell(
    ui: &mut Ui,
    scene: &Scene<'_>,
    state: &LadderState,
    rung: &RungState,
    mark: Badge,
    grid: Grid,
) -> Response {
    let colours = scene.colours;
    let step = state.steps.iter().find(|step| step.rung == rung.name);
    let spread = scene.model.spread(&rung.name);
    let mut said = cell(rung, step, scene.relay_now(), grid.stale, spread);
    let sense = Sense::click_and_drag();
    let (rect, response) = ui.allocate_exact_size(vec2(grid.width, grid.row), sense);
    let inner = rect.shrink(1.5);
    if mark != Badge::No {
        ui.painter().rect_filled(inner, 2.0, colours.chosen);
    }
    let (head, rest) = fill(ui, inner, &said, scene);
    if mark == Badge::Chosen {
        let stroke = Stroke::new(2.0, colours.text);
        ui.painter().rect_stroke(rect.shrink(0.5), 2.0, stroke, StrokeKind::Inside);
    }
    let marked = scene.model.marked.contains(&rung.name);
    if marked {
        said.head = format!("+{}", said.head);
        said.spoken = format!("{}, marked", said.spoken);
        let left = [inner.left_top(), inner.left_bottom()];
        ui.painter().line_segment(left, Stroke::new(3.0, colours.hand));
    }
    if grid.row < ROWS[2] {
        // One line has to do.
        let text = format!("{} {}", said.head, said.second);
        lines(ui, rect, &[(&text, head)]);
    } else {
        lines(ui, rect, &[(&said.head, head), (&said.second, rest), (&said.third, rest)]);
    }
    if grid.row > ROWS[1]
        && grid.stale.is_none()
        && let Some(spark) = &rung.past.spark
    {
        let poor: Vec<u32> = spark.slow.iter().zip(&spark.bad).map(|(a, b)| a + b).collect();
        let mut place = inner.shrink(4.0);
        place.min.y += 3.0 * LINE + 2.0;
        let fits = said.fill != Fill::Block;
        // On a block nothing but its text can be read.
        if fits {
            let curves = (&spark.p95_ms[..], &poor[..], rung.now.mark_ms);
            super::curve::draw(&ui.painter_at(place), place, colours, curves);
        }
    }
    let is_chosen = mark == Badge::Chosen;
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_chosen, &said.spoken));
    response.on_hover_text(&said.spoken)
}

/// Fills a cell; gives the colours of its first line and of the others.
fn fill(ui: &Ui, inner: Rect, said: &Cell, scene: &Scene<'_>) -> (Color32, Color32) {
    let colours = scene.colours;
    let painter = ui.painter();
    match said.fill {
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
    }
}

fn lines(ui: &Ui, rect: Rect, words: &[(&String, Color32)]) {
    let clip = ui.painter().with_clip_rect(rect.shrink(1.0).intersect(ui.clip_rect()));
    for (number, (words, colour)) in words.iter().enumerate() {
        let at: Pos2 = rect.min + vec2(PAD, 4.0 + LINE * number as f32);
        if at.y + LINE > rect.max.y + 1.0 {
            break;
        }
        clip.text(at, Align2::LEFT_TOP, words, mono(), *colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_as_high_as_the_room_allows() {
        for (count, room, height) in [
            (1, 590.0, 119.0),
            (4, 590.0, 119.0),
            (5, 900.0, 47.0),
            (12, 590.0, 47.0),
            (13, 590.0, 33.0),
            (17, 590.0, 33.0),
            (18, 590.0, 19.0),
            (30, 590.0, 19.0),
            (60, 590.0, 19.0),
        ] {
            assert!((row_height(count, room) - height).abs() < 0.1, "{count}");
        }
    }
}
