//! The Board turned: the same rungs once each, under their provider or what they share.

use super::{Scene, line};
use crate::cell::{Fill, cell};
use crate::turned::groups;
use crate::model::Turn;
use crate::theme::mono;
use crate::update::Msg;
use eframe::egui::{RichText, Ui};
use shared::admin::RungState;
use shared::diagnose::is_out;
use shared::figures::{per_hour, percent, rate, share, span, wait};

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
        let out = rungs.iter().filter(|rung| is_out(rung, board.at)).count();
        let sum = |of: fn(&RungState) -> u64| rungs.iter().map(|rung| of(rung)).sum::<u64>();
        let calls = sum(|rung| rung.now.calls);
        let mut hist = shared::histogram::Hist::default();
        rungs.iter().for_each(|rung| hist.merge(&rung.now.hist));
        let p95 = hist.quantile(0.95).and_then(|p95| u64::try_from(p95.as_millis()).ok());
        let rps: f64 = rungs.iter().map(|rung| rung.now.rps).sum();
        let count =
            if out > 0 { format!("▲ {out} of {}", rungs.len()) } else { "●".to_owned() };
        let key = board.providers.iter().find(|provider| provider.name == name);
        let key = key.and_then(|provider| provider.key.as_ref()).map_or_else(String::new, |key| {
            let age = span(board.at.0.saturating_sub(key.loaded_at.0));
            let source = key.source.as_deref().unwrap_or("key");
            format!("key: {source}, loaded {age} ago, {}", key.tag)
        });
        let text = format!(
            "{:<23}{count:<12}{:>8} {:>7} {:>7} {:>14} {:>18}  {key}",
            name,
            rate(rps),
            percent(share(sum(|rung| rung.now.bad), calls)),
            percent(share(sum(|rung| rung.now.slow), calls)),
            wait(p95),
            per_hour(sum(|rung| rung.now.cost_nps)),
        );
        let names: Vec<String> = rungs.iter().map(|rung| rung.name.clone()).collect();
        let chosen = rungs.len() > 1 && rungs.len() == scene.model.marked.len()
            && names.iter().all(|name| scene.model.marked.contains(name));
        let colour = if out > 0 { colours.bad } else { colours.text };
        let text = RichText::new(text).font(mono()).color(colour).strong();
        if ui.selectable_label(chosen, text).on_hover_text("all of it, to change it together").clicked() {
            scene.out.push(Msg::Heading(names));
        }
        for rung in rungs {
            let spread = scene.model.merged.as_ref();
            let spread = spread.and_then(|merged| merged.spread.get(&rung.name));
            let spread = spread.copied().unwrap_or_default();
            let said = cell(rung, None, scene.relay_now(), stale, spread);
            let colour = match said.fill {
                Fill::None => colours.dim,
                Fill::Tint => colours.warn,
                Fill::Block => colours.bad,
                Fill::Outline => colours.hand,
                Fill::Dashed => colours.dim,
            };
            let usual = rung.past.usual.as_ref();
            let brackets =
                |text: Option<String>| text.map_or(String::new(), |text| format!(" ({text})"));
            let p95 = format!(
                "{}{}",
                wait(rung.now.ttft_p95_ms),
                brackets(usual.and_then(|usual| usual.ttft_p95_ms).map(|ms| wait(Some(ms))))
            );
            let cost = format!(
                "{}{}",
                per_hour(rung.now.cost_nps),
                brackets(usual.and_then(|usual| usual.cost_nps).map(per_hour))
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
            let text = RichText::new(text).font(mono()).color(colour);
            if ui.selectable_label(chosen, text).clicked() {
                let ladder = None;
                scene.out.push(Msg::Select { ladder, rung: Some(rung.name.clone()) });
            }
        }
    }
}
