//! The dialog of every change: what, for how long, why, and what would come of it.

pub(crate) mod reorder;

use crate::dialog;
use crate::dialog::is_order;
use crate::dialog::{About, Dialog, OtherAction, Sent};
use crate::model::{Loaded, Model};
use crate::msg::Msg;
use crate::panel::acts::hint;
use crate::panel::{Scene, cut, focus_once, line, strong};
use crate::theme::mono;

use crate::words;
use eframe::egui::{Button, Color32, Context, Id, Modal, RichText, ScrollArea, TextEdit, Ui};
use shared::OverrideMode;
use shared::admin::actions::{BeforeAfter, LadderPreview, StepPreview, Warning, WarningKind};
use shared::figures::{UNKNOWN, per_hour, percent, wait};

/// Its width.
const WIDTH: f32 = 760.0;
/// Reasons that are often true.
const REASONS: [&str; 3] = ["incident", "planned work", "cost"];
/// Height of the figures of what would come of it.
const FIGURES: f32 = 260.0;

/// Draws it, unless it is about an order. It is modal: nothing behind it gets the pointer or the
/// focus.
pub(crate) fn draw(ctx: &Context, scene: &mut Scene<'_>) {
    let Some(dialog) = scene.model.dialog.as_ref().filter(|dialog| !is_order(dialog)) else {
        return;
    };
    Modal::new(Id::unique("dialog")).backdrop_color(Color32::from_black_alpha(60)).show(
        ctx,
        |ui| {
            let width = WIDTH.min(ctx.content_rect().width() - 30.0);
            ui.set_width(width);
            strong(ui, title(scene, dialog), scene.colours.text);
            ui.separator();
            if let Some(changed) = &dialog.changed {
                line(ui, format!("◆ {changed}"), scene.colours.warn);
            }
            about(ui, scene, dialog);
            lasts(ui, scene, dialog);
            why(ui, scene, dialog, width);
            if !dialog.previews.is_empty() {
                ui.separator();
                then(ui, scene, dialog, false);
            }
            ui.separator();
            ending(ui, scene, dialog);
        },
    );
}

/// What, where, and who will not know.
fn title(scene: &Scene<'_>, dialog: &Dialog) -> String {
    let targets = dialog.targets(scene.model, scene.now);
    // Of what it goes to, which need not be what is shown.
    let board = |it: &usize| scene.model.relays.get(*it)?.board.as_ref();
    let env = targets.iter().find_map(board).and_then(|board| board.relay.env.clone());
    let lost = match scene.model.names(&dialog.unreached(scene.model, scene.now)).as_str() {
        "" => String::new(),
        lost => format!("{lost} lost: will not know"),
    };
    let names = scene.model.names(&targets);
    let parts = [what(dialog, scene.model), env.unwrap_or_default(), names, lost];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")
}

/// What the change does, as a title.
#[must_use]
pub fn what(dialog: &Dialog, model: &Model) -> String {
    let on = |rung: &Option<String>, ladder: &Option<String>| {
        rung.clone().or_else(|| ladder.clone()).unwrap_or_else(|| "all of it".to_owned())
    };
    let whom = |rungs: &[String], cover: usize| match dialog.covers(model).into_iter().nth(cover) {
        Some((_, words)) if rungs.len() == 1 && cover > 0 => words,
        _ => rungs.join(", "),
    };
    match &dialog.about {
        About::Rungs { rungs, mode, cover, .. } => words::set(*mode, &whom(rungs, *cover)),
        About::Order { ladder, .. } => format!("Reorder {ladder}"),
        About::ConfigOrder { ladder } => format!("{ladder} back to the config's order"),
        About::Other(OtherAction::Probe { rung }) => format!("Probe {rung} now"),
        About::Other(OtherAction::Check { rung }) => format!("Test call to {rung}"),
        About::Other(OtherAction::Undo { what, .. }) if what.is_empty() => {
            "Undo my last change".to_owned()
        }
        About::Other(OtherAction::Undo { what, .. }) => format!("Undo: {what}"),
        About::Other(OtherAction::Note { rung, ladder }) => format!("Note on {}", on(rung, ladder)),
        About::Other(OtherAction::EndNote { .. }) => "End the note".to_owned(),
    }
}

