//! Asks for the token of a relay that wants one. It is kept in memory only.

use super::{Scene, focus_once, line};
use crate::msg::Msg;
use crate::theme::mono;
use eframe::egui::{Align2, Context, Id, RichText, TextEdit, Window};

/// Draws it.
pub(crate) fn draw(ctx: &Context, scene: &mut Scene<'_>) {
    let Some((relay, token)) = &scene.model.token else { return };
    let Some(known) = scene.model.relays.get(*relay) else { return };
    let title = format!("{} wants a token", known.name());
    let window =
        Window::new(title).id(Id::unique("token")).anchor(Align2::CENTER_CENTER, [0.0, 0.0]);
    window.collapsible(false).resizable(false).show(ctx, |ui| {
        ui.set_width(520.0);
        line(ui, format!("One of the admin.tokens of {}.", known.url), scene.colours.dim);
        line(
            ui,
            "It is not written anywhere; BELAY_TOKEN or --token-file spare the asking.",
            scene.colours.dim,
        );
        let mut text = token.clone();
        let label = ui.label(RichText::new("Token").font(mono()));
        let edit = TextEdit::singleline(&mut text).password(true).desired_width(500.0);
        let edit = ui.add(edit).labelled_by(label.id);
        focus_once(ui, &edit, known.name());
        if edit.changed() {
            scene.send(Msg::TokenText(text));
        }
        ui.horizontal(|ui| {
            if ui.button(RichText::new("Esc cancel").font(mono())).clicked() {
                scene.send(Msg::Back);
            }
            if ui.button(RichText::new("Enter use it").font(mono())).clicked() {
                scene.send(Msg::Enter);
            }
        });
    });
}
