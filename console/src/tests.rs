//! The whole console without a window: news in, keys and clicks in, what is on the screen and
//! what is sent out.

mod board;
mod changing;
mod freshness;
mod hands;
mod looks;
mod orders;
mod past;
mod several;
mod told;

use crate::Console;
use crate::news::News;
use crate::settings::Settings;
use crate::task::Task;
use eframe::egui::{Key, Modifiers, Vec2};
use egui_kittest::Harness;
use shared::admin::Board;
use shared::admin::actions::Preview;
use shared::admin::sample::NIGHT;
use std::sync::mpsc::{Sender, channel};

/// A console under test: its clock, what it was told and what it sent.
pub(super) struct Desk {
    pub(super) console: Console,
    tell: Sender<News>,
    pub(super) now: i64,
    pub(super) sent: Vec<Task>,
}

impl Desk {
    /// One that watches this board.
    pub(super) fn with(board: &Board) -> Self {
        Self::of(std::slice::from_ref(board))
    }

    /// One that watches a relay with each of these boards.
    pub(super) fn of(boards: &[Board]) -> Self {
        let (tell, news) = channel();
        let relays = (0..boards.len()).map(|n| format!("http://127.0.0.1:{}", 8788 + n)).collect();
        let console = Console::new(Settings { relays, ..Settings::default() }, news);
        let mut desk = Self { console, tell, now: NIGHT.0, sent: Vec::new() };
        for (relay, board) in boards.iter().enumerate() {
            desk.event_of(relay, "snapshot", board);
        }
        desk.work();
        desk
    }

    /// An event of the first relay's feed.
    pub(super) fn event(&mut self, kind: &str, data: &impl serde::Serialize) {
        self.event_of(0, kind, data);
    }

    /// An event of a relay's feed.
    pub(super) fn event_of(&mut self, relay: usize, kind: &str, data: &impl serde::Serialize) {
        let data = serde_json::to_string(data).unwrap();
        let (kind, at) = (kind.to_owned(), self.now);
        self.tell.send(News::Event { relay, kind, data, at }).unwrap();
    }

    pub(super) fn news(&mut self, news: News) {
        self.tell.send(news).unwrap();
        self.work();
    }

    /// Takes in what came.
    pub(super) fn work(&mut self) {
        let tasks = self.console.take_news(self.now);
        self.sent.extend(tasks);
    }

    /// The answer to the newest preview that was asked for.
    pub(super) fn preview(&mut self, preview: Preview) {
        let asked = self.console.model.dialog.as_ref().unwrap().asked;
        self.news(News::Previewed { relay: 0, asked, found: Ok(preview) });
    }

    /// Answers each preview that is requested and not answered, with nothing in it.
    pub(super) fn preview_all(&mut self) {
        let Some(dialog) = &self.console.model.dialog else { return };
        let asked = dialog.asked;
        let waits: Vec<usize> = dialog
            .previews
            .keys()
            .copied()
            .filter(|it| dialog.answered.get(it) != Some(&asked))
            .collect();
        for relay in waits {
            let found = Ok(Preview { ladders: Vec::new(), warnings: Vec::new() });
            self.news(News::Previewed { relay, asked, found });
        }
    }

    /// The changes that were sent.
    pub(super) fn changes(&self) -> Vec<&shared::admin::changes::ChangeRequest> {
        let change = |task: &'_ Task| matches!(task, Task::Change { .. });
        let all = self.sent.iter().filter(|task| change(task));
        all.filter_map(|task| match task {
            Task::Change { request, .. } => Some(request),
            _ => None,
        })
        .collect()
    }
}

/// It in a window of this size that is not there.
pub(super) fn window(desk: Desk, size: Vec2) -> Harness<'static, Desk> {
    let draw = |ui: &mut eframe::egui::Ui, desk: &mut Desk| {
        let now = desk.now;
        let all = desk.console.draw(ui, now, 0);
        let tasks = desk.console.update(all, now);
        desk.sent.extend(tasks);
    };
    let mut harness = Harness::builder().with_size(size).build_ui_state(draw, desk);
    harness.run_steps(3);
    harness
}

/// The usual window.
pub(super) fn opened(desk: Desk) -> Harness<'static, Desk> {
    window(desk, Vec2::new(1280.0, 800.0))
}

/// Presses a key.
pub(super) fn press(harness: &mut Harness<'_, Desk>, key: Key) {
    harness.key_press(key);
    harness.run_steps(3);
}

/// Does what the dialog says, as an engineer would: with a reason, once the preview is there.
pub(super) fn confirm(harness: &mut Harness<'_, Desk>) {
    harness.state_mut().preview_all();
    if let Some(dialog) = &mut harness.state_mut().console.model.dialog
        && dialog.reason.is_empty()
    {
        dialog.reason = "the test says so".to_owned();
    }
    harness.run_steps(3);
    press_with(harness, Modifiers::COMMAND, Key::Enter);
}

/// Presses a key with others held.
pub(super) fn press_with(harness: &mut Harness<'_, Desk>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}
