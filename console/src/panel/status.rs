//! The line at the bottom: how old the news is, how the relay is, what was said last.

use super::{Scene, line};
use crate::model::Known;
use eframe::egui::{Align, Layout, Ui};
use shared::figures::span;

/// What was said stands for so long, in milliseconds.
const STANDS: i64 = 30_000;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    ui.horizontal_centered(|ui| {
        let stale = scene.model.is_stale(scene.now);
        let age = scene.model.relay().and_then(|known| known.age(scene.now));
        let (text, colour) = match (age, stale) {
            (Some(age), false) => (format!("● {}", span(age)), colours.dim),
            (Some(age), true) => (format!("◌ no news for {}", span(age)), colours.bad),
            (None, _) => ("○ never heard of it".to_owned(), colours.warn),
        };
        line(ui, text, colour);
        if let Some(board) = scene.model.board() {
            let relay = &board.relay;
            let journal = if relay.journal.ok { "journal ok" } else { "journal FAILING" };
            let colour = if relay.journal.ok { colours.dim } else { colours.bad };
            line(ui, journal, colour);
            let streams = format!("{} streams, {} waiting", relay.streams, relay.waiting);
            line(ui, streams, colours.dim);
            if relay.drain.on {
                line(ui, "STOPPING", colours.bad);
            }
            let skew = scene.model.relay().map_or(0, |known: &Known| known.offset.get());
            if skew.abs() > 2_000 {
                line(ui, format!("clock off by {}", span(skew.abs())), colours.warn);
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            line(ui, "? keys  g worst  y copy", colours.dim);
            let said = scene.model.said.as_ref();
            if let Some((text, _)) = said.filter(|(_, at)| scene.now - at < STANDS) {
                line(ui, text.clone(), colours.text);
            }
        });
    });
}
