//! The lines on top: what is wrong, in words, the worst first.

use super::{Scene, line};
use crate::model::Reach;
use crate::theme::mono;
use crate::update::Msg;
use eframe::egui::{Label, RichText, Sense, Ui};
use shared::diagnose::{Level, diagnose};

/// So many are shown before the rest is counted.
const SHOWN: usize = 3;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    let Some(board) = scene.model.board() else {
        let why = scene.model.relay().map(|known| match &known.reach {
            Reach::Lost(why) => why.clone(),
            _ => format!("connecting to {} …", known.url),
        });
        line(ui, format!("◌ {}", why.unwrap_or_default()), colours.warn);
        return;
    };
    let mut lost = 0;
    for known in &scene.model.relays {
        if let (Reach::Lost(why), true) = (&known.reach, known.is_stale(scene.now)) {
            line(ui, format!("▲ {} is lost: {why}", known.name()), colours.bad);
            lost += 1;
        }
    }
    let troubles = diagnose(board);
    if troubles.is_empty() && lost == 0 {
        line(ui, "● all well", colours.dim);
    }
    let most = if scene.model.all_troubles { troubles.len() } else { SHOWN };
    for (place, trouble) in troubles.iter().take(most).enumerate() {
        let (shape, colour) = match trouble.level {
            Level::Broken => ("▲", colours.bad),
            Level::Warning => ("◆", colours.warn),
            Level::Hand => ("■", colours.hand),
        };
        let text = RichText::new(format!("{shape} {}", trouble.text)).font(mono()).color(colour);
        let label = Label::new(text).truncate().sense(Sense::click());
        if ui.add(label).on_hover_text(&trouble.text).clicked() {
            scene.out.push(Msg::TroubleAt(place));
        }
    }
    if troubles.len() > most {
        line(ui, format!("  +{} more (w)", troubles.len() - most), colours.dim);
    }
}
