//! The top bar: which relays, which screen, who is here, what time it is.

use super::Scene;
use crate::model::{Reach, Screen, View};
use crate::msg::Msg;
use crate::receive::is_counting;
use crate::theme::mono;

use eframe::egui::{Align, Layout, RichText, Ui};
use shared::admin::Role;
use shared::figures::span;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    ui.horizontal_centered(|ui| {
        relays(ui, scene);
        ui.separator();
        for (number, screen) in (1..).zip(Screen::ALL) {
            let chosen = screen == scene.model.screen;
            let colour = if chosen { scene.colours.text } else { scene.colours.dim };
            let text = RichText::new(format!("{number} {}", screen.name())).font(mono());
            if ui.selectable_label(chosen, text.color(colour)).clicked() {
                scene.send(Msg::Go(screen));
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| right(ui, scene));
    });
}

/// Each relay by its state; those that are shown are underlined.
fn relays(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    let viewed = scene.model.viewed();
    if let Some(env) = scene.model.board().and_then(|board| board.relay.env.clone()) {
        let text = RichText::new(env).font(mono()).color(colours.text).strong();
        let all = ui.selectable_label(false, text).on_hover_text("all of this env together (r)");
        if all.clicked() {
            scene.send(Msg::Watch(View::Env(viewed.first().copied().unwrap_or(0))));
        }
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
        let several = scene.model.relays.len() > 1;
        let text = if several && viewed.contains(&index) { text.underline() } else { text };
        if ui.selectable_label(false, text).clicked() {
            scene.send(Msg::Watch(View::One(index)));
        }
    }
}

fn right(ui: &mut Ui, scene: &Scene<'_>) {
    let colours = scene.colours;
    let now = scene.relay_now();
    let mut clock = scene.clock(now);
    if !is_counting(scene.model, scene.now) {
        // Nothing is drawn every second then, and a clock that stands is worse than none.
        clock.truncate(5);
    }
    let clock = format!("{clock} {}", scene.zone());
    ui.label(RichText::new(clock).font(mono()).color(colours.dim));
    let Some(known) = scene.model.lead() else { return };
    let Some(board) = &known.board else { return };
    ui.separator();
    let you = &board.relay.you;
    let name = you.name.as_deref().unwrap_or("no token");
    let role = if you.role == Role::Viewer { "viewer" } else { "operator" };
    let mut others: Vec<&str> = scene
        .model
        .viewed()
        .into_iter()
        .filter_map(|index| scene.model.relays.get(index)?.board.as_ref())
        .flat_map(|board| &board.relay.operators)
        .filter_map(|here| here.name.as_deref())
        .filter(|other| Some(*other) != you.name.as_deref())
        .collect();
    others.sort_unstable();
    others.dedup();
    let also = match others.as_slice() {
        [] => String::new(),
        others => format!(", also {}", others.join(", ")),
    };
    let text = format!("{name} {role}{also}");
    ui.label(RichText::new(text).font(mono()).color(colours.dim));
}
