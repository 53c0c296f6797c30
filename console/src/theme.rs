//! The console's colours and sizes: dark, calm, and read at arm's length.

use eframe::egui::{Color32, Context, FontFamily, FontId, TextStyle, Theme, Visuals};

/// What everything lies on.
pub const GROUND: Color32 = Color32::from_rgb(0x18, 0x18, 0x18);
/// Text.
pub const TEXT: Color32 = Color32::from_rgb(0xCD, 0xCD, 0xCD);
/// Text that is not in the way.
pub const DIM: Color32 = Color32::from_rgb(0x96, 0x96, 0x96);
/// Lines between things.
pub const LINE: Color32 = Color32::from_rgb(0x33, 0x33, 0x33);
/// What commands to type lie on.
pub const CODE: Color32 = Color32::from_rgb(0x2A, 0x2A, 0x2A);

/// Gives a context the console's looks.
pub fn dress(ctx: &Context) {
    ctx.set_theme(Theme::Dark);
    let mut visuals = Visuals::dark();
    visuals.panel_fill = GROUND;
    visuals.window_fill = GROUND;
    visuals.override_text_color = Some(TEXT);
    visuals.widgets.noninteractive.bg_stroke.color = LINE;
    ctx.set_visuals_of(Theme::Dark, visuals);
    ctx.style_mut_of(Theme::Dark, |style| {
        let sizes = [
            (TextStyle::Heading, 30.0, FontFamily::Proportional),
            (TextStyle::Body, 15.0, FontFamily::Proportional),
            (TextStyle::Button, 15.0, FontFamily::Proportional),
            (TextStyle::Small, 13.0, FontFamily::Proportional),
            (TextStyle::Monospace, 14.0, FontFamily::Monospace),
        ];
        style.text_styles = sizes.map(|(name, size, font)| (name, FontId::new(size, font))).into();
        style.interaction.selectable_labels = true;
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG's contrast of two opaque colours.
    fn contrast(one: Color32, other: Color32) -> f32 {
        let light = |colour: Color32| {
            let [r, g, b, _] = eframe::egui::Rgba::from(colour).to_array();
            0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
        };
        let (one, other) = (light(one), light(other));
        one.max(other) / one.min(other)
    }

    #[test]
    fn all_text_stands_out() {
        for (colour, ground) in [(TEXT, GROUND), (DIM, GROUND), (TEXT, CODE)] {
            assert!(contrast(colour, ground) >= 4.5, "{colour:?} on {ground:?}");
        }
    }
}
