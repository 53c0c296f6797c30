//! The lines on top: what is wrong, in words, the worst first.

use super::{Scene, line};
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
            crate::model::Reach::Lost(why) => why.clone(),
            _ => format!("connecting to {} …", known.url),
        });
        line(ui, format!("◌ {}", why.unwrap_or_default()), colours.warn);
        return;
    };
    let mut troubles = diagnose(board);
    for known in &scene.model.relays {
        if let (crate::model::Reach::Lost(why), true) = (&known.reach, known.is_stale(scene.now)) {
            let text = format!("{} is lost: {why}", known.name());
            let about = Vec::new();
            let rule = shared::diagnose::Rule::Relay;
            let lost = shared::diagnose::Trouble { level: Level::Broken, rule, about, text };
            troubles.insert(0, lost);
        }
    }
    if troubles.is_empty() {
        line(ui, "● all well", colours.dim);
        return;
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
            let here = scene.model.trouble.unwrap_or(0);
            let step = isize::try_from(place).unwrap_or(0) - isize::try_from(here).unwrap_or(0);
            scene.out.push(Msg::Trouble(0));
            if step != 0 || place != 0 {
                scene.out.push(Msg::Trouble(isize::try_from(place).unwrap_or(0)));
            }
        }
    }
    if troubles.len() > most {
        line(ui, format!("  +{} more (w)", troubles.len() - most), colours.dim);
    }
}
