//! The Board turned: the same rungs once each, under their provider or what they share.

use super::{Scene, line};
use crate::cell::{Fill, cell};
use crate::model::Turn;
use crate::theme::mono;
use crate::turned::groups;
use crate::update::Msg;
use eframe::egui::{RichText, Ui};
use shared::admin::{Board, RungState};
use shared::diagnose::is_out;
use shared::figures::{per_hour, percent, rate, share, span, spend, wait};

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let Some(board) = scene.model.board() else { return };
    let colours = scene.colours;
    let by = if scene.model.turn == Turn::Providers { "by provider" } else { "by domain" };
    let head = format!(
        " {by:<22}{:<12}{:>8} {:>7} {:>7} {:>14} {:>18}  {}",
        "rungs", "calls/s", "bad", "slow", "p95 (usual)", "$/h (usual)", "state"
    );
    line(ui, head, colours.dim);
    let stale = scene.model.is_stale(scene.now).then_some(0);
    for (name, rungs) in groups(board, scene.model.turn) {
        heading(ui, scene, board, (&name, &rungs));
        for rung in rungs {
            one(ui, scene, rung, stale);
        }
    }
}

/// What the rungs of a heading do together.
fn heading(
    ui: &mut Ui,
    scene: &mut Scene<'_>,
    board: &Board,
    (name, rungs): (&str, &[&RungState]),
) {
    let colours = scene.colours;
    let out = rungs.iter().filter(|rung| is_out(rung, board.at)).count();
    let sum = |of: fn(&RungState) -> u64| rungs.iter().map(|rung| of(rung)).sum::<u64>();
    let calls = sum(|rung| rung.now.calls);
    let mut hist = shared::histogram::Hist::default();
    rungs.iter().for_each(|rung| hist.merge(&rung.now.hist));
    let (_, p95) = crate::model::two(&hist);
    let p95 = match (p95, hist.at_least()) {
        (None, Some(least)) => format!(">{}", wait(u64::try_from(least.as_millis()).ok())),
        (p95, _) => wait(p95),
    };
    let is_unpriced = |rung: &&RungState| rung.price.is_none() && rung.now.calls > 0;
    let least = if rungs.iter().any(is_unpriced) { ">" } else { "" };
    let rps: f64 = rungs.iter().map(|rung| rung.now.rps).sum();
    // Out by an operator's hand alone is no sickness.
    let sick = |rung: &&&RungState| rung.forced.is_none() && is_out(rung, board.at);
    let sick = rungs.iter().filter(sick).count();
    let (shape, colour) = match (sick, out) {
        (0, 0) => ("●", colours.text),
        (0, _) => ("■", colours.hand),
        _ => ("▲", colours.bad),
    };
    let count =
        if out > 0 { format!("{shape} {out} of {}", rungs.len()) } else { shape.to_owned() };
    let key = board.providers.iter().find(|provider| provider.name == name);
    let key = key.and_then(|provider| provider.key.as_ref()).map_or_else(String::new, |key| {
        let age = span(board.at.0.saturating_sub(key.loaded_at.0));
        let source = key.source.as_deref().unwrap_or("key");
        format!("key: {source}, loaded {age} ago, {}", key.tag)
    });
    let text = format!(
        "{name:<23}{count:<12}{:>8} {:>7} {:>7} {:>14} {:>18}  {key}",
        rate(rps),
        percent(share(sum(|rung| rung.now.bad), calls)),
        percent(share(sum(|rung| rung.now.slow), calls)),
        p95,
        format!("{least}{}", per_hour(sum(|rung| rung.now.cost_nps))),
    );
    let names: Vec<String> = rungs.iter().map(|rung| rung.name.clone()).collect();
    let marked = &scene.model.marked;
    let is_all = names.len() == marked.len() && names.iter().all(|name| marked.contains(name));
    let text = RichText::new(text).font(mono()).color(colour).strong();
    let label =
        ui.selectable_label(is_all, text).on_hover_text("all of it, to be changed together");
    if label.clicked() {
        scene.out.push(Msg::Heading(names));
    }
}

fn one(ui: &mut Ui, scene: &mut Scene<'_>, rung: &RungState, stale: Option<i64>) {
    let colours = scene.colours;
    let spread = scene.model.spread(&rung.name);
    let said = cell(rung, None, scene.relay_now(), stale, spread);
    let colour = match said.fill {
        Fill::None | Fill::Dashed => colours.dim,
        Fill::Tint => colours.warn,
        Fill::Block => colours.bad,
        Fill::Outline => colours.hand,
    };
    let usual = rung.past.usual.as_ref();
    let brackets = |text: Option<String>| text.map_or(String::new(), |text| format!(" ({text})"));
    let p95 = usual.and_then(|usual| usual.ttft_p95_ms).map(|ms| wait(Some(ms)));
    let at_least = if rung.now.ttft_at_least { ">" } else { "" };
    let p95 = format!("{at_least}{}{}", wait(rung.now.ttft_p95_ms), brackets(p95));
    let cost = usual.and_then(|usual| usual.cost_nps).map(per_hour);
    let cost = format!(
        "{}{}",
        spend(rung.now.cost_nps, usize::from(rung.price.is_none())),
        brackets(cost)
    );
    let text = format!(
        "   {:<20}{:<12}{:>8} {:>7} {:>7} {p95:>14} {cost:>18}  {} {}",
        said.head,
        "",
        rate(rung.now.rps),
        percent(share(rung.now.bad, rung.now.calls)),
        percent(share(rung.now.slow, rung.now.calls)),
        said.second,
        crate::words::short_cause(rung),
    );
    let chosen = scene.model.selected.rung.as_ref() == Some(&rung.name);
    if ui.selectable_label(chosen, RichText::new(text).font(mono()).color(colour)).clicked() {
        scene.out.push(Msg::Select { ladder: None, rung: Some(rung.name.clone()) });
    }
}
