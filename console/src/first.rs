//! The first screen: what the console will be, and what to use until then.

use eframe::egui::{
    Align, CentralPanel, Frame, Grid, Label, Layout, Margin, Panel, RichText, TextStyle, Ui,
};

use super::theme::{CODE, DIM, GROUND, TEXT};

/// The screens to come, and the question that each will answer.
const SCREENS: [(&str, &str); 5] = [
    ("Board", "Every ladder and the health of its rungs; the worst troubles on top, in words."),
    ("History", "Every request and its attempts; any one of them laid out in time."),
    ("Breakers", "When a rung opened, why, and who held it, over its first-token times."),
    ("Actions", "What operators have in force, what they did, and how to undo it."),
    ("Setup", "Which relays to watch, and what their config says."),
];

const ABOUT: &str = "This window will show the on-call engineer whether users are hurt, which \
                     provider is the cause and since when, what carries the traffic now, and who \
                     has changed what. Five screens will answer that:";

/// Lines longer than this are hard to follow.
const COLUMN: f32 = 720.0;

/// Draws it.
pub(super) fn view(ui: &mut Ui) {
    Panel::bottom("state").frame(bar()).show_separator_line(true).show(ui, state);
    CentralPanel::default().frame(Frame::new().fill(GROUND)).show(ui, |ui| {
        let width = COLUMN.min(ui.available_width() - 48.0).max(0.0);
        let left = (ui.available_width() - width) / 2.0;
        ui.add_space((ui.available_height() * 0.16).max(24.0));
        ui.horizontal_top(|ui| {
            ui.add_space(left);
            ui.vertical(|ui| {
                ui.set_width(width);
                column(ui);
            });
        });
    });
}

fn bar() -> Frame {
    Frame::new().fill(GROUND).inner_margin(Margin::symmetric(16, 9))
}

fn column(ui: &mut Ui) {
    ui.heading("Belay console");
    ui.add_space(14.0);
    paragraph(ui, ABOUT);
    ui.add_space(20.0);
    Grid::new("screens").num_columns(2).spacing([28.0, 12.0]).show(ui, |ui| {
        for (name, about) in SCREENS {
            ui.label(RichText::new(name).color(TEXT));
            ui.label(RichText::new(about).color(DIM));
            ui.end_row();
        }
    });
    ui.add_space(26.0);
    ui.separator();
    ui.add_space(16.0);
    paragraph(ui, "None of them is built yet. Today the journal is read in a terminal, with");
    ui.add_space(8.0);
    Frame::new().fill(CODE).corner_radius(3).inner_margin(Margin::symmetric(10, 6)).show(
        ui,
        |ui| {
            ui.label(RichText::new("belay journal").monospace().color(TEXT));
        },
    );
}

fn paragraph(ui: &mut Ui, text: &str) {
    let text = RichText::new(text).line_height(Some(23.0));
    ui.add(Label::new(text).wrap());
}

/// The line that will tell how old the news is.
fn state(ui: &mut Ui) {
    let small = |text: &str| RichText::new(text).text_style(TextStyle::Small).color(DIM);
    ui.horizontal(|ui| {
        ui.label(RichText::new("○").monospace().size(13.0).color(DIM));
        ui.label(small("Not connected to a relay; nothing here is live."));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(small(concat!("belay-console ", env!("CARGO_PKG_VERSION"))));
        });
    });
}

#[cfg(test)]
mod tests {
    use eframe::egui::Vec2;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    use super::*;

    #[test]
    fn it_says_what_it_is_and_what_to_use() {
        let mut harness = Harness::builder().with_size(Vec2::new(1280.0, 800.0)).build_ui(|ui| {
            crate::theme::dress(ui.ctx());
            view(ui);
        });
        harness.run();
        for label in ["Belay console", ABOUT, "belay journal"] {
            harness.get_by_label(label);
        }
        for (name, about) in SCREENS {
            harness.get_by_label(name);
            harness.get_by_label(about);
        }
        harness.get_by_label("Not connected to a relay; nothing here is live.");
    }

    #[test]
    fn all_of_it_fits_a_small_window() {
        let size = Vec2::new(800.0, 560.0);
        let mut harness = Harness::builder().with_size(size).build_ui(view);
        harness.run();
        for label in ["Belay console", "Setup", "belay journal"] {
            let place = harness.get_by_label(label).rect();
            assert!(place.min.x >= 0.0 && place.max.x <= size.x, "{label} at {place}");
            assert!(place.min.y >= 0.0 && place.max.y <= size.y - 30.0, "{label} at {place}");
        }
    }
}
