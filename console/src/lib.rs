//! The ops console: what an on-call engineer sees of Belay's relays, and the
//! hand that works them.
//!
//! All of it lives in this library; the program beside it only opens a native
//! window. So every screen can be tested without a display. For now there is
//! one screen, which says what the others will be and shows nothing it does not
//! know.

pub mod args;
mod first;
pub mod theme;

use eframe::egui;

/// The window's title.
pub const TITLE: &str = "Belay console";

/// The console as a window draws it.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Console {}

impl Console {
    /// A console that draws on this context, which it dresses for the night.
    #[must_use]
    pub fn new(ctx: &egui::Context) -> Self {
        theme::dress(ctx);
        Self {}
    }
}

impl eframe::App for Console {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        view(ui);
    }
}

/// Draws the console.
pub fn view(ui: &mut egui::Ui) {
    first::view(ui);
}
