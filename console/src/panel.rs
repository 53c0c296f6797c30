//! The parts of the window: each turns its part of the model into what it draws, and what
//! the engineer does there into messages.

pub mod actions;
pub(crate) mod board;
pub mod breakers;
pub mod dialog;
pub mod help;
pub mod history;
pub mod ladders;
pub mod setup;
pub mod side;
pub mod status;
pub mod top;
pub mod troubles;
pub mod turned;

use crate::model::Model;
use crate::theme::{Colours, mono};
use crate::update::Msg;
use eframe::egui::{Color32, RichText, Ui};
use shared::UnixMillis;

/// What drawing needs beside the model, and where messages go.
#[derive(Debug)]
pub struct Scene<'a> {
    /// What is known.
    pub model: &'a Model,
    /// Now, by our clock, in milliseconds since 1970.
    pub now: i64,
    /// Seconds that local time is ahead of UTC.
    pub local: i64,
    /// The colours.
    pub colours: Colours,
    /// What the engineer does.
    pub out: Vec<Msg>,
}

impl Scene<'_> {
    /// The shown relay's time.
    #[must_use]
    pub fn relay_now(&self) -> UnixMillis {
        self.model.relay_now(self.now)
    }

    /// A moment of a relay as a clock with seconds: local, or UTC.
    #[must_use]
    pub fn clock(&self, at: UnixMillis) -> String {
        let shift = if self.model.utc { 0 } else { self.local * 1_000 };
        let seconds = (at.0 + shift).div_euclid(1_000).rem_euclid(86_400);
        format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
    }

    /// The offset that clocks are shown with.
    #[must_use]
    pub fn zone(&self) -> String {
        if self.model.utc || self.local == 0 {
            return "UTC".to_owned();
        }
        let sign = if self.local < 0 { '-' } else { '+' };
        let minutes = self.local.abs() / 60;
        match minutes % 60 {
            0 => format!("{sign}{:02}", minutes / 60),
            rest => format!("{sign}{:02}:{rest:02}", minutes / 60),
        }
    }
}

/// A line of monospace text.
pub(crate) fn line(ui: &mut Ui, text: impl Into<String>, colour: Color32) {
    ui.label(RichText::new(text).font(mono()).color(colour));
}

/// The same in bold.
pub(crate) fn strong(ui: &mut Ui, text: impl Into<String>, colour: Color32) {
    ui.label(RichText::new(text).font(mono()).color(colour).strong());
}