fn about(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog) {
    let colours = scene.colours;
    match &dialog.about {
        About::Rungs { rungs, cover, cut, mode } => {
            if rungs.len() == 1 {
                covers(ui, scene, dialog, *cover);
            } else {
                crate::panel::cut(ui, format!("What {}", rungs.join(", ")), colours.text);
            }
            line(ui, words::explained(*mode), colours.dim);
            if *mode == OverrideMode::ForcedOpen {
                now(ui, scene, &dialog.covered(scene.model), *cut);
            }
        }
        About::Other(action) => {
            let text = match action {
                OtherAction::Probe { .. } => {
                    "Ends its cool-down, hold or hard-down: the next request is the probe."
                }
                OtherAction::Check { .. } => {
                    "One small call outside all traffic, on one relay, also to a rung that is forced open. It costs what it costs."
                }
                OtherAction::Undo { back, .. } if !back.is_empty() => {
                    &format!("Then: {}.", shared::action_words::changes(back))
                }
                OtherAction::Undo { .. } => {
                    "What it changed becomes what it was before, unless something later stands on it."
                }
                OtherAction::Note { .. } => {
                    "It stands in the trouble lines until somebody ends it."
                }
                OtherAction::EndNote { text, .. } => text,
            };
            line(ui, text, colours.dim);
        }
        About::ConfigOrder { ladder } => {
            let order = scene.model.ladder(ladder).map(|state| state.config_order.join(" > "));
            line(ui, format!("What {}", order.unwrap_or_default()), colours.text);
        }
        About::Order { .. } => {}
    }
}

fn covers(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog, cover: usize) {
    let covers = dialog.covers(scene.model);
    let several = covers.len() > 1;
    ui.horizontal_wrapped(|ui| {
        line(ui, "What", scene.colours.text);
        for (place, (_, words)) in covers.into_iter().enumerate() {
            if ui.radio(place == cover, RichText::new(words).font(mono())).clicked() {
                scene.send(dialog::Msg::CoverAt(place));
            }
        }
        if several {
            hint(ui, scene, "Alt+S", dialog::Msg::Cover);
        }
    });
}

/// What becomes of the calls that are out.
fn now(ui: &mut Ui, scene: &mut Scene<'_>, rungs: &[String], cut: bool) {
    let colours = scene.colours;
    let all = rungs.iter().filter_map(|name| scene.model.rung(name));
    let (waiting, streams) = all.fold((0, 0), |(waiting, streams), rung| {
        (waiting + rung.now.waiting, streams + rung.now.streaming)
    });
    ui.horizontal_wrapped(|ui| {
        line(ui, format!("Now  {waiting} waiting calls move on at once;"), colours.text);
        let what = if cut { "are cut" } else { "run to their end" };
        let mut cut = cut;
        let text = format!("{streams} running streams {what} (Alt+X)");
        if ui.checkbox(&mut cut, RichText::new(text).font(mono())).clicked() {
            scene.send(dialog::Msg::Cut);
        }
    });
}

