//! Actions: what operators have in force, and what they did.

use super::rows::{Row, rows};
use crate::actions;
use crate::commands::OF_ACTION;
use crate::model::Loaded;
use crate::panel::acts::{buttons, menu};
use crate::panel::{Scene, line, strong};
use crate::theme::mono;
use eframe::egui::{CentralPanel, Frame, Margin, RichText, ScrollArea, Ui};
use shared::action_words;
use shared::admin::actions::ActionKind;
use shared::admin::changes::Change;
use shared::figures::countdown;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let frame = Frame::new().fill(scene.colours.ground).inner_margin(Margin::symmetric(6, 4));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| list(ui, scene));
    });
}

fn list(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    for (relay, page) in &scene.model.actions {
        if let Loaded::Failed(why) = page {
            line(ui, format!("{}: {why}", scene.model.names(&[*relay])), colours.warn);
        }
    }
    if scene.model.actions.values().any(Loaded::is_loading) {
        line(ui, "reading …", colours.dim);
    }
    let all = rows(scene.model);
    let (now, past): (Vec<&Row<'_>>, Vec<&Row<'_>>) = all.iter().partition(|row| row.in_force());
    strong(ui, "in force", colours.text);
    line(ui, heading(), colours.dim);
    if now.is_empty() {
        line(ui, "  nothing", colours.dim);
    }
    now.into_iter().for_each(|action| row(ui, scene, action));
    ui.add_space(8.0);
    strong(ui, "past", colours.text);
    past.into_iter().for_each(|action| row(ui, scene, action));
    ui.add_space(8.0);
    buttons(ui, scene, &OF_ACTION);
}

fn heading() -> String {
    format!("  {:<16} {:<10} {:<48} {:<14} {}", "SINCE", "BY", "WHAT", "ENDS", "WHY")
}

fn row(ui: &mut Ui, scene: &mut Scene<'_>, row: &Row<'_>) {
    let action = row.action;
    let is_order = action.changes.iter().any(|change| matches!(change, Change::Order { .. }));
    let sign = match action.kind {
        _ if !row.in_force() => " ",
        ActionKind::Note => "n",
        _ if is_order => "↕",
        _ => "■",
    };
    let now = scene.relay_now();
    let end = match (row.in_force(), action.kind, action.until_at) {
        (false, ..) => String::new(),
        (_, ActionKind::Note, _) => "until ended".to_owned(),
        (_, _, Some(until)) => format!("{} left", countdown(until.0.saturating_sub(now.0))),
        (_, _, None) => "no end".to_owned(),
    };
    let several = scene.model.viewed().len() > 1;
    let on =
        if several { format!("  on {}", scene.model.names(&row.relays)) } else { String::new() };
    let text = format!(
        "{sign} {:<16} {:<10} {:<48} {end:<14} \"{}\"{on}",
        scene.clock(action.at),
        action.by,
        action_words::what(action),
        action.reason
    );
    let colour = if row.in_force() { scene.colours.hand } else { scene.colours.dim };
    let chosen = scene.model.action.as_ref() == Some(&action.id);
    let label = ui.selectable_label(chosen, RichText::new(text).font(mono()).color(colour));
    if chosen && !ui.is_rect_visible(label.rect) {
        label.scroll_to_me(None);
    }
    let select = || actions::Msg::Select(action.id.clone()).into();
    menu(&label, scene, &OF_ACTION, select);
    if label.clicked() {
        scene.send(select());
    }
}
