//! What the desktop gives: the window's title and urgency, notifications, the clipboard, when
//! to draw again, and what is remembered.

use crate::Console;
use crate::clock;
use crate::frames::Frames;
use crate::keys::{self, Turns};
use crate::link::Link;
use crate::model::Alert;
use crate::news::News;
use crate::receive::is_counting;
use crate::settings::{self, Settings};
use crate::task::Task;
use eframe::egui::{self, UserAttentionType, ViewportCommand};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The window's title while all is well.
pub const TITLE: &str = "Belay console";

/// While something is counting, or in trouble, it is drawn this often, else only for news.
const COUNTING: Duration = Duration::from_secs(1);
/// Without news it is looked this often whether there should have been some.
const CALM: Duration = Duration::from_secs(4);

/// The console in its window.
#[derive(Debug)]
pub struct Window {
    console: Console,
    link: Link,
    frames: Option<Frames>,
    title: String,
    saved: Settings,
    tell: Sender<News>,
    turns: Turns,
    /// Keys wait for the next frame.
    more: bool,
}

/// The way in for news.
#[must_use]
pub fn news() -> (Sender<News>, Receiver<News>) {
    channel()
}

impl Window {
    /// A window on the relays of `settings`, whose news comes over `news` and whose tasks go
    /// to `link`. `tell` is the way in of `news`.
    #[must_use]
    pub fn new(
        settings: Settings,
        (tell, news): (Sender<News>, Receiver<News>),
        link: Link,
        frames: Option<Frames>,
    ) -> Self {
        // The relays are new to whoever is asked the next time, if they are.
        let saved = Settings { relays: Vec::new(), ..settings.clone() };
        let console = Console::new(settings, news);
        let turns = Turns::default();
        Self { console, link, frames, title: String::new(), saved, tell, turns, more: false }
    }

    fn give(&self, tasks: Vec<Task>) {
        tasks.into_iter().for_each(|task| self.link.give(task));
    }

    /// The title says what is wrong, for whoever looks elsewhere.
    fn retitle(&mut self, ctx: &egui::Context, now: i64) {
        let model = &self.console.model;
        let title = match model.alerts.worst(now) {
            Some(alert) => {
                let count = model.alerts.standing.len();
                let env = model.board().and_then(|board| board.relay.env.clone());
                let env = env.map(|env| format!(" · {env}")).unwrap_or_default();
                format!("▲{count} {}{env} · Belay", alert.text)
            }
            None => TITLE.to_owned(),
        };
        if title != self.title {
            ctx.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    /// Calls for whoever looks elsewhere.
    fn raise(&mut self, ctx: &egui::Context) {
        let fresh = std::mem::take(&mut self.console.model.alerts.fresh);
        if fresh.is_empty() {
            return;
        }
        let urgent = UserAttentionType::Critical;
        ctx.send_viewport_cmd(ViewportCommand::RequestUserAttention(urgent));
        let settings = &self.console.model.settings;
        if settings.desktop || settings.sound {
            let (sound, tell, ctx) = (settings.sound, self.tell.clone(), ctx.clone());
            // The desktop may take its time, or not be there.
            std::thread::spawn(move || {
                for alert in fresh {
                    if let Err(why) = notify(&alert, sound) {
                        let _window_gone = tell.send(News::Said(why.to_string()));
                        ctx.request_repaint();
                        return;
                    }
                }
            });
        }
    }

    fn remember(&mut self) {
        let settings = &self.console.model.settings;
        if *settings != self.saved {
            self.saved = settings.clone();
            if let Err(why) = settings::save(settings) {
                self.console.model.notify(why.to_string(), clock::now());
            }
        }
    }
}

/// The desktop shows no notifications.
struct NoNotifications;

impl std::fmt::Display for NoNotifications {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("this desktop shows no notifications; the title and this window still tell")
    }
}

/// Shows an alert by the desktop; a sound is the desktop's own for warnings.
fn notify(alert: &Alert, sound: bool) -> Result<(), NoNotifications> {
    let mut note = notify_rust::Notification::new();
    note.appname("Belay").summary("Belay").body(&alert.text);
    note.urgency(notify_rust::Urgency::Critical);
    if sound {
        note.sound_name("dialog-warning");
    }
    // Its own words name sockets and interfaces, which nobody can act on at night.
    note.show().map(|_shown| ()).map_err(|_unhelpful| NoNotifications)
}

impl eframe::App for Window {
    fn raw_input_hook(&mut self, _ctx: &egui::Context, raw_input: &mut egui::RawInput) {
        self.more = self.turns.take(&mut raw_input.events);
    }

    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        let now = clock::now();
        let tasks = self.console.take_news(now);
        self.give(tasks);
        self.retitle(ctx, now);
        self.raise(ctx);
        let is_counting = is_counting(&self.console.model, now);
        ctx.request_repaint_after(if is_counting { COUNTING } else { CALM });
    }

    fn ui(&mut self, ui: &mut egui::Ui, frame: &mut eframe::Frame) {
        let now = clock::now();
        if let Some(frames) = &mut self.frames {
            let requests = self.console.model.history.rows.shown().len();
            frames.note(now, frame.info().cpu_usage, requests);
        }
        let all = self.console.draw(ui, now, clock::local_offset());
        if !all.is_empty() || self.more {
            ui.ctx().request_repaint();
        }
        let holder = keys::holder(&self.console.model);
        let tasks = self.console.update(all, now);
        self.turns.drawn(holder != keys::holder(&self.console.model));
        self.give(tasks);
        if let Some(text) = self.console.model.copy.take() {
            ui.ctx().copy_text(text);
        }
        self.remember();
    }
}
