//! The ops console: what an on-call engineer sees of Belay's relays, and the
//! hand that works them.
//!
//! All of it lives in this library; the program beside it only opens a native
//! window. So every screen can be tested without a display. [`model`] is what is
//! known, [`update`] changes it, [`panel`] draws it, [`link`] talks to the relays.

pub mod args;
pub mod cell;
pub mod clock;
pub mod dialog;
pub mod history;
pub mod keys;
pub mod link;
pub mod model;
pub mod panel;
pub mod summary;
pub mod theme;
pub mod update;
pub mod words;

#[cfg(test)]
mod tests;

use crate::link::Link;
use crate::model::{Model, Screen};
use crate::panel::Scene;
use crate::theme::Colours;
use crate::update::{Msg, News, Task};
use eframe::egui::{self, CentralPanel, Frame, Margin, Panel, ViewportCommand};
use std::sync::mpsc::Receiver;
use std::time::Duration;

/// The window's title.
pub const TITLE: &str = "Belay console";

/// While something is counting down or up it is drawn this often, else only for news.
const TICK: Duration = Duration::from_secs(1);

/// The console as a window draws it.
#[derive(Debug)]
pub struct Console {
    /// What is known.
    pub model: Model,
    news: Receiver<News>,
    link: Option<Link>,
    /// The dialog's text field, while it is open.
    reason: String,
    /// The dialog has just opened and wants to know why: the next letters go there.
    wants_reason: bool,
    /// The theme that the context was dressed in.
    dressed: Option<bool>,
    title: String,
}

impl Console {
    /// A console that watches `relays`, whose news comes over `news` and whose tasks go to
    /// `link`; `None`: nowhere, as in tests.
    #[must_use]
    pub fn new(relays: &[String], news: Receiver<News>, link: Option<Link>) -> Self {
        let model = Model::new(relays);
        let (reason, title) = (String::new(), String::new());
        Self { model, news, link, reason, wants_reason: false, dressed: None, title }
    }

    /// Takes in what has come at `now`; gives what the link has to do.
    pub fn hear(&mut self, now: i64) -> Vec<Task> {
        let mut tasks = Vec::new();
        while let Ok(news) = self.news.try_recv() {
            tasks.extend(update::news(&mut self.model, news, now));
        }
        update::time_passes(&mut self.model, now);
        tasks
    }

    /// Does what the engineer did at `now`.
    pub fn obey(&mut self, all: Vec<Msg>, now: i64) -> Vec<Task> {
        let mut tasks = Vec::new();
        for msg in all {
            let had = self.model.dialog.as_ref().map(|dialog| dialog.id.clone());
            tasks.extend(update::update(&mut self.model, msg, now, clock::fresh_id));
            if let Some(dialog) = &self.model.dialog
                && had.as_ref() != Some(&dialog.id)
            {
                self.reason.clone_from(&dialog.reason);
                self.wants_reason = dialog.reason.is_empty();
            }
        }
        tasks
    }

    /// Draws it at `now`, with local time `local` seconds ahead of UTC.
    pub fn draw(&mut self, ui: &mut egui::Ui, now: i64, local: i64) -> Vec<Msg> {
        let ctx = ui.ctx().clone();
        if self.dressed != Some(self.model.light) {
            theme::dress(&ctx, self.model.light);
            self.dressed = Some(self.model.light);
        }
        let typing = ctx.egui_wants_keyboard_input();
        let pressed = ctx.input(|input| keys::read(input, &self.model, typing));
        let colours = Colours::of(self.model.light);
        let mut scene = Scene { model: &self.model, now, local, colours, out: pressed };
        let bar = Frame::new().fill(colours.ground).inner_margin(Margin::symmetric(6, 3));
        Panel::top("top").frame(bar).show(ui, |ui| panel::top::draw(ui, &mut scene));
        Panel::top("troubles").frame(bar).show(ui, |ui| panel::troubles::draw(ui, &mut scene));
        Panel::bottom("status").frame(bar).show(ui, |ui| panel::status::draw(ui, &mut scene));
        let body = Frame::new().fill(colours.ground);
        CentralPanel::default().frame(body).show(ui, |ui| match scene.model.screen {
            Screen::Board => panel::board::draw(ui, &mut scene),
            Screen::History => panel::history::draw(ui, &mut scene),
            Screen::Breakers => panel::breakers::draw(ui, &mut scene),
            Screen::Actions => panel::actions::draw(ui, &mut scene),
            Screen::Setup => panel::setup::draw(ui, &mut scene),
        });
        let wanted = std::mem::take(&mut self.wants_reason);
        panel::dialog::draw(&ctx, &mut scene, (&mut self.reason, wanted));
        if scene.model.help {
            panel::help::draw(&ctx, &mut scene);
        }
        scene.out
    }

    fn give(&self, tasks: Vec<Task>) {
        if let Some(link) = &self.link {
            tasks.into_iter().for_each(|task| link.give(task));
        }
    }

    /// The window's title says what is wrong, for whoever looks elsewhere.
    fn retitle(&mut self, ctx: &egui::Context) {
        let troubles = self.model.board().map(shared::diagnose::diagnose).unwrap_or_default();
        let worst = troubles.iter().find(|line| line.level == shared::diagnose::Level::Broken);
        let title = match worst {
            Some(line) => format!("▲ {} · Belay", line.text),
            None => TITLE.to_owned(),
        };
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }
}

impl eframe::App for Console {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        let tasks = self.hear(clock::now());
        self.give(tasks);
        self.retitle(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        let now = clock::now();
        let all = self.draw(ui, now, clock::local_offset());
        if !all.is_empty() {
            ui.ctx().request_repaint();
        }
        let tasks = self.obey(all, now);
        self.give(tasks);
        if let Some(text) = self.model.copy.take() {
            ui.ctx().copy_text(text);
        }
        ui.ctx().request_repaint_after(TICK);
    }
}
