//! The palette: all commands, by their words.

use super::acts::hint;
use super::{Scene, line};
use crate::commands;
use crate::msg::Msg;
use crate::theme::mono;
use eframe::egui::{Align2, Context, RichText, ScrollArea, TextEdit, Window};

/// Draws it.
pub(crate) fn draw(ctx: &Context, scene: &mut Scene<'_>) {
    let Some(palette) = &scene.model.palette else { return };
    let window = Window::new("Commands").anchor(Align2::CENTER_TOP, [0.0, 80.0]);
    window.collapsible(false).resizable(false).show(ctx, |ui| {
        ui.set_width(520.0);
        let mut text = palette.text.clone();
        let label = ui.label(RichText::new("What to do").font(mono()).color(scene.colours.dim));
        let edit = TextEdit::singleline(&mut text).desired_width(508.0).font(mono());
        let edit = ui.add(edit).labelled_by(label.id);
        edit.request_focus();
        if edit.changed() {
            scene.send(Msg::PaletteText(text));
        }
        hint(ui, scene, "Esc close", Msg::Back);
        let found = commands::found(&palette.text);
        if found.is_empty() {
            line(ui, "no command has these words", scene.colours.warn);
        }
        ScrollArea::vertical().max_height(420.0).show(ui, |ui| {
            for (place, command) in found.iter().enumerate() {
                let chosen = place == palette.at;
                let text = format!("{:<12} {}", command.key, command.words);
                let row = ui.selectable_label(chosen, RichText::new(text).font(mono()));
                if chosen {
                    row.scroll_to_me(None);
                }
                if row.clicked() {
                    scene.send(Msg::Run(place));
                }
            }
        });
    });
}
