//! What is copied for a colleague: how it stands, in Markdown, in UTC. No prompt, no key,
//! no host.

use crate::model::Model;
use shared::admin::LadderState;
use shared::diagnose::{Level, Rule, Trouble};
use shared::figures::{per_hour, percent, share, span, spend, wait};
use std::fmt::Write as _;

/// Events that are named.
const EVENTS: usize = 20;
/// Request ids that are named.
const IDS: usize = 10;

/// The summary at `now` of ours, with these ids of requests.
#[must_use]
pub fn markdown(model: &Model, ids: &[String], now: i64) -> String {
    let mut out = String::new();
    // Writing to a string does not fail.
    let Some(board) = model.board() else {
        return "nothing is known of any relay\n".to_owned();
    };
    let env = board.relay.env.as_deref().unwrap_or("relay");
    let names: Vec<String> =
        model.reached(now).into_iter().map(|index| public(model, index)).collect();
    let names = names.join(", ");
    let _ = writeln!(out, "## {env} {names} at {}", board.at);
    let since = board.rungs.iter().filter_map(|rung| rung.health.sick_since_at).min();
    if let Some(since) = since {
        let _ = writeln!(out, "trouble since {since}, for {}", span(board.at.0 - since.0));
    }
    for index in model.unreached(now) {
        let Some(known) = model.relays.get(index) else { continue };
        let age = known.age(now).map_or_else(|| "never".to_owned(), span);
        let _ = writeln!(out, "- {} is lost, last heard {age} ago", public(model, index));
    }
    // Lost relays are named above: why they are lost has their addresses in it.
    let is_lost = |line: &&Trouble| line.rule == Rule::Relay && line.level == Level::Broken;
    for line in model.lines.iter().filter(|line| !is_lost(line)) {
        let mut text = line.text.clone();
        for (index, known) in model.relays.iter().enumerate() {
            text = text.replace(known.name(), &public(model, index));
        }
        let _ = writeln!(out, "- {text}");
    }
    let _ = writeln!(out, "\n### Ladders");
    for ladder in &board.ladders {
        let _ = writeln!(out, "- {}", of_ladder(ladder, board.unpriced(ladder)));
    }
    let mut events: Vec<_> = model
        .viewed()
        .into_iter()
        .filter_map(|index| model.relays.get(index))
        .flat_map(|known| known.events.iter())
        .collect();
    events.sort_by_key(|event| std::cmp::Reverse(event.at));
    if !events.is_empty() {
        let _ = writeln!(out, "\n### What happened, newest first");
    }
    for event in events.into_iter().take(EVENTS) {
        let _ = writeln!(out, "- {} {} {}", event.at, event.who, event.text);
    }
    if !ids.is_empty() {
        let _ = writeln!(out, "\n### Requests in trouble");
    }
    for id in ids.iter().take(IDS) {
        let _ = writeln!(out, "- {id}");
    }
    out
}

/// A relay's name; one that has none would be called by its host.
fn public(model: &Model, index: usize) -> String {
    let board = model.relays.get(index).and_then(|known| known.board.as_ref());
    let name = board.and_then(|board| board.relay.name.clone());
    name.unwrap_or_else(|| format!("relay {}", index + 1))
}

fn of_ladder(ladder: &LadderState, unpriced: usize) -> String {
    let users = &ladder.users;
    let lost = users.failed + users.broken;
    let usual = ladder.usual.as_ref();
    let usually =
        |text: Option<String>| text.map(|text| format!(" (usual {text})")).unwrap_or_default();
    format!(
        "{}: failed {}, rescued {}, p95 {}{}, {}{}; order {}",
        ladder.name,
        percent(share(lost, users.ok + lost + users.gone)),
        users.rescued,
        wait(users.ttft_p95_ms),
        usually(usual.and_then(|usual| usual.ttft_p95_ms).map(|ms| wait(Some(ms)))),
        spend(users.cost_nps, unpriced),
        usually(usual.map(|usual| per_hour(usual.cost_nps))),
        ladder.order.join(" > "),
    )
}
