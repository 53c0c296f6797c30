//! The dialog of every change: what, for how long, why, and what would come of it.

use super::{Scene, line, strong};
use crate::dialog::{About, Dialog, Sent};
use crate::model::Loaded;
use crate::theme::mono;
use crate::update::Msg;
use crate::words;
use eframe::egui::{Align2, Context, RichText, TextEdit, Ui, Window};
use shared::admin::actions::{BeforeAfter, LadderPreview, Preview, WarningKind};
use shared::admin::changes::Mode;
use shared::figures::{UNKNOWN, per_hour, percent, wait};

/// Its width.
const WIDTH: f32 = 760.0;

/// Draws it; where a reason is `wanted` its field takes the keys.
pub(crate) fn draw(ctx: &Context, scene: &mut Scene<'_>, (reason, wanted): (&mut String, bool)) {
    let Some(dialog) = &scene.model.dialog else { return };
    let env = scene.model.board().and_then(|board| board.relay.env.clone()).unwrap_or_default();
    let names = scene.model.reached(scene.now).into_iter();
    let names = names.filter_map(|relay| Some(scene.model.relays.get(relay)?.name()));
    let title = [what(dialog), env, names.collect::<Vec<_>>().join(", ")];
    let title = title.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>();
    let title = title.join(" · ");
    let window = Window::new(title).anchor(Align2::CENTER_CENTER, [0.0, 0.0]);
    window.collapsible(false).resizable(false).show(ctx, |ui| {
        ui.set_width(WIDTH);
        about(ui, scene, dialog);
        lasts(ui, scene, dialog);
        ui.horizontal(|ui| {
            let label = ui.label(RichText::new("Why ").font(mono()));
            let edit = TextEdit::singleline(reason).font(mono()).desired_width(WIDTH - 60.0);
            let edit = ui.add_enabled(!dialog.is_sent(), edit).labelled_by(label.id);
            if wanted {
                edit.request_focus();
            }
            if edit.changed() {
                scene.out.push(Msg::Reason(reason.clone()));
            }
        });
        ui.separator();
        then(ui, scene, dialog);
        ui.separator();
        ending(ui, scene, dialog);
    });
}

/// What the change does, as a title.
#[must_use]
pub fn what(dialog: &Dialog) -> String {
    match &dialog.about {
        About::Rung { rung, mode: Mode::Auto, .. } => format!("{rung} back to auto"),
        About::Rung { rung, mode, .. } => {
            let mut words = format!("{} {rung}", words::mode(*mode));
            if let Some(first) = words.get_mut(..1) {
                first.make_ascii_uppercase();
            }
            words
        }
        About::Order { ladder, .. } => format!("Reorder {ladder}"),
    }
}

fn about(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog) {
    let colours = scene.colours;
    match &dialog.about {
        About::Rung { cover, cut, mode, .. } => {
            ui.horizontal(|ui| {
                line(ui, "What", colours.text);
                for (place, (_, words)) in dialog.covers(scene.model).into_iter().enumerate() {
                    let text = RichText::new(words).font(mono());
                    if ui.radio(place == *cover, text).clicked() {
                        scene.out.push(Msg::CoverAt(place));
                    }
                }
                if dialog.covers(scene.model).len() > 1 {
                    line(ui, "Alt+S", colours.dim);
                }
            });
            if *mode == Mode::ForcedOpen {
                ui.horizontal(|ui| {
                    line(ui, "Now ", colours.text);
                    let mut cut = *cut;
                    let text = RichText::new("cut running streams, too (Alt+X)").font(mono());
                    if ui.checkbox(&mut cut, text).clicked() {
                        scene.out.push(Msg::Cut);
                    }
                    line(ui, "waiting calls move on at once", colours.dim);
                });
            }
        }
        About::Order { rungs, at, .. } => {
            for (place, rung) in rungs.iter().enumerate() {
                let chosen = place == *at;
                let sign = if chosen { "::" } else { "  " };
                let state = scene.model.rung(rung);
                let out =
                    state.is_some_and(|rung| shared::diagnose::is_out(rung, scene.relay_now()));
                let more = if out { "  ▲ stays out while open" } else { "" };
                let text = format!("{sign} {} {rung}{more}", place + 1);
                let colour = if chosen { colours.text } else { colours.dim };
                line(ui, text, colour);
            }
            line(ui, "↑↓ choose, Alt+↑↓ move", colours.dim);
        }
    }
}

