//! History: the requests that passed the filter, and the selected one as a waterfall.

use super::{Scene, line, strong};
use crate::history::Preset;
use crate::model::Loaded;
use crate::theme::mono;
use crate::update::Msg;
use eframe::egui::{
    Align2, CentralPanel, Frame, Margin, Panel, RichText, ScrollArea, Sense, Ui, pos2, vec2,
};
use shared::admin::{AttemptRow, RequestDetail, RequestRow};
use shared::figures::{UNKNOWN, span, wait};

/// Height of a row.
const ROW: f32 = 15.0;
/// Height of the waterfall.
const DETAIL: f32 = 190.0;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let frame = Frame::new().fill(scene.colours.ground).inner_margin(Margin::symmetric(6, 4));
    Panel::top("filters").frame(frame).show(ui, |ui| filters(ui, scene));
    Panel::bottom("waterfall").frame(frame).exact_size(DETAIL).resizable(false).show(ui, |ui| {
        match &scene.model.history.detail {
            Loaded::Come(detail) => waterfall(ui, scene, detail),
            Loaded::Failed(why) => line(ui, why.clone(), scene.colours.warn),
            Loaded::Asked => line(ui, "…", scene.colours.dim),
            Loaded::No => line(ui, "select a request with ↑ ↓", scene.colours.dim),
        }
    });
    CentralPanel::default().frame(frame).show(ui, |ui| rows(ui, scene));
}

fn filters(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    ui.horizontal(|ui| {
        for preset in Preset::ALL {
            let chosen = scene.model.history.preset == preset;
            if ui.selectable_label(chosen, RichText::new(preset.name()).font(mono())).clicked() {
                scene.out.push(Msg::Preset(Some(preset)));
            }
        }
        let history = &scene.model.history;
        let named = |name: &Option<String>| name.clone().unwrap_or_else(|| "any".to_owned());
        let text = format!("ladder:{}  tried:{}", named(&history.ladder), named(&history.tried));
        line(ui, text, colours.dim);
        let count = match &history.page {
            Loaded::Come(page) => format!(
                "{}{} rows, frozen (f reads anew)",
                page.items.len(),
                if page.next.is_some() { "+" } else { "" }
            ),
            Loaded::Asked => "reading …".to_owned(),
            Loaded::Failed(why) => why.clone(),
            Loaded::No => String::new(),
        };
        line(ui, count, colours.dim);
    });
}

/// The heading above [`row`].
#[must_use]
pub fn heading() -> String {
    format!(
        "{:<9} {:<12} {:<16} {:>3} {:<12} {:>8} {:>8} {:>13} {:>9}  {}",
        "TIME", "LADDER", "ANSWERED BY", "TRY", "OUT", "TTFT", "TOTAL", "TOK in/out", "$", "CLIENT"
    )
}

/// A request in a line.
#[must_use]
pub fn row(clock: &str, row: &RequestRow) -> String {
    let count = |count: Option<u64>| count.map_or(UNKNOWN.to_owned(), |count| count.to_string());
    let cost = row.cost_usd.map_or(UNKNOWN.to_owned(), |cost| format!("{cost:.5}"));
    format!(
        "{clock:<9} {:<12} {:<16} {:>3} {:<12} {:>8} {:>8} {:>13} {cost:>9}  {}",
        row.ladder.as_deref().unwrap_or(UNKNOWN),
        row.answered_by.as_deref().unwrap_or(UNKNOWN),
        row.attempts_made,
        row.outcome.map_or("running".to_owned(), |outcome| outcome.to_string()),
        wait(row.ttft_ms),
        wait(row.latency_ms),
        format!("{}/{}", count(row.input_tokens), count(row.output_tokens)),
        row.client.as_deref().unwrap_or(UNKNOWN),
    )
}

fn rows(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    line(ui, heading(), colours.dim);
    let Loaded::Come(page) = &scene.model.history.page else { return };
    if page.items.is_empty() {
        line(ui, "no request passes this filter", colours.dim);
    }
    let area = ScrollArea::vertical().auto_shrink([false, false]);
    area.show_rows(ui, ROW, page.items.len(), |ui, range| {
        for item in page.items.get(range).unwrap_or_default() {
            let chosen = scene.model.history.selected == Some(item.id);
            let colour = match item.outcome.map(|outcome| outcome.as_str()) {
                None => colours.dim,
                Some("ok" | "refused") => colours.text,
                Some("cancelled" | "rejected") => colours.warn,
                Some(_) => colours.bad,
            };
            let text = RichText::new(row(&scene.clock(item.at), item)).font(mono()).color(colour);
            if ui.selectable_label(chosen, text).clicked() {
                scene.out.push(Msg::Request(item.id));
            }
        }
    });
}

