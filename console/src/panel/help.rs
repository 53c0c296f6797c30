//! The list of keys.

use super::Scene;
use super::acts::hint;
use crate::commands;
use crate::msg::Msg;
use crate::theme::mono;
use eframe::egui::{Align2, Context, Grid, RichText, ScrollArea, Window};

/// Draws it.
pub(crate) fn draw(ctx: &Context, scene: &mut Scene<'_>) {
    let all = commands::all();
    let with_keys = all.iter().filter(|command| !command.key.is_empty());
    let rows: Vec<(&str, &str)> = with_keys.map(|command| (command.key, command.words)).collect();
    let rows: Vec<(&str, &str)> = commands::OTHERS.into_iter().chain(rows).collect();
    let half = rows.len().div_ceil(2);
    let window = Window::new("Keys").anchor(Align2::CENTER_CENTER, [0.0, 0.0]);
    let tall = ctx.content_rect().height() - 90.0;
    window.default_height(tall).collapsible(false).resizable(false).show(ctx, |ui| {
        ScrollArea::vertical().max_height(tall).show(ui, |ui| {
            ui.horizontal_top(|ui| {
                for (number, part) in rows.chunks(half).enumerate() {
                    let grid = Grid::new(("keys", number)).num_columns(2).spacing([18.0, 3.0]);
                    grid.show(ui, |ui| {
                        for (keys, what) in part {
                            let keys = RichText::new(*keys).font(mono());
                            ui.label(keys.color(scene.colours.text).strong());
                            ui.label(RichText::new(*what).font(mono()).color(scene.colours.dim));
                            ui.end_row();
                        }
                    });
                    ui.add_space(18.0);
                }
            });
            hint(ui, scene, "Esc close", Msg::Back);
        });
    });
}
