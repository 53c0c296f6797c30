//! The list of keys.

use super::Scene;
use crate::theme::mono;
use eframe::egui::{Align2, Context, Grid, RichText, Window};

/// Draws it.
pub(crate) fn draw(ctx: &Context, scene: &mut Scene<'_>) {
    let window = Window::new("Keys").anchor(Align2::CENTER_CENTER, [0.0, 0.0]);
    window.collapsible(false).resizable(false).show(ctx, |ui| {
        Grid::new("keys").num_columns(2).spacing([24.0, 4.0]).show(ui, |ui| {
            for (keys, what) in crate::keys::LIST {
                ui.label(RichText::new(keys).font(mono()).color(scene.colours.text).strong());
                ui.label(RichText::new(what).font(mono()).color(scene.colours.dim));
                ui.end_row();
            }
        });
    });
}
