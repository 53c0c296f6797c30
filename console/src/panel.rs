//! The parts of the window: each turns its part of the model into what it draws, and what
//! the engineer does there into messages.

pub(crate) mod acts;
pub mod help;
pub(crate) mod palette;
pub mod status;
pub(crate) mod token;
pub mod top;
pub mod troubles;

use crate::model::Model;
use crate::msg::Msg;
use crate::theme::{Colours, mono};
use eframe::egui::{Color32, Id, Label, Response, RichText, Ui};
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
    /// The engineer does this.
    pub fn send(&mut self, msg: impl Into<Msg>) {
        self.out.push(msg.into());
    }

    /// The shown relays' time.
    #[must_use]
    pub fn relay_now(&self) -> UnixMillis {
        self.model.relay_now(self.now)
    }

    /// A moment of a relay as a clock with seconds: local, or UTC.
    #[must_use]
    pub fn clock(&self, at: UnixMillis) -> String {
        let shift = if self.model.settings.utc { 0 } else { self.local * 1_000 };
        let seconds = (at.0 + shift).div_euclid(1_000).rem_euclid(86_400);
        format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
    }

    /// The same with milliseconds.
    #[must_use]
    pub fn clock_ms(&self, at: UnixMillis) -> String {
        format!("{}.{:03}", self.clock(at), at.0.rem_euclid(1_000))
    }

    /// The offset that clocks are shown with.
    #[must_use]
    pub fn zone(&self) -> String {
        if self.model.settings.utc || self.local == 0 {
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

/// The same, cut where the room ends; the whole of it is told by the pointer.
pub(crate) fn cut(ui: &mut Ui, text: impl Into<String>, colour: Color32) {
    let text = RichText::new(text).font(mono()).color(colour);
    ui.add(Label::new(text).truncate());
}

/// The same in bold.
pub(crate) fn strong(ui: &mut Ui, text: impl Into<String>, colour: Color32) {
    ui.label(RichText::new(text).font(mono()).color(colour).strong());
}

/// Gives a text field the keys when it appears, and when what it is for changes: its `key`.
pub(crate) fn focus_once(ui: &Ui, field: &Response, key: &str) {
    let place = Id::unique("focused once").with(field.id);
    let frame = ui.ctx().cumulative_frame_nr();
    let known = ui.data(|data| data.get_temp::<(String, u64)>(place));
    let is_known = known.is_some_and(|(of, last)| of == key && last + 1 >= frame);
    ui.data_mut(|data| data.insert_temp(place, (key.to_owned(), frame)));
    if !is_known {
        field.request_focus();
    }
}
