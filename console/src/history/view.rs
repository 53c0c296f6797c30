//! History: the requests that passed the filter, and the selected one as a waterfall.

mod waterfall;

use super::filter::{Filter, Preset, Sort};
use super::row::{count, heading, row};
use super::update::GROUPS;
use crate::history;
use crate::model::Loaded;
use crate::msg::Msg;
use crate::panel::acts::hint;
use crate::panel::{Scene, cut, focus_once, line};
use crate::theme::mono;
use shared::RequestOutcome;

use eframe::egui::{
    CentralPanel, Frame, Id, Margin, Panel, Rect, RichText, ScrollArea, TextEdit, Ui, pos2, vec2,
};

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
            Loaded::Failed(why) => line(ui, why.to_string(), scene.colours.warn),
            Loaded::Loading => line(ui, "…", scene.colours.dim),
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
                scene.send(history::Msg::Preset(preset));
            }
        }
        ui.separator();
        filter(ui, scene);
        let history = &scene.model.history;
        if history.typing.is_none() && history.filter != Filter::default() {
            hint(ui, scene, "× clear", history::Msg::Clear);
        }
        line(ui, count(&scene.model.history), colours.dim);
        let history = &scene.model.history;
        let follow = match (history.follow, history.order()) {
            (true, _) => "f freeze",
            (_, Sort::At) => "f follow",
            _ => "f read anew",
        };
        hint(ui, scene, follow, history::Msg::Follow);
    });
    let history = &scene.model.history;
    if let Some(wrong) = &history.wrong {
        line(ui, wrong.to_string(), colours.warn);
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
            scene.send(history::Msg::Filter);
        }
        return;
    };
    let mut text = typed.clone();
    let label = ui.label(RichText::new("/").font(mono()));
    let edit = TextEdit::singleline(&mut text).font(mono()).desired_width(420.0);
    let edit = ui.add(edit.id(Id::unique("filter"))).labelled_by(label.id);
    focus_once(ui, &edit, &format!("filter {}", history.asked));
    if edit.changed() {
        scene.send(history::Msg::FilterText(text));
    }
    hint(ui, scene, "Enter apply", Msg::Enter);
    hint(ui, scene, "Esc leave", Msg::Back);
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
                scene.send(history::Msg::Group(place));
            }
        }
        hint(ui, scene, ". next", Msg::Next);
        hint(ui, scene, "Enter narrow to it", Msg::Enter);
    });
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

fn rows(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    let several = scene.model.viewed().len() > 1;
    let relay = |index: usize| {
        if several { format!("  {}", scene.model.names(&[index])) } else { String::new() }
    };
    let on = if several { "  RELAY" } else { "" };
    let head = RichText::new(heading() + on).font(mono()).color(colours.dim);
    if ui.selectable_label(false, head).on_hover_text("s: next order; the relay sorts").clicked() {
        scene.send(history::Msg::Sort);
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
            let colour = match item.outcome {
                None => colours.dim,
                Some(RequestOutcome::Ok | RequestOutcome::Refused) => colours.text,
                Some(RequestOutcome::Cancelled | RequestOutcome::Rejected) => colours.warn,
                Some(_) => colours.bad,
            };
            let text = row(&scene.clock_ms(item.at), item) + &relay(*index);
            let text = RichText::new(text).font(mono()).color(colour);
            if ui.selectable_label(chosen, text).clicked() {
                clicked = Some((*index, item.id));
            }
        }
    });
    if let Some((relay, id)) = clicked {
        scene.send(history::Msg::Select(relay, id));
    }
}
