//! Changing a ladder's order: a list beside the Board, so that nothing is dragged on it.

use crate::dialog;
use crate::dialog::{About, Dialog, is_order};
use crate::model::Loaded;
use crate::panel::{Scene, line, strong};
use crate::theme::mono;
use eframe::egui::{
    Align2, Color32, Context, Id, Modal, RichText, Sense, Ui, WidgetInfo, accesskit::Role, vec2,
};
use shared::admin::actions::StepPreview;
use shared::figures::{per_hour, percent};

/// Width of the list.
const WIDTH: f32 = 420.0;
/// Height of a row.
const ROW: f32 = 18.0;

/// Draws it. It is modal, and the Board stays readable beside it.
pub(crate) fn draw(ctx: &Context, scene: &mut Scene<'_>) {
    if !scene.model.dialog.as_ref().is_some_and(is_order) {
        return;
    }
    let id = Id::unique("order");
    let area = Modal::default_area(id).anchor(Align2::RIGHT_CENTER, [0.0, 0.0]);
    Modal::new(id).area(area).backdrop_color(Color32::TRANSPARENT).show(ctx, |ui| {
        ui.set_width(WIDTH.min(ctx.content_rect().width() - 30.0));
        list(ui, scene);
    });
}

fn list(ui: &mut Ui, scene: &mut Scene<'_>) {
    let Some(dialog) = &scene.model.dialog else { return };
    let About::Order { ladder, rungs, seen, at, .. } = &dialog.about else { return };
    let colours = scene.colours;
    let state = scene.model.ladder(ladder);
    let version = state.map_or(0, |state| state.version);
    strong(ui, format!("Reorder {ladder}  v{version}"), colours.text);
    if let Some(state) = state {
        let whose = match &state.by {
            Some(by) => format!("{} order, by {by}", state.source),
            None => format!("{} order", state.source),
        };
        line(ui, whose, colours.dim);
    }
    let width = ui.available_width();
    let head = format!("{:<23}{:<17}{}", "", "share", "$/h");
    line(ui, head, colours.dim);
    for (place, rung) in rungs.iter().enumerate() {
        let chosen = place == *at;
        row(ui, scene, Row { dialog, rung, place, chosen, width });
    }
    line(ui, "↑↓ choose, Alt+↑↓ move, or drag", colours.dim);
    if let Some(changed) = &dialog.changed {
        ui.separator();
        line(ui, format!("◆ {changed}"), colours.warn);
        columns(ui, scene, state.map(|state| &state.config_order[..]), seen, rungs);
    }
    ui.separator();
    super::lasts(ui, scene, dialog);
    super::why(ui, scene, dialog, width);
    ui.separator();
    super::then(ui, scene, dialog, true);
    ui.separator();
    super::ending(ui, scene, dialog);
}

/// A rung of the order.
struct Row<'a> {
    dialog: &'a Dialog,
    rung: &'a String,
    place: usize,
    chosen: bool,
    width: f32,
}

fn row(ui: &mut Ui, scene: &mut Scene<'_>, Row { dialog, rung, place, chosen, width }: Row<'_>) {
    let colours = scene.colours;
    let (rect, response) = ui.allocate_exact_size(vec2(width, ROW), Sense::click_and_drag());
    if chosen || response.dragged() {
        ui.painter().rect_filled(rect, 2.0, colours.chosen);
    }
    let state = scene.model.rung(rung);
    let out = state.is_some_and(|rung| shared::diagnose::is_out(rung, scene.relay_now()));
    let (shape, colour) = match state.map(|rung| rung.forced.is_some()) {
        Some(true) => ("■", colours.hand),
        _ if out => ("▲", colours.bad),
        _ => ("●", colours.text),
    };
    let figures = step(dialog, rung).map_or_else(String::new, |step| {
        format!(
            "{:<17}{}",
            format!("{} → {}", percent(step.share.before), percent(step.share.after)),
            step.cost_nps.after.map_or_else(String::new, per_hour)
        )
    });
    let text = format!(":: {} {shape} {rung:<15}{figures}", place + 1);
    let at = rect.left_center() + vec2(4.0, 0.0);
    ui.painter().text(at, Align2::LEFT_CENTER, &text, mono(), colour);
    let name = format!("{rung}, place {}", place + 1);
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, chosen, &name));
    if response.drag_stopped()
        && let Some(pointer) = response.interact_pointer_pos()
    {
        // Rows below and above are as high as this one.
        let each = ROW + ui.spacing().item_spacing.y;
        #[expect(clippy::cast_possible_truncation, reason = "a few rows")]
        let by = ((pointer.y - rect.center().y) / each).round() as isize;
        let to = place.saturating_add_signed(by);
        scene.send(dialog::Msg::Place { from: place, to });
    }
}

fn step<'a>(dialog: &'a Dialog, rung: &str) -> Option<&'a StepPreview> {
    let first = dialog.previews.values().find_map(Loaded::come)?;
    first.ladders.first()?.steps.iter().find(|step| step.rung == rung)
}

/// The three orders side by side: the config's, theirs, mine.
fn columns(
    ui: &mut Ui,
    scene: &Scene<'_>,
    config: Option<&[String]>,
    theirs: &[String],
    mine: &[String],
) {
    let colours = scene.colours;
    let config = config.unwrap_or_default();
    line(ui, format!("  {:<16}{:<16}{}", "config", "theirs", "mine"), colours.dim);
    let count = config.len().max(theirs.len()).max(mine.len());
    for place in 0..count {
        let of = |all: &[String]| all.get(place).cloned().unwrap_or_default();
        let text = format!("{} {:<16}{:<16}{}", place + 1, of(config), of(theirs), of(mine));
        let colour = if of(theirs) == of(mine) { colours.dim } else { colours.text };
        ui.label(RichText::new(text).font(mono()).color(colour));
    }
}