fn waterfall(ui: &mut Ui, scene: &Scene<'_>, detail: &RequestDetail) {
    let colours = scene.colours;
    let request = &detail.request;
    let passed: Vec<String> =
        detail.passed_over.iter().map(|over| format!("{} ({})", over.rung, over.reason)).collect();
    let passed = if passed.is_empty() { UNKNOWN.to_owned() } else { passed.join(", ") };
    strong(
        ui,
        format!(
            "{}  {}  {}  total {}  passed over: {passed}",
            request.id,
            request.ladder.as_deref().unwrap_or(UNKNOWN),
            request.client.as_deref().unwrap_or(UNKNOWN),
            wait(request.latency_ms)
        ),
        colours.text,
    );
    let end = |attempt: &AttemptRow| {
        let at = attempt.at.0.saturating_sub(request.at.0);
        at.saturating_add(i64::try_from(attempt.latency_ms.unwrap_or(0)).unwrap_or(0))
    };
    let whole = detail.attempts.iter().map(end).max().unwrap_or(1);
    let whole = whole.max(i64::try_from(request.latency_ms.unwrap_or(0)).unwrap_or(0)).max(1);
    ScrollArea::vertical().id_salt("attempts").show(ui, |ui| {
        for attempt in &detail.attempts {
            bar(ui, scene, attempt, request.at.0, whole);
        }
        line(ui, format!("0 … {}", span(whole)), colours.dim);
    });
}

/// One attempt in time: until its head, until its first token, until its end.
fn bar(ui: &mut Ui, scene: &Scene<'_>, attempt: &AttemptRow, began: i64, whole: i64) {
    const NAME: f32 = 180.0;
    const WORDS: f32 = 300.0;
    let colours = scene.colours;
    let width = ui.available_width();
    let (rect, _) = ui.allocate_exact_size(vec2(width, ROW), Sense::hover());
    let room = (width - NAME - WORDS).max(40.0);
    let painter = ui.painter_at(rect);
    let text = |at: f32, words: String, colour| {
        painter.text(pos2(rect.min.x + at, rect.min.y), Align2::LEFT_TOP, words, mono(), colour);
    };
    text(0.0, format!("{:<9} {}", attempt.kind.to_string(), attempt.rung), colours.text);
    let place = |ms: i64| rect.min.x + NAME + room * (ms as f32 / whole as f32).clamp(0.0, 1.0);
    let start = attempt.at.0.saturating_sub(began);
    let of = |ms: Option<u64>| ms.map(|ms| start + i64::try_from(ms).unwrap_or(0));
    let end = of(attempt.latency_ms).unwrap_or(whole);
    let middle = rect.center().y;
    let stroke = |from: i64, to: i64, wide: f32, colour| {
        let stroke = eframe::egui::Stroke::new(wide, colour);
        painter.line_segment([pos2(place(from), middle), pos2(place(to), middle)], stroke);
    };
    stroke(start, end, 1.0, colours.dim);
    if let Some(first) = of(attempt.ttft_ms) {
        stroke(first, end, 5.0, colours.text);
        painter.circle_filled(pos2(place(first), middle), 3.5, colours.text);
    }
    let outcome = attempt.outcome.map_or("running".to_owned(), |outcome| outcome.to_string());
    let cause = attempt.cause.map(|cause| format!("/{cause}")).unwrap_or_default();
    let verdict = attempt.verdict.map(|verdict| format!("  {verdict}")).unwrap_or_default();
    let first = attempt.ttft_ms.map(|_| format!(" first {}", wait(attempt.ttft_ms)));
    let good = outcome == "ok";
    let colour = if good { colours.text } else { colours.warn };
    let words = format!("{outcome}{cause}{verdict}{}", first.unwrap_or_default());
    text(NAME + room + 8.0, words, colour);
}