/// How long.
pub(super) fn lasts(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog) {
    if dialog.ttl().is_none() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        line(ui, "For ", scene.colours.text);
        for (place, (words, chosen)) in dialog.lasts().enumerate() {
            let text = RichText::new(words).font(mono());
            if ui.selectable_label(chosen, text).clicked() {
                scene.send(dialog::Msg::Last(place));
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

/// Why; and the env of a protected relay, typed out.
pub(super) fn why(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog, width: f32) {
    ui.horizontal(|ui| {
        let is_note = matches!(dialog.about, About::Other(OtherAction::Note { .. }));
        let label = if is_note { "Note" } else { "Why " };
        let label = ui.label(RichText::new(label).font(mono()));
        let mut reason = dialog.reason.clone();
        let edit = TextEdit::singleline(&mut reason).font(mono()).desired_width(width - 60.0);
        let suggests = dialog.reason.is_empty() && !dialog.suggestion.is_empty();
        let hint = match &dialog.about {
            _ if suggests => format!("{}  (Tab takes it over)", dialog.suggestion),
            About::Other(_) if !is_note => "optional".to_owned(),
            _ => String::new(),
        };
        let edit = edit.hint_text(RichText::new(hint).font(mono()));
        // While there is a suggestion Tab takes it over, and does not move on.
        let edit = edit.lock_focus(suggests);
        let edit = ui.add_enabled(!dialog.is_sent(), edit.id(Id::unique("reason")));
        let edit = edit.labelled_by(label.id);
        // Letters typed after it opened are the reason's.
        focus_once(ui, &edit, &dialog.id);
        if edit.changed() {
            scene.send(dialog::Msg::Reason(reason));
        }
    });
    if let Some(env) = dialog.must_type(scene.model) {
        type_env(ui, scene, dialog, &env);
    }
    if !dialog.is_sent() {
        reasons(ui, scene, dialog);
    }
}

/// The env of a protected relay, typed out.
fn type_env(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog, env: &str) {
    ui.horizontal(|ui| {
        let label = ui.label(RichText::new(format!("Type {env}")).font(mono()));
        let mut typed = dialog.typed.clone();
        let edit = TextEdit::singleline(&mut typed).font(mono()).desired_width(200.0);
        let edit = ui.add_enabled(!dialog.is_sent(), edit.id(Id::unique("typed")));
        let edit = edit.labelled_by(label.id);
        if edit.changed() {
            scene.send(dialog::Msg::Typed(typed));
        }
    });
}

/// Reasons for the pointer: the suggestion, and what is often true.
fn reasons(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog) {
    if matches!(dialog.about, About::Other(_)) {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        line(ui, "    ", scene.colours.dim);
        let suggestion = Some(dialog.suggestion.as_str()).filter(|text| !text.is_empty());
        for text in suggestion.into_iter().chain(REASONS) {
            if ui.small_button(RichText::new(text).font(mono())).clicked() {
                scene.send(dialog::Msg::Reason(text.to_owned()));
            }
        }
    });
}

/// What would come of it, as the relays say. `short`: where the list beside it has the steps.
pub(super) fn then(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog, short: bool) {
    let colours = scene.colours;
    if dialog.previews.values().all(Loaded::is_loading) {
        line(ui, "Then … asking the relay", colours.dim);
        return;
    }
    // What it warns of, and the way out, must not be pushed off the screen.
    let area = ScrollArea::vertical().id_salt("then").max_height(FIGURES);
    area.show(ui, |ui| figures(ui, scene, dialog, short));
    for warning in dialog.warnings() {
        warn(ui, scene, dialog, warning);
    }
    if matches!(dialog.about, About::Rungs { mode: OverrideMode::ForcedOpen, .. }) {
        let text = "Last choice instead (Alt+D): it stays for when no other rung can";
        hint(ui, scene, text, dialog::Msg::Demote);
    }
}

fn figures(ui: &mut Ui, scene: &Scene<'_>, dialog: &Dialog, short: bool) {
    let colours = scene.colours;
    let several = dialog.previews.len() > 1;
    for (relay, preview) in &dialog.previews {
        let name = scene.model.names(&[*relay]);
        let on = if several { format!("{name}: ") } else { String::new() };
        let preview = match preview {
            Loaded::Come(preview) => preview,
            Loaded::Failed(why) => {
                cut(ui, format!("Then {UNKNOWN}  no preview {on}{why}"), colours.warn);
                continue;
            }
            Loaded::Loading | Loaded::No => {
                line(ui, format!("{on}asking …"), colours.dim);
                continue;
            }
        };
        let (asked, idle): (Vec<&LadderPreview>, Vec<&LadderPreview>) =
            preview.ladders.iter().partition(|ladder| ladder.requests > 0);
        for ladder in asked {
            let colour = if changes(ladder) { colours.text } else { colours.dim };
            if short {
                rest(ladder).into_iter().for_each(|text| line(ui, text, colour));
            } else {
                let text = format!("{on}{:<12} {}", ladder.ladder, ladder_line(ladder));
                cut(ui, text, colour);
            }
        }
        if !idle.is_empty() {
            let names: Vec<&str> = idle.iter().map(|ladder| ladder.ladder.as_str()).collect();
            cut(ui, format!("{on}nothing was asked of {}", names.join(", ")), colours.dim);
        }
    }
    if !short {
        line(ui, "from each ladder's last requests, at the most 500", colours.dim);
    }
}

fn warn(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog, warning: &Warning) {
    let colours = scene.colours;
    let (shape, colour) = match warning.kind {
        WarningKind::LastRung | WarningKind::OnlySick => ("▲", colours.bad),
        WarningKind::CapabilityLost | WarningKind::OverPeak => ("◆", colours.warn),
    };
    line(ui, format!("{shape} {}", warning.text), colour);
    let Some(ladder) = warning.ladder.as_ref() else { return };
    if warning.kind == WarningKind::LastRung {
        let mut accepted = dialog.accept.contains(ladder);
        let text = format!("I accept this for {ladder} (Alt+A)");
        if ui.checkbox(&mut accepted, RichText::new(text).font(mono())).clicked() {
            scene.send(dialog::Msg::Accept(ladder.clone()));
        }
    }
}

/// Whether the change moves anything of this ladder.
fn changes(ladder: &LadderPreview) -> bool {
    ladder.steps.iter().any(|step| step.share.before != step.share.after)
        || ladder.unserved.before != ladder.unserved.after
}

/// A ladder before and after, in a line: the rungs whose share changes, what it costs, how
/// long its users wait.
#[must_use]
pub fn ladder_line(ladder: &LadderPreview) -> String {
    let moved = ladder.steps.iter().filter(|step| step.share.before != step.share.after);
    let one = |step: &StepPreview| format!("{} {}", step.rung, both(step.share, percent));
    let mut parts: Vec<String> = moved.map(one).collect();
    if parts.is_empty() {
        let share = |step: &StepPreview| step.share.after.unwrap_or(0.0);
        let first = ladder.steps.iter().max_by(|a, b| share(a).total_cmp(&share(b)));
        parts.push(first.map(|step| format!("as before, {}", one(step))).unwrap_or_default());
    }
    parts.extend(rest(ladder));
    parts.join("   ")
}

fn rest(ladder: &LadderPreview) -> Vec<String> {
    let mut parts = vec![
        both(ladder.cost_nps, |cost| cost.map_or(UNKNOWN.to_owned(), per_hour)),
        format!("p95 {}", both(ladder.ttft_p95_ms, wait)),
    ];
    let unserved = [ladder.unserved.before, ladder.unserved.after];
    if unserved.iter().flatten().any(|share| *share > 0.0) {
        parts.push(format!("unserved {}", both(ladder.unserved, percent)));
    }
    parts
}

fn both<T: Copy>(pair: BeforeAfter<T>, say: impl Fn(T) -> String) -> String {
    let (before, after) = (say(pair.before), say(pair.after));
    if before == after { before } else { format!("{before} → {after}") }
}

/// How the sending went, what is in the way, and the two ways out.
pub(super) fn ending(ui: &mut Ui, scene: &mut Scene<'_>, dialog: &Dialog) {
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
    ui.horizontal_wrapped(|ui| {
        if ui.button(RichText::new("Esc cancel").font(mono())).clicked() {
            scene.send(Msg::Back);
        }
        let words = match &dialog.about {
            About::Order { .. } => "set this order".to_owned(),
            _ => what(dialog, scene.model),
        };
        let text = RichText::new(format!("Ctrl+Enter {words}")).font(mono());
        if ui.add_enabled(obstacle.is_none(), Button::new(text)).clicked() {
            scene.send(dialog::Msg::Send);
        }
    });
    if let Some(why) = obstacle.filter(|_| !dialog.is_sent()) {
        cut(ui, why, colours.warn);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ladder_is_told_in_a_line_by_what_changes() {
        let step = |rung: &str, before: f64, after: f64| StepPreview {
            rung: rung.to_owned(),
            place: BeforeAfter { before: 1, after: 1 },
            share: BeforeAfter { before: Some(before), after: Some(after) },
            cost_nps: BeforeAfter::default(),
        };
        let mut ladder = LadderPreview {
            ladder: "chat".to_owned(),
            requests: 412,
            since_at: None,
            steps: vec![step("sol", 0.62, 0.0), step("opus", 0.38, 1.0), step("local", 0.0, 0.0)],
            unserved: BeforeAfter { before: Some(0.0), after: Some(0.0) },
            ttft_p50_ms: BeforeAfter::default(),
            ttft_p95_ms: BeforeAfter { before: Some(1_900), after: Some(1_400) },
            cost_nps: BeforeAfter { before: Some(3_900_000), after: Some(3_900_000) },
        };
        assert_eq!(
            ladder_line(&ladder),
            "sol 62 % → 0 %   opus 38 % → 100 %   14 $/h   p95 1.9 s → 1.4 s"
        );
        ladder.steps = vec![step("sol", 1.0, 1.0), step("opus", 0.0, 0.0)];
        ladder.unserved.after = Some(0.2);
        assert_eq!(
            ladder_line(&ladder),
            "as before, sol 100 %   14 $/h   p95 1.9 s → 1.4 s   unserved 0 % → 20 %"
        );
    }
}