fn lasts(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog) {
    if dialog.ttl().is_none() {
        return;
    }
    ui.horizontal(|ui| {
        line(ui, "For ", scene.colours.text);
        for (place, (words, chosen)) in dialog.lasts().enumerate() {
            let text = RichText::new(words).font(mono());
            if ui.selectable_label(chosen, text).clicked() {
                scene.out.push(Msg::Last(place));
            }
        }
        line(ui, "Alt+1–5", scene.colours.dim);
        if let Some(span) = dialog.ttl().and_then(shared::admin::ttl::Ttl::span) {
            let span = i64::try_from(span.as_millis()).unwrap_or(i64::MAX);
            let end = shared::UnixMillis(scene.relay_now().0.saturating_add(span));
            let text = format!("ends {} {}", scene.clock(end), scene.zone());
            line(ui, text, scene.colours.dim);
        }
    });
}

fn then(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog) {
    let colours = scene.colours;
    match &dialog.preview {
        Loaded::No | Loaded::Asked => line(ui, "Then … asking the relay", colours.dim),
        Loaded::Failed(why) => line(ui, format!("Then {UNKNOWN}  no preview: {why}"), colours.warn),
        Loaded::Come(preview) => {
            for ladder in &preview.ladders {
                strong(ui, head(ladder), colours.text);
                for text in steps(ladder) {
                    line(ui, text, colours.dim);
                }
            }
            warnings(ui, scene, dialog, preview);
        }
    }
}

fn warnings(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog, preview: &Preview) {
    let colours = scene.colours;
    for warning in &preview.warnings {
        let (shape, colour) = match warning.kind {
            WarningKind::LastRung | WarningKind::OnlySick => ("▲", colours.bad),
            WarningKind::CapabilityLost | WarningKind::OverPeak => ("◆", colours.warn),
        };
        line(ui, format!("{shape} {}", warning.text), colour);
        let Some(ladder) = warning.ladder.as_ref() else { continue };
        if warning.kind == WarningKind::LastRung {
            let mut accepted = dialog.accept.contains(ladder);
            let text = format!("I accept this for {ladder} (Alt+A)");
            if ui.checkbox(&mut accepted, RichText::new(text).font(mono())).clicked() {
                scene.out.push(Msg::Accept(ladder.clone()));
            }
            line(ui, "Demote instead keeps it as the last choice (Alt+D)", colours.dim);
        }
    }
}

/// A ladder before and after.
fn head(ladder: &LadderPreview) -> String {
    format!(
        "{:<12} first token p50 {}, p95 {}   {}   unserved {}",
        ladder.ladder,
        both(ladder.ttft_p50_ms, wait),
        both(ladder.ttft_p95_ms, wait),
        both(ladder.cost_nps, |cost| cost.map_or(UNKNOWN.to_owned(), per_hour)),
        both(ladder.unserved, percent),
    )
}

fn steps(ladder: &LadderPreview) -> Vec<String> {
    let row = |step: &shared::admin::actions::StepPreview| {
        format!(
            "  {:<8} {:<16} {:<16} {}",
            both(step.place, |place| place.to_string()),
            step.rung,
            both(step.share, percent),
            both(step.cost_nps, |cost| cost.map_or(UNKNOWN.to_owned(), per_hour)),
        )
    };
    let mut all: Vec<String> = ladder.steps.iter().map(row).collect();
    all.push(format!("  from its last {} requests", ladder.requests));
    all
}

fn both<T: Copy>(pair: BeforeAfter<T>, say: impl Fn(T) -> String) -> String {
    let (before, after) = (say(pair.before), say(pair.after));
    if before == after { before } else { format!("{before} → {after}") }
}

fn ending(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog) {
    let colours = scene.colours;
    for sent in dialog.sent.values() {
        let (text, colour) = match sent {
            Sent::Waiting(_) => ("sent …".to_owned(), colours.dim),
            Sent::Done(words) => (words.clone(), colours.text),
            Sent::Refused(words) => (words.clone(), colours.bad),
            Sent::NotConfirmed(words) => (words.clone(), colours.warn),
        };
        line(ui, text, colour);
    }
    let obstacle = dialog.obstacle(scene.model, scene.now);
    ui.horizontal(|ui| {
        if ui.button(RichText::new("Esc cancel").font(mono())).clicked() {
            scene.out.push(Msg::Back);
        }
        let text =
            RichText::new(format!("Ctrl+Enter {}", what(dialog).to_lowercase())).font(mono());
        let button = ui.add_enabled(obstacle.is_none(), eframe::egui::Button::new(text));
        if button.clicked() {
            scene.out.push(Msg::Send);
        }
        if let Some(why) = obstacle.filter(|_| !dialog.is_sent()) {
            line(ui, why, colours.warn);
        }
    });
}
