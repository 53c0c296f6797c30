//! What operators have set, so that nobody forgets it.

use super::{Level, Rule, Trouble, ago, by, left};
use crate::admin::Board;
use crate::{OrderSource, UnixMillis};

/// Overrides, and orders that differ from the config: the soonest to end first, then the oldest.
pub(super) fn hands(board: &Board) -> Vec<Trouble> {
    let mut found = Vec::new();
    for rung in &board.rungs {
        let Some(forced) = &rung.forced else { continue };
        let mut text = format!(
            "{} {}{}",
            rung.name,
            forced.mode.spaced(" "),
            by(forced.by.as_deref(), forced.reason.as_deref())
        );
        text += &ends(board, forced.at, forced.until_at);
        if forced.draining > 0 {
            text += &format!(", {} streams still run on it", forced.draining);
        }
        found.push((forced.until_at, forced.at, rung.name.clone(), text));
    }
    for ladder in &board.ladders {
        // An order that equals the config's is not reported.
        if ladder.source == OrderSource::Config || ladder.order == ladder.config_order {
            continue;
        }
        let adapted =
            if ladder.source == OrderSource::Adapted { ", adapted to a new config" } else { "" };
        let mut text = format!(
            "{} order off config: {} (config {}){}{adapted}",
            ladder.name,
            ladder.order.join(" > "),
            ladder.config_order.join(" > "),
            by(ladder.by.as_deref(), ladder.reason.as_deref())
        );
        text += &ends(board, ladder.at, ladder.until_at);
        found.push((ladder.until_at, ladder.at, ladder.name.clone(), text));
    }
    found.sort_by_key(|(until, at, ..)| (until.is_none(), *until, *at));
    found
        .into_iter()
        .map(|(_, _, name, text)| Trouble {
            level: Level::Hand,
            rule: Rule::Hand,
            about: vec![name],
            text,
        })
        .collect()
}

fn ends(board: &Board, at: Option<UnixMillis>, until: Option<UnixMillis>) -> String {
    let since = at.map(|at| format!(", for {}", ago(board, at))).unwrap_or_default();
    let end = until.map_or_else(|| "no end".to_owned(), |at| format!("{} left", left(board, at)));
    format!("{since}, {end}")
}
