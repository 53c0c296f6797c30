//! The ops console: what an on-call engineer sees of Belay's relays, and the
//! hand that works them.
//!
//! All of it lives in this library; the program beside it only opens a native
//! window. So every screen can be tested without a display. [`model`] is what is
//! known, [`update`] changes it, [`panel`] draws it, [`link`] talks to the relays,
//! [`window`] is what the desktop gives.

pub mod actions;
pub mod args;
pub mod board;
pub mod breakers;
pub mod clock;
pub mod commands;
pub mod copy;
pub mod dialog;
pub mod frames;
pub mod history;
pub mod keys;
pub mod link;
pub mod model;
pub mod msg;
pub mod news;
pub mod palette;
pub mod panel;
pub mod receive;
pub mod settings;
pub mod setup;
pub mod summary;
pub mod task;
pub mod theme;
pub mod update;
pub mod widgets;
pub mod window;
pub mod words;

#[cfg(test)]
mod tests;

use crate::model::{Model, Screen};
use crate::msg::Msg;
use crate::news::News;
use crate::panel::Scene;
use crate::settings::Settings;
use crate::task::Task;
use crate::theme::Colours;
use eframe::egui::{self, CentralPanel, Frame, Margin, Panel};
use std::sync::mpsc::Receiver;

/// The console without the window around it: news in, what is done out.
#[derive(Debug)]
pub struct Console {
    /// What is known.
    pub model: Model,
    news: Receiver<News>,
    /// The theme and the scale that the context was dressed in.
    dressed: Option<(bool, f32)>,
}

impl Console {
    /// A console that watches the relays of `settings`, whose news comes over `news`.
    #[must_use]
    pub fn new(settings: Settings, news: Receiver<News>) -> Self {
        Self { model: Model::new(settings), news, dressed: None }
    }

    /// Takes in what has come at `now`; gives what the link has to do.
    pub fn take_news(&mut self, now: i64) -> Vec<Task> {
        let mut tasks = Vec::new();
        while let Ok(news) = self.news.try_recv() {
            tasks.extend(receive::news(&mut self.model, news, now));
        }
        tasks.extend(receive::time_passes(&mut self.model, now));
        tasks
    }

    /// Does what the engineer did in the frame that was drawn last, at `now`.
    pub fn update(&mut self, all: Vec<Msg>, now: i64) -> Vec<Task> {
        let one = |msg| update::update(&mut self.model, msg, now, &clock::fresh_id);
        let tasks = all.into_iter().flat_map(one).collect();
        // Keys of that frame were pressed before it was seen: only the next ones may confirm it.
        if let Some(dialog) = &mut self.model.dialog {
            dialog.was_drawn();
        }
        tasks
    }

    /// Draws it at `now`, with local time `local` seconds ahead of UTC.
    pub fn draw(&mut self, ui: &mut egui::Ui, now: i64, local: i64) -> Vec<Msg> {
        let ctx = ui.ctx().clone();
        let looks = (self.model.settings.light, self.model.settings.scale);
        if self.dressed != Some(looks) {
            theme::dress(&ctx, looks.0, looks.1);
            self.dressed = Some(looks);
        }
        let focus = match (ctx.text_edit_focused(), ctx.egui_wants_keyboard_input()) {
            (true, _) => keys::Focus::Text,
            (false, true) => keys::Focus::Widget,
            _ => keys::Focus::None,
        };
        let pressed = ctx.input(|input| keys::read(input, &self.model, focus, now));
        // It confirms the dialog, and presses no button that has the focus.
        ctx.input_mut(|input| input.consume_key(egui::Modifiers::COMMAND, egui::Key::Enter));
        let colours = Colours::of(self.model.settings.light);
        let mut scene = Scene { model: &self.model, now, local, colours, out: pressed };
        let bar = Frame::new().fill(colours.ground).inner_margin(Margin::symmetric(6, 3));
        Panel::top("top").frame(bar).show(ui, |ui| panel::top::draw(ui, &mut scene));
        Panel::top("troubles").frame(bar).show(ui, |ui| panel::troubles::draw(ui, &mut scene));
        Panel::bottom("status").frame(bar).show(ui, |ui| panel::status::draw(ui, &mut scene));
        let body = Frame::new().fill(colours.ground);
        CentralPanel::default().frame(body).show(ui, |ui| match scene.model.screen {
            Screen::Board => board::view::draw(ui, &mut scene),
            Screen::History => history::view::draw(ui, &mut scene),
            Screen::Breakers => breakers::view::draw(ui, &mut scene),
            Screen::Actions => actions::view::draw(ui, &mut scene),
            Screen::Setup => setup::view::draw(ui, &mut scene),
        });
        dialog::view::draw(&ctx, &mut scene);
        dialog::view::reorder::draw(&ctx, &mut scene);
        panel::token::draw(&ctx, &mut scene);
        panel::palette::draw(&ctx, &mut scene);
        if scene.model.help {
            panel::help::draw(&ctx, &mut scene);
        }
        scene.out
    }
}
