//! The lines on top: what is wrong, in words, the worst first.

use super::{Scene, line};
use crate::board;
use crate::model::Reach;
use crate::theme::mono;
use eframe::egui::{Label, RichText, Sense, Ui};
use shared::diagnose::Level;

/// So many are shown before the rest is counted.
const SHOWN: usize = 3;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    if scene.model.board().is_none() {
        let why = scene.model.lead().map(|known| match &known.reach {
            Reach::Lost(why) => format!("{} is lost: {why}", known.name()),
            _ => format!("connecting to {} …", known.url),
        });
        line(ui, format!("◌ {}", why.unwrap_or_default()), colours.warn);
        return;
    }
    let troubles = &scene.model.lines;
    if troubles.is_empty() {
        line(ui, "● all well", colours.dim);
    }
    let all = scene.model.all_troubles;
    let most = if all { troubles.len() } else { SHOWN };
    for (place, trouble) in troubles.iter().take(most).enumerate() {
        let (shape, colour) = match trouble.level {
            Level::Broken => ("▲", colours.bad),
            Level::Warning => ("◆", colours.warn),
            Level::Hand => ("■", colours.hand),
        };
        let here = scene.model.trouble == Some(place);
        let text = RichText::new(format!("{shape} {}", trouble.text)).font(mono()).color(colour);
        let text = if here { text.underline() } else { text };
        let label = Label::new(text).truncate().sense(Sense::click());
        if ui.add(label).on_hover_text(&trouble.text).clicked() {
            scene.send(board::Msg::TroubleAt(place));
        }
    }
    let more = troubles.len().saturating_sub(SHOWN);
    if more > 0 {
        let text = if all { "  fewer".to_owned() } else { format!("  +{more} more, ] goes on") };
        let text = RichText::new(text).font(mono()).color(colours.dim);
        if ui.add(Label::new(text).sense(Sense::click())).clicked() {
            scene.send(board::Msg::AllTroubles);
        }
    }
}
