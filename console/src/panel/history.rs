//! History: the requests that passed the filter, and the selected one as a waterfall.

use super::{Scene, cut, focus_once, line, waterfall};
use crate::history::{Preset, Sort};
use crate::model::Loaded;
use crate::theme::mono;
use crate::update::{GROUPS, Msg};
use eframe::egui::{
    CentralPanel, Frame, Id, Margin, Panel, Rect, RichText, ScrollArea, TextEdit, Ui, pos2, vec2,
};
use shared::admin::{RequestRow, Tried};
use shared::figures::{UNKNOWN, wait};

/// Height of a row.
const ROW: f32 = 16.0;
/// Height of the waterfall.
const DETAIL: f32 = 190.0;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let frame = Frame::new().fill(scene.colours.ground).inner_margin(Margin::symmetric(6, 4));
    Panel::top("filters").frame(frame).show(ui, |ui| filters(ui, scene));
    Panel::bottom("waterfall").frame(frame).exact_size(DETAIL).resizable(false).show(ui, |ui| {
        match &scene.model.history.detail {
            Loaded::Come(detail) => waterfall::draw(ui, scene, detail),
            Loaded::Failed(why) => line(ui, why.clone(), scene.colours.warn),
            Loaded::Asked => line(ui, "…", scene.colours.dim),
            Loaded::No => line(ui, "select a request with ↑ ↓", scene.colours.dim),
        }
    });
    CentralPanel::default().frame(frame).show(ui, |ui| rows(ui, scene));
}

fn filters(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    ui.horizontal_wrapped(|ui| {
        for preset in Preset::ALL {
            let chosen = scene.model.history.preset == preset;
            if ui.selectable_label(chosen, RichText::new(preset.name()).font(mono())).clicked() {
                scene.out.push(Msg::Preset(preset));
            }
        }
        ui.separator();
        filter(ui, scene);
        line(ui, count(scene), colours.dim);
    });
    let history = &scene.model.history;
    if let Some(wrong) = &history.wrong {
        line(ui, wrong.clone(), colours.warn);
    }
    for (relay, why) in &history.rows.failed {
        let name = scene.model.names(&[*relay]);
        cut(ui, format!("{name} is not in the list: {why}"), colours.warn);
    }
    groups(ui, scene);
}

fn filter(ui: &mut Ui, scene: &mut Scene<'_>) {
    let history = &scene.model.history;
    let Some(typed) = &history.typing else {
        let text = RichText::new(format!("/ {}", history.filter)).font(mono());
        if ui.selectable_label(false, text.color(scene.colours.text)).clicked() {
            scene.out.push(Msg::Filter);
        }
        return;
    };
    let mut text = typed.clone();
    let label = ui.label(RichText::new("/").font(mono()));
    let edit = TextEdit::singleline(&mut text).font(mono()).desired_width(420.0);
    let edit = ui.add(edit.id(Id::unique("filter"))).labelled_by(label.id);
    focus_once(ui, &edit, &format!("filter {}", history.asked));
    if edit.changed() {
        scene.out.push(Msg::FilterText(text));
    }
    line(ui, "Enter, Esc", scene.colours.dim);
}

/// How many of how many, and whether they move.
fn count(scene: &Scene<'_>) -> String {
    let history = &scene.model.history;
    if !history.rows.waits_for.is_empty() {
        return "reading …".to_owned();
    }
    let more = if history.rows.next.is_empty() { "" } else { "+" };
    let shown = history.rows.shown().len();
    let known: u64 = history.totals.values().sum();
    let of = if history.totals.is_empty() { String::new() } else { format!(" of {known}") };
    let newer = history.rows.newer();
    let state = match (history.follow, history.order() == Sort::At, newer) {
        (true, ..) => "following".to_owned(),
        (_, false, _) => {
            format!("by {}, f reads anew", history.order().word().trim_start_matches('-'))
        }
        (_, _, 0) => "frozen (f follows)".to_owned(),
        (_, _, newer @ 200..) => format!("frozen, {newer}+ new (f follows)"),
        (_, _, newer) => format!("frozen, {newer} new (f follows)"),
    };
    format!("{shown}{more}{of} · {state}")
}

/// What went wrong most in the window.
fn groups(ui: &mut Ui, scene: &mut Scene<'_>) {
    let history = &scene.model.history;
    if history.groups.is_empty() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        for (place, group) in scene.model.history.groups.iter().enumerate().take(GROUPS) {
            let chosen = scene.model.history.group == Some(place);
            let text = format!("{} {} {}", group.rung, group.what, group.count);
            let text = RichText::new(text).font(mono()).color(scene.colours.warn);
            if ui.selectable_label(chosen, text).clicked() {
                scene.out.push(Msg::Group(place));
            }
        }
        line(ui, ". next, Enter narrows", scene.colours.dim);
    });
}

