//! The Board: ladders or what they are turned to, what is selected beside them, and what
//! happened last below.

mod curve;
mod events;
mod groups;
mod ladders;
mod side;

use crate::board::Turn;
use crate::panel::Scene;
use eframe::egui::{Align2, Area, CentralPanel, Frame, Id, Margin, Panel, ScrollArea, Ui, vec2};

/// Width of the side panel.
pub(crate) const SIDE: f32 = 316.0;
/// Below this width the side panel lies over the Board, and only when there is a reason.
const NARROW: f32 = 900.0;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let frame = Frame::new().fill(scene.colours.ground).inner_margin(Margin::symmetric(6, 4));
    let narrow = ui.available_width() < NARROW;
    if !narrow {
        let panel = Panel::right("side");
        panel.frame(frame).exact_size(SIDE).resizable(false).show(ui, |ui| beside(ui, scene));
    }
    Panel::bottom("events").frame(frame).resizable(false).show(ui, |ui| events::draw(ui, scene));
    let room = ui.available_rect_before_wrap();
    CentralPanel::default().frame(frame).show(ui, |ui| match scene.model.turn {
        Turn::Ladders => ladders::draw(ui, scene),
        Turn::Providers | Turn::Domains => {
            let area = ScrollArea::vertical().id_salt("turned").auto_shrink([false, false]);
            area.show(ui, |ui| groups::draw(ui, scene));
        }
    });
    let selected = &scene.model.selected;
    if narrow && (selected.rung.is_some() || selected.ladder.is_some()) {
        let over =
            Area::new(Id::unique("side over")).fixed_pos(room.right_top()).pivot(Align2::RIGHT_TOP);
        let stroke = eframe::egui::Stroke::new(1.0, scene.colours.dim);
        over.show(ui.ctx(), |ui| {
            frame.stroke(stroke).show(ui, |ui| {
                let wide = SIDE.min(room.width() - 20.0);
                ui.set_width(wide);
                ui.set_max_size(vec2(wide, room.height() - 12.0));
                beside(ui, scene);
            });
        });
    }
}

fn beside(ui: &mut Ui, scene: &mut Scene<'_>) {
    ScrollArea::vertical().id_salt("side").show(ui, |ui| side::draw(ui, scene));
}
