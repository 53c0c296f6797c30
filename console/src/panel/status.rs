//! The line at the bottom: how old the news is, how the relays are, what was said last.

use super::acts::hint;
use super::{Scene, line};
use crate::msg::Msg;
use crate::{board, dialog};
use eframe::egui::{Align, Layout, Ui};
use shared::figures::span;

/// Younger news is live: how young it is says nothing.
const LIVE: i64 = 2_500;

/// Draws it.
pub(crate) fn draw(ui: &mut Ui, scene: &mut Scene<'_>) {
    let colours = scene.colours;
    ui.horizontal_centered(|ui| {
        ui.spacing_mut().item_spacing.x = 14.0;
        let stale = scene.model.is_stale(scene.now);
        let age = scene.model.lead().and_then(|known| known.age(scene.now));
        let (text, colour) = match (age, stale) {
            (Some(age), false) if age < LIVE => ("● live".to_owned(), colours.dim),
            (Some(age), false) => (format!("● {} old", span(age)), colours.dim),
            (Some(age), true) => {
                let heard = scene.model.lead().and_then(|known| known.heard_at).unwrap_or(0);
                let heard = scene.clock(shared::UnixMillis(heard));
                (format!("◌ no news for {}, data from {heard}", span(age)), colours.bad)
            }
            (None, _) => ("○ never heard of it".to_owned(), colours.warn),
        };
        line(ui, text, colour);
        if let Some(board) = scene.model.board() {
            health(ui, scene, board, stale);
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            // From right to left.
            hint(ui, scene, "? keys", Msg::Help);
            hint(ui, scene, "Ctrl+K commands", Msg::Palette);
            hint(ui, scene, "g worst", board::Msg::Trouble(0));
            hint(ui, scene, "y copy", Msg::Copy);
            hint(ui, scene, "u undo", dialog::Open::Undo);
            let said = scene.model.said.as_ref();
            if let Some((text, _)) = said.filter(|(_, until)| scene.now < *until) {
                super::cut(ui, text.clone(), colours.text);
            }
        });
    });
}

fn health(ui: &mut Ui, scene: &Scene<'_>, board: &shared::admin::Board, stale: bool) {
    let colours = scene.colours;
    let viewed = scene.model.viewed();
    let known = viewed.iter().filter_map(|index| scene.model.relays.get(*index)?.board.as_ref());
    let (journal, fleet) = known.fold((true, None), |(journal, fleet), board| {
        let of = board.relay.fleet.on.then_some(board.relay.fleet.ok);
        (journal && board.relay.journal.ok, fleet.map_or(of, |all| Some(all && of.unwrap_or(true))))
    });
    let (text, colour) =
        if journal { ("journal ok", colours.dim) } else { ("journal FAILING", colours.bad) };
    line(ui, text, colour);
    if let Some(ok) = fleet {
        let (text, colour) =
            if ok { ("fleet ok", colours.dim) } else { ("fleet LOST", colours.warn) };
        line(ui, text, colour);
    }
    if stale {
        // What runs now is not known.
        line(ui, "– streams, – waiting", colours.dim);
    } else {
        let relay = &board.relay;
        line(ui, format!("{} streams, {} waiting", relay.streams, relay.waiting), colours.dim);
    }
    if board.relay.drain.on {
        line(ui, "STOPPING", colours.bad);
    }
    let budget = scene.model.selected.ladder.as_ref().and_then(|name| scene.model.ladder(name));
    if let Some(ladder) = budget {
        let (hedge, retry) = (&ladder.budget.hedge, &ladder.budget.retry);
        let text = format!(
            "hedge {:.0}/{:.0} retry {:.0}/{:.0}",
            hedge.level, hedge.cap, retry.level, retry.cap
        );
        line(ui, text, colours.dim);
    }
}
