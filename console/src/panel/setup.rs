//! Setup: which relays are watched, and how they are.

use super::{Scene, line};
use crate::model::{Known, Reach};
use eframe::egui::{CentralPanel, Frame, Margin, Ui};
use shared::admin::Role;
use shared::figures::{UNKNOWN, span};

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    let frame = Frame::new().fill(colours.ground).inner_margin(Margin::symmetric(6, 4));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        line(ui, head(), colours.dim);
        for known in &scene.model.relays {
            let colour = if known.is_stale(scene.now) { colours.bad } else { colours.text };
            line(ui, row(known, scene.now), colour);
            if let Reach::Lost(why) = &known.reach {
                line(ui, format!("    {why}"), colours.warn);
            }
            if let Some(error) = known.board.as_ref().and_then(|b| b.relay.config.error.as_ref()) {
                line(ui, format!("    config refused: {}", error.text), colours.bad);
            }
            if let Some(unread) = &known.unread {
                line(ui, format!("    not understood: {unread}; is it newer?"), colours.warn);
            }
        }
        ui.add_space(12.0);
        let theme = if scene.model.light { "light" } else { "dark" };
        let times = if scene.model.utc { "UTC" } else { "local" };
        let text = format!("theme [{theme}] Ctrl+T   times [{times}] z   scale Ctrl+ + - 0");
        line(ui, text, colours.dim);
    });
}

fn head() -> String {
    format!(
        "  {:<14}{:<10}{:<34}{:<20}{:<10}{:<9}{:<9}{:<10}{}",
        "relay", "env", "address", "who", "version", "up", "news", "clock", "journal"
    )
}

fn row(known: &Known, now: i64) -> String {
    let relay = known.board.as_ref().map(|board| &board.relay);
    let sign = if known.is_stale(now) { "◌" } else { "●" };
    let unknown = || UNKNOWN.to_owned();
    let who = relay.map_or_else(unknown, |relay| {
        let name = relay.you.name.as_deref().unwrap_or("no token");
        let role = if relay.you.role == Role::Viewer { "viewer" } else { "operator" };
        format!("{name}, {role}")
    });
    let up =
        relay.map_or_else(unknown, |relay| span(now + known.offset.get() - relay.started_at.0));
    let journal = relay.map_or_else(unknown, |relay| {
        let state = if relay.journal.ok { "ok" } else { "FAILING" };
        relay.journal.error.clone().unwrap_or_else(|| state.to_owned())
    });
    format!(
        "{sign} {:<14}{:<10}{:<34}{who:<20}{:<10}{up:<9}{:<9}{:<10}{journal}",
        known.name(),
        relay.and_then(|relay| relay.env.clone()).unwrap_or_else(unknown),
        known.url,
        relay.map_or_else(unknown, |relay| relay.version.clone()),
        known.age(now).map_or_else(unknown, span),
        format!("{:+.1} s", known.offset.get() as f64 / 1_000.0),
    )
}
