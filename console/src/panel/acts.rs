//! Commands for the pointer: the same as the keys', as buttons and as the menu of a right click.

use super::Scene;
use crate::commands::{Command, with_keys};
use crate::msg::Msg;
use crate::theme::mono;
use eframe::egui::{Button, Response, RichText, Sense, Ui};

/// A button for each command of these keys, in as many lines as they need.
pub(crate) fn buttons(ui: &mut Ui, scene: &mut Scene<'_>, keys: &[&str]) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        for command in with_keys(keys) {
            let text = RichText::new(format!("{} {}", command.key, command.short())).font(mono());
            if ui.add(Button::new(text)).on_hover_text(command.words).clicked() {
                scene.send(command.msg);
            }
        }
    });
}

/// The menu of a right click on what `response` shows; `select` makes it what the menu is about.
pub(crate) fn menu(
    response: &Response,
    scene: &mut Scene<'_>,
    keys: &[&str],
    select: impl FnOnce() -> Msg,
) {
    if response.secondary_clicked() {
        scene.send(select());
    }
    response.context_menu(|ui| {
        for Command { key, words, msg } in with_keys(keys) {
            let text = RichText::new(format!("{key:<6}{words}")).font(mono());
            if ui.button(text).clicked() {
                scene.send(msg);
                ui.close();
            }
        }
    });
}

/// A hint that names a key, and does on a click what the key does.
pub(crate) fn hint(ui: &mut Ui, scene: &mut Scene<'_>, text: &str, msg: impl Into<Msg>) {
    let text = RichText::new(text).font(mono()).color(scene.colours.dim);
    if ui.add(eframe::egui::Label::new(text).sense(Sense::click())).clicked() {
        scene.send(msg);
    }
}
