//! Actions: what operators have in force, and what they did.

use super::{Scene, line, strong};
use crate::model::Loaded;
use crate::theme::mono;
use crate::update::Msg;
use eframe::egui::{CentralPanel, Frame, Margin, RichText, ScrollArea, Ui};
use shared::admin::actions::{Action, ActionKind};
use shared::deeds;
use shared::figures::countdown;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let frame = Frame::new().fill(scene.colours.ground).inner_margin(Margin::symmetric(6, 4));
    CentralPanel::default().frame(frame).show(ui, |ui| {
        ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
            let colours = scene.colours;
            match &scene.model.actions {
                Loaded::No | Loaded::Asked => line(ui, "reading …", colours.dim),
                Loaded::Failed(why) => line(ui, why.clone(), colours.warn),
                Loaded::Come(page) => {
                    let (now, past): (Vec<&Action>, Vec<&Action>) =
                        page.items.iter().partition(|action| action.in_force);
                    strong(ui, "in force", colours.text);
                    if now.is_empty() {
                        line(ui, "  nothing", colours.dim);
                    }
                    now.into_iter().for_each(|action| row(ui, scene, action));
                    ui.add_space(8.0);
                    strong(ui, "past", colours.text);
                    past.into_iter().for_each(|action| row(ui, scene, action));
                    ui.add_space(8.0);
                    line(ui, "↑ ↓ select, u takes the selected one back", colours.dim);
                }
            }
        });
    });
}

fn row(ui: &mut Ui, scene: &mut Scene<'_>, action: &Action) {
    let sign = match action.kind {
        _ if !action.in_force => " ",
        ActionKind::Note => "n",
        _ => "■",
    };
    let now = scene.relay_now();
    let end = match (action.in_force, action.until_at) {
        (false, _) => String::new(),
        (true, Some(until)) => format!("{} left", countdown(until.0.saturating_sub(now.0))),
        (true, None) => "no end".to_owned(),
    };
    let text = format!(
        "{sign} {}  {:<10} {:<48} {end:<14} \"{}\"",
        scene.clock(action.at),
        action.by,
        deeds::what(action),
        action.reason
    );
    let colour = if action.in_force { scene.colours.hand } else { scene.colours.dim };
    let chosen = scene.model.action.as_ref() == Some(&action.id);
    if ui.selectable_label(chosen, RichText::new(text).font(mono()).color(colour)).clicked() {
        scene.out.push(Msg::Action(action.id.clone()));
    }
}
