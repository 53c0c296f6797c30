//! What happened last, on all relays of the view.

use crate::model::Happening;
use crate::panel::{Scene, cut, line};
use eframe::egui::Ui;

/// Events below the Board.
const EVENTS: usize = 4;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &Scene<'_>) {
    let colours = scene.colours;
    let viewed = scene.model.viewed();
    let several = viewed.len() > 1;
    let mut all: Vec<(&str, &Happening)> = viewed
        .into_iter()
        .filter_map(|index| scene.model.relays.get(index))
        .flat_map(|known| known.events.iter().rev().take(EVENTS).map(|event| (known.name(), event)))
        .collect();
    all.sort_by_key(|(_, event)| std::cmp::Reverse(event.at));
    if all.is_empty() {
        line(ui, "nothing has happened so far", colours.dim);
    }
    for (relay, event) in all.into_iter().take(EVENTS) {
        let relay = if several { format!("{relay:<10} ") } else { String::new() };
        let text = format!("{} {relay}{:<12} {}", scene.clock(event.at), event.who, event.text);
        cut(ui, text, colours.dim);
    }
}