/// The heading above [`row`].
#[must_use]
pub fn heading() -> String {
    format!(
        "{:<13} {:<12} {:<14} {:<46} {:<9} {:>7} {:>7} {:>12} {:>9}  {}",
        "TIME",
        "LADDER",
        "ANSWERED BY",
        "TRAIL",
        "OUT",
        "TTFT",
        "TOTAL",
        "TOK in/out",
        "$",
        "TENANT"
    )
}

/// A request in a line.
#[must_use]
pub fn row(clock: &str, row: &RequestRow) -> String {
    let count = |count: Option<u64>| count.map_or(UNKNOWN.to_owned(), |count| count.to_string());
    let cost = row.cost_usd.map_or(UNKNOWN.to_owned(), |cost| format!("{cost:.5}"));
    let trail = trail(row);
    format!(
        "{clock:<13} {:<12} {:<14} {trail:<46} {:<9} {:>7} {:>7} {:>12} {cost:>9}  {}",
        row.ladder.as_deref().unwrap_or(UNKNOWN),
        row.answered_by.as_deref().unwrap_or(UNKNOWN),
        row.outcome.map_or("running".to_owned(), |outcome| outcome.to_string()),
        wait(row.ttft_ms),
        wait(row.latency_ms),
        format!("{}/{}", count(row.input_tokens), count(row.output_tokens)),
        row.client.as_deref().unwrap_or(UNKNOWN),
    )
}

/// Keeps the selected row in view when it was selected just now.
fn in_view(ui: &Ui, scene: &Scene<'_>, range: &std::ops::Range<usize>) {
    let place = Id::unique("history in view");
    let selected = scene.model.history.selected;
    let known = ui.data(|data| data.get_temp::<Option<(usize, shared::RequestId)>>(place));
    if known == Some(selected) {
        return;
    }
    ui.data_mut(|data| data.insert_temp(place, selected));
    let shown = scene.model.history.rows.shown();
    let here = shown.iter().position(|(relay, row)| Some((*relay, row.id)) == selected);
    let Some(here) = here else { return };
    let top = ui.max_rect().top() + ROW * (here as f32 - range.start as f32);
    let row = Rect::from_min_size(pos2(ui.max_rect().left(), top), vec2(1.0, ROW));
    ui.scroll_to_rect(row, None);
}

/// What was tried: each rung with how it did, in the room that there is.
#[must_use]
pub fn trail(row: &RequestRow) -> String {
    const ROOM: usize = 46;
    let one = |tried: &Tried| {
        let sign = match tried.outcome.map(|outcome| outcome.as_str()) {
            None => "…",
            Some("ok" | "refused") => "●",
            Some("cancelled") => "○",
            Some("ttft_timeout" | "stall" | "deadline") => "▲",
            Some("rate_limited" | "overloaded") => "‖",
            Some(_) => "×",
        };
        let took = wait(tried.ttft_ms.or(tried.latency_ms)).replace(' ', "");
        format!("{} {sign}{took}", tried.rung)
    };
    let words = row.trail.iter().map(one).collect::<Vec<_>>().join(" | ");
    if words.chars().count() <= ROOM {
        return words;
    }
    words.chars().take(ROOM - 1).chain(['…']).collect()
}

fn rows(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    let several = scene.model.viewed().len() > 1;
    let relay = |index: usize| {
        if several { format!("  {}", scene.model.names(&[index])) } else { String::new() }
    };
    let on = if several { "  RELAY" } else { "" };
    let head = RichText::new(heading() + on).font(mono()).color(colours.dim);
    if ui.selectable_label(false, head).on_hover_text("s: next order; the relay sorts").clicked() {
        scene.out.push(Msg::Sort);
    }
    let shown = scene.model.history.rows.shown();
    if shown.is_empty() && scene.model.history.rows.waits_for.is_empty() {
        line(ui, "no request passes this filter", colours.dim);
    }
    let mut clicked = None;
    let area = ScrollArea::vertical().auto_shrink([false, false]);
    ui.spacing_mut().item_spacing.y = 0.0;
    area.show_rows(ui, ROW, shown.len(), |ui, range| {
        in_view(ui, scene, &range);
        for (index, item) in shown.get(range).unwrap_or_default() {
            let chosen = scene.model.history.selected == Some((*index, item.id));
            let colour = match item.outcome.map(|outcome| outcome.as_str()) {
                None => colours.dim,
                Some("ok" | "refused") => colours.text,
                Some("cancelled" | "rejected") => colours.warn,
                Some(_) => colours.bad,
            };
            let text = row(&scene.clock_ms(item.at), item) + &relay(*index);
            let text = RichText::new(text).font(mono()).color(colour);
            if ui.selectable_label(chosen, text).clicked() {
                clicked = Some((*index, item.id));
            }
        }
    });
    scene.out.extend(clicked.map(|(relay, id)| Msg::Request(relay, id)));
}
