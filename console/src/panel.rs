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

    /// A moment of a relay as a clock with seconds, local or UTC; with its day where that is not
    /// today: `14:02:11`, `30 Nov 14:02:11`.
    #[must_use]
    pub fn clock(&self, at: UnixMillis) -> String {
        let shift = if self.model.settings.utc { 0 } else { self.local };
        let shown = |at: UnixMillis| {
            let second = at.0.div_euclid(1_000).saturating_add(shift);
            jiff::Timestamp::from_second(second).unwrap_or_default().strftime("%d %b %H:%M:%S")
        };
        let (at, now) = (shown(at).to_string(), shown(self.relay_now()).to_string());
        let day = "30 Nov ".len();
        let is_today = at.get(..day) == now.get(..day);
        at.get(if is_today { day } else { 0 }..).unwrap_or_default().to_owned()
    }

    /// The same with milliseconds.
    #[must_use]
    pub fn clock_ms(&self, at: UnixMillis) -> String {
        format!("{}.{:03}", self.clock(at), at.0.rem_euclid(1_000))
    }

    /// A window of figures in words: `30 s`, or of a relay that has run for less `8.0 s, since its
    /// start`.
    #[must_use]
    pub fn window(&self, millis: i64) -> String {
        let started = self.model.board().map(|board| board.relay.started_at.0);
        let up = started.map(|at| self.relay_now().0.saturating_sub(at));
        match up.filter(|up| *up < millis) {
            Some(up) => format!("{}, since its start", shared::figures::span(up)),
            None => shared::figures::span(millis),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_its_day_where_that_is_not_today() {
        let mut model = Model::default();
        // 2026-11-30 23:30:00 UTC.
        let (now, hour) = (1_796_081_400_000, 3_600_000);
        let mut scene = |utc: bool, local: i64, ago: i64| {
            model.settings.utc = utc;
            let colours = Colours::of(false);
            let scene = Scene { model: &model, now, local, colours, out: Vec::new() };
            scene.clock(UnixMillis(now - ago))
        };
        assert_eq!(scene(true, 0, 0), "23:30:00");
        assert_eq!(scene(true, 0, 25 * hour), "29 Nov 22:30:00");
        // An hour ahead today is the first of December: half an hour ago it was not.
        assert_eq!(scene(false, 3_600, 0), "00:30:00");
        assert_eq!(scene(false, 3_600, hour), "30 Nov 23:30:00");
        assert_eq!(scene(true, 3_600, hour), "22:30:00");
    }
}
