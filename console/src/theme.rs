//! The console's colours and sizes: calm, dense, and read at arm's length; dark and light.

use eframe::egui::{
    Color32, Context, FontFamily, FontId, Stroke, Style, TextStyle, Theme, Visuals,
};

/// Colours of one theme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colours {
    /// What everything lies on.
    pub ground: Color32,
    /// Text.
    pub text: Color32,
    /// Text that is not in the way.
    pub dim: Color32,
    /// Broken.
    pub bad: Color32,
    /// A warning.
    pub warn: Color32,
    /// An operator's hand.
    pub hand: Color32,
    /// Lines between things.
    pub line: Color32,
    /// What is selected lies on.
    pub chosen: Color32,
}

/// What is broken lies on, with [`ON_BLOCK`] on it.
pub const BLOCK: Color32 = Color32::from_rgb(0xA8, 0x34, 0x08);
/// Text on a block.
pub const ON_BLOCK: Color32 = Color32::WHITE;

/// The night.
pub const DARK: Colours = Colours {
    ground: Color32::from_rgb(0x18, 0x18, 0x18),
    text: Color32::from_rgb(0xCD, 0xCD, 0xCD),
    dim: Color32::from_rgb(0x96, 0x96, 0x96),
    bad: Color32::from_rgb(0xFF, 0x8A, 0x5C),
    warn: Color32::from_rgb(0xF0, 0xC8, 0x5A),
    hand: Color32::from_rgb(0x82, 0xB4, 0xFF),
    line: Color32::from_rgb(0x33, 0x33, 0x33),
    chosen: Color32::from_rgb(0x26, 0x2C, 0x36),
};

/// The day.
pub const LIGHT: Colours = Colours {
    ground: Color32::from_rgb(0xFA, 0xFA, 0xFA),
    text: Color32::from_rgb(0x28, 0x28, 0x28),
    dim: Color32::from_rgb(0x60, 0x60, 0x60),
    bad: Color32::from_rgb(0xB0, 0x3A, 0x00),
    warn: Color32::from_rgb(0x80, 0x58, 0x00),
    hand: Color32::from_rgb(0x00, 0x54, 0xA6),
    line: Color32::from_rgb(0xCC, 0xCC, 0xCC),
    chosen: Color32::from_rgb(0xE6, 0xEC, 0xF4),
};

/// A tint is this much of its colour on the ground.
const TINT: f32 = 0.13;

impl Colours {
    /// Those of a theme.
    #[must_use]
    pub const fn of(light: bool) -> Self {
        if light { LIGHT } else { DARK }
    }

    /// The ground with a little of `colour` in it.
    #[must_use]
    pub fn tint(&self, colour: Color32) -> Color32 {
        self.ground.lerp_to_gamma(colour, TINT)
    }
}

/// The monospace size of cells and lists.
pub const SMALL: f32 = 12.0;

/// Monospace of the usual size.
#[must_use]
pub const fn mono() -> FontId {
    FontId::new(SMALL, FontFamily::Monospace)
}

/// Gives a context the console's looks: the light theme or the dark one, and its scale.
pub fn dress(ctx: &Context, light: bool, scale: f32) {
    ctx.set_zoom_factor(scale);
    // The console's own keys do it, so that it is remembered.
    ctx.options_mut(|options| options.zoom_with_keyboard = false);
    let colours = Colours::of(light);
    let theme = if light { Theme::Light } else { Theme::Dark };
    ctx.set_theme(theme);
    let mut visuals = if light { Visuals::light() } else { Visuals::dark() };
    visuals.panel_fill = colours.ground;
    visuals.window_fill = colours.ground;
    visuals.window_stroke = Stroke::new(1.0, colours.dim);
    visuals.override_text_color = Some(colours.text);
    visuals.widgets.noninteractive.bg_stroke.color = colours.line;
    visuals.selection.bg_fill = colours.chosen;
    visuals.selection.stroke = Stroke::new(1.0, colours.text);
    visuals.widgets.hovered.bg_fill = colours.chosen;
    visuals.widgets.hovered.weak_bg_fill = colours.chosen;
    visuals.widgets.active.bg_fill = colours.chosen;
    visuals.widgets.active.weak_bg_fill = colours.chosen;
    ctx.set_visuals_of(theme, visuals);
    ctx.style_mut_of(theme, sizes);
}

fn sizes(style: &mut Style) {
    let sizes = [
        (TextStyle::Heading, 16.0, FontFamily::Proportional),
        (TextStyle::Body, SMALL, FontFamily::Monospace),
        (TextStyle::Button, SMALL, FontFamily::Monospace),
        (TextStyle::Small, 11.0, FontFamily::Monospace),
        (TextStyle::Monospace, SMALL, FontFamily::Monospace),
    ];
    style.text_styles = sizes.map(|(name, size, font)| (name, FontId::new(size, font))).into();
    style.spacing.item_spacing = eframe::egui::vec2(6.0, 2.0);
    style.spacing.button_padding = eframe::egui::vec2(4.0, 0.0);
    style.spacing.interact_size.y = 16.0;
    style.interaction.selectable_labels = true;
    style.animation_time = 0.0;
    style.scroll_animation = eframe::egui::style::ScrollAnimation::none();
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
    fn all_text_stands_out_on_the_ground_and_on_its_own_tint() {
        for colours in [DARK, LIGHT] {
            for colour in [colours.text, colours.dim, colours.bad, colours.warn, colours.hand] {
                for ground in [colours.ground, colours.tint(colour), colours.chosen] {
                    let found = contrast(colour, ground);
                    assert!(found >= 4.5, "{colour:?} on {ground:?}: {found:.2}");
                }
            }
        }
        assert!(contrast(ON_BLOCK, BLOCK) >= 4.5);
    }
}
