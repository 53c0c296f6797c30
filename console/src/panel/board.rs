//! The Board: ladders or what they are turned to, what is selected beside them, and what
//! happened last below.

use super::{Scene, ladders, line, side, turned};
use crate::model::Turn;
use eframe::egui::{CentralPanel, Frame, Margin, Panel, ScrollArea, Ui};

/// Width of the side panel.
const SIDE: f32 = 316.0;
/// Events below the Board.
const EVENTS: usize = 4;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let frame = Frame::new().fill(scene.colours.ground).inner_margin(Margin::symmetric(6, 4));
    Panel::right("side").frame(frame).exact_size(SIDE).resizable(false).show(ui, |ui| {
        ScrollArea::vertical().id_salt("side").show(ui, |ui| side::draw(ui, scene));
    });
    Panel::bottom("events").frame(frame).resizable(false).show(ui, |ui| events(ui, scene));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        ScrollArea::vertical().id_salt("board").auto_shrink([false, false]).show(ui, |ui| {
            match scene.model.turn {
                Turn::Ladders => ladders::draw(ui, scene),
                Turn::Providers | Turn::Domains => turned::draw(ui, scene),
            }
        });
    });
}

fn events(ui: &mut Ui, scene: &Scene<'_>) {
    let colours = scene.colours;
    let Some(known) = scene.model.relay() else { return };
    if known.events.is_empty() {
        line(ui, "nothing has happened since this console began", colours.dim);
    }
    for event in known.events.iter().rev().take(EVENTS) {
        let text = format!("{} {:<10} {}", scene.clock(event.at), event.who, event.text);
        let text = eframe::egui::RichText::new(text).font(crate::theme::mono()).color(colours.dim);
        ui.add(eframe::egui::Label::new(text).truncate());
    }
}
