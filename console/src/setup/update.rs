//! What the engineer sets.

use super::msg::Msg;
use crate::model::{Alert, Model};

/// The range of the scale.
const SCALES: (f32, f32) = (0.8, 2.0);

/// Does what the engineer did at `now`.
pub(crate) fn update(model: &mut Model, msg: &Msg, now: i64) {
    let settings = &mut model.settings;
    match msg {
        Msg::Desktop => settings.desktop = !settings.desktop,
        Msg::Sound => settings.sound = !settings.sound,
        Msg::TryAlert => model
            .alerts
            .fresh
            .push(Alert { key: "try".to_owned(), text: "this is how an alert looks".to_owned() }),
        Msg::Utc => settings.utc = !settings.utc,
        Msg::Theme => settings.light = !settings.light,
        Msg::Scale(by) => scale(model, *by, now),
    }
}

fn scale(model: &mut Model, by: i32, now: i64) {
    let scale = match by {
        0 => 1.0,
        by => model.settings.scale + 0.1 * if by > 0 { 1.0 } else { -1.0 },
    };
    // Whole tenths, whatever was added before.
    model.settings.scale = ((scale * 10.0).round() / 10.0).clamp(SCALES.0, SCALES.1);
    model.notify(format!("scale {:.0} %", model.settings.scale * 100.0), now);
}
