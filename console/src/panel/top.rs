//! The top bar: which relays, which screen, who is here, what time it is.

use super::Scene;
use crate::model::{Reach, Screen};
use crate::theme::mono;
use crate::update::Msg;
use eframe::egui::{Align, Layout, RichText, Ui};
use shared::admin::Role;
use shared::figures::span;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    ui.horizontal_centered(|ui| {
        let env = scene.model.board().and_then(|board| board.relay.env.clone());
        if let Some(env) = env {
            ui.label(RichText::new(env).font(mono()).color(colours.text).strong());
        }
        for (index, known) in scene.model.relays.iter().enumerate() {
            let (shape, colour, more) = match (&known.reach, known.is_stale(scene.now)) {
                (Reach::Open, false) => ("●", colours.text, String::new()),
                (Reach::Never, _) => ("○", colours.dim, " connecting".to_owned()),
                (_, true) => {
                    let age = known.age(scene.now).map(span);
                    ("◌", colours.bad, age.map_or(" lost".to_owned(), |age| format!(" lost {age}")))
                }
                (Reach::Lost(_), false) => ("◌", colours.warn, String::new()),
            };
            let text = format!("{shape}{}{more}", known.name());
            let text = RichText::new(text).font(mono()).color(colour);
            let text = if index == scene.model.shown { text.underline() } else { text };
            if ui.selectable_label(false, text).clicked() && index != scene.model.shown {
                scene.out.push(Msg::Relay);
            }
        }
        ui.separator();
        for (number, screen) in (1..).zip(Screen::ALL) {
            let chosen = screen == scene.model.screen;
            let colour = if chosen { colours.text } else { colours.dim };
            let text = RichText::new(format!("{number} {}", screen.name())).font(mono());
            if ui.selectable_label(chosen, text.color(colour)).clicked() {
                scene.out.push(Msg::Go(screen));
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let now = scene.relay_now();
            let clock = format!("{} {}", scene.clock(now), scene.zone());
            ui.label(RichText::new(clock).font(mono()).color(colours.dim));
            if let Some(board) = scene.model.board() {
                ui.separator();
                let you = &board.relay.you;
                let name = you.name.as_deref().unwrap_or("no token");
                let role = if you.role == Role::Viewer { "viewer" } else { "operator" };
                let others: Vec<&str> = board
                    .relay
                    .operators
                    .iter()
                    .filter_map(|here| here.name.as_deref())
                    .filter(|other| Some(*other) != you.name.as_deref())
                    .collect();
                let also = match others.as_slice() {
                    [] => String::new(),
                    others => format!(", also {}", others.join(", ")),
                };
                let text = format!("{name} {role}{also}");
                ui.label(RichText::new(text).font(mono()).color(colours.dim));
            }
        });
    });
}
