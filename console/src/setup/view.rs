//! Setup: which relays are watched, and how they are.

use crate::model::{Reach, WatchedRelay};
use crate::panel::{Scene, line};
use crate::setup;
use crate::theme::mono;
use eframe::egui::{CentralPanel, Frame, Margin, RichText, Ui};
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
            if shared::remote::is_in_clear(&known.url) {
                let text = "    http: a token to it travels in clear; use https, or a tunnel";
                line(ui, text, colours.warn);
            }
            if let Some(error) = known.board.as_ref().and_then(|b| b.relay.config.error.as_ref()) {
                line(ui, format!("    config refused: {}", error.text), colours.bad);
            }
            if let Some(unread) = &known.unread {
                line(ui, format!("    not understood: {unread}; is it newer?"), colours.warn);
            }
        }
        ui.add_space(12.0);
        settings(ui, scene);
    });
}

/// What is remembered, each as a button.
fn settings(ui: &mut Ui, scene: &mut Scene<'_>) {
    let settings = scene.model.settings.clone();
    let on = |is: bool| if is { "on" } else { "off" };
    let mut button = |ui: &mut Ui, text: String, msg: setup::Msg| {
        if ui.button(RichText::new(text).font(mono())).clicked() {
            scene.send(msg);
        }
    };
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("alerts: title and urgency on ·").font(mono()));
        button(ui, format!("desktop {}", on(settings.desktop)), setup::Msg::Desktop);
        button(ui, format!("sound {}", on(settings.sound)), setup::Msg::Sound);
        button(ui, "try one".to_owned(), setup::Msg::TryAlert);
    });
    ui.horizontal_wrapped(|ui| {
        let theme = if settings.light { "light" } else { "dark" };
        let times = if settings.utc { "UTC" } else { "local" };
        button(ui, format!("theme {theme} (Ctrl+T)"), setup::Msg::Theme);
        button(ui, format!("times {times} (z)"), setup::Msg::Utc);
        button(ui, format!("scale {:.0} %", settings.scale * 100.0), setup::Msg::Scale(0));
        button(ui, "larger (Ctrl++)".to_owned(), setup::Msg::Scale(1));
        button(ui, "smaller (Ctrl+-)".to_owned(), setup::Msg::Scale(-1));
    });
    let alerts = &scene.model.alerts;
    for alert in &alerts.standing {
        let muted = alerts.is_muted(&alert.key, scene.now);
        let colour = if muted { scene.colours.dim } else { scene.colours.bad };
        let sign = if muted { "muted" } else { "▲" };
        line(ui, format!("{sign} {}", alert.text), colour);
    }
}

fn head() -> String {
    format!(
        "  {:<14}{:<10}{:<34}{:<20}{:<10}{:<9}{:<9}{:<10}{}",
        "relay", "env", "address", "who", "version", "up", "news", "clock", "journal  fleet"
    )
}

fn row(known: &WatchedRelay, now: i64) -> String {
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
    let fleet = relay.map_or_else(unknown, |relay| match (relay.fleet.on, relay.fleet.ok) {
        (false, _) => "alone".to_owned(),
        (true, true) => format!("ok, {} peers", relay.fleet.peers.len()),
        (true, false) => "store LOST".to_owned(),
    });
    format!(
        "{sign} {:<14}{:<10}{:<34}{who:<20}{:<10}{up:<9}{:<9}{:<10}{journal:<9}{fleet}",
        known.name(),
        relay.and_then(|relay| relay.env.clone()).unwrap_or_else(unknown),
        known.url,
        relay.map_or_else(unknown, |relay| relay.version.clone()),
        known.age(now).map_or_else(unknown, span),
        format!("{:+.1} s", known.offset.get() as f64 / 1_000.0),
    )
}
