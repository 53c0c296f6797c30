//! The Board turned: the same rungs once each, under their provider or what they share.

use crate::board;
use crate::board::Turn;
use crate::board::cell::{Fill, cell};
use crate::board::groups::{P95, Together, groups, together};
use crate::commands::OF_RUNG;
use crate::panel::acts::menu;
use crate::panel::{Scene, line};
use crate::theme::mono;
use eframe::egui::{RichText, Ui};
use shared::admin::{Board, RungState};
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
        heading(ui, scene, board, &name, &rungs);
        for rung in rungs {
            one(ui, scene, rung, stale);
        }
    }
}

/// What the rungs of a heading do together.
fn heading(ui: &mut Ui, scene: &mut Scene<'_>, board: &Board, name: &str, rungs: &[&RungState]) {
    let colours = scene.colours;
    let Together { calls, bad, slow, rps, cost_nps, is_priced, p95, out, sick } =
        together(rungs, board.at);
    let p95 = match p95 {
        P95::Known(ms) => wait(ms),
        P95::AtLeast(ms) => format!(">{}", wait(Some(ms))),
    };
    let least = if is_priced { "" } else { ">" };
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
        percent(share(bad, calls)),
        percent(share(slow, calls)),
        p95,
        format!("{least}{}", per_hour(cost_nps)),
    );
    let names: Vec<String> = rungs.iter().map(|rung| rung.name.clone()).collect();
    let marked = &scene.model.marked;
    let is_all = names.len() == marked.len() && names.iter().all(|name| marked.contains(name));
    let text = RichText::new(text).font(mono()).color(colour).strong();
    let label =
        ui.selectable_label(is_all, text).on_hover_text("all of it, to be changed together");
    let select = || board::Msg::Heading(names).into();
    if label.clicked() {
        scene.send(select());
    } else {
        menu(&label, scene, &OF_RUNG, select);
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
    let label = ui.selectable_label(chosen, RichText::new(text).font(mono()).color(colour));
    let select = || board::Msg::Select { ladder: None, rung: Some(rung.name.clone()) }.into();
    menu(&label, scene, &OF_RUNG, select);
    if label.clicked() {
        scene.send(select());
    }
}
