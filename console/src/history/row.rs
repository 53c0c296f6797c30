//! A request as a line of text, and what is said of the list.

use super::filter::Sort;
use super::state::History;
use shared::AttemptOutcome as Outcome;
use shared::admin::{RequestRow, Tried};
use shared::figures::{UNKNOWN, wait};

/// How many of how many, and whether they move.
#[must_use]
pub fn count(history: &History) -> String {
    if !history.rows.waits_for.is_empty() {
        return "reading …".to_owned();
    }
    let more = if history.rows.next.is_empty() { "" } else { "+" };
    let shown = history.rows.shown().len();
    let known: u64 = history.totals.values().sum();
    let of = if history.totals.is_empty() { String::new() } else { format!(" of {known}") };
    let newer = history.rows.newer();
    let state = match (history.follow, history.order() == Sort::At, newer) {
        (true, ..) => "following".to_owned(),
        (_, false, _) => {
            format!("by {}", history.order().word().trim_start_matches('-'))
        }
        (_, _, 0) => "frozen".to_owned(),
        (_, _, newer @ 200..) => format!("frozen, {newer}+ new"),
        (_, _, newer) => format!("frozen, {newer} new"),
    };
    format!("{shown}{more}{of} · {state}")
}

/// The heading above [`row`].
#[must_use]
pub fn heading() -> String {
    format!(
        "{:<20} {:<12} {:<14} {:<46} {:<9} {:>7} {:>7} {:>12} {:>9}  {}",
        "TIME",
        "LADDER",
        "ANSWERED BY",
        "TRAIL",
        "OUT",
        "TTFT",
        "TOTAL",
        "TOK in/out",
        "$",
        "TENANT"
    )
}

/// A request in a line.
#[must_use]
pub fn row(clock: &str, row: &RequestRow) -> String {
    let count = |count: Option<u64>| count.map_or(UNKNOWN.to_owned(), |count| count.to_string());
    let cost = row.cost_usd.map_or(UNKNOWN.to_owned(), |cost| format!("{cost:.5}"));
    let trail = trail(row);
    format!(
        "{clock:<20} {:<12} {:<14} {trail:<46} {:<9} {:>7} {:>7} {:>12} {cost:>9}  {}",
        row.ladder.as_deref().unwrap_or(UNKNOWN),
        row.answered_by.as_deref().unwrap_or(UNKNOWN),
        row.outcome.map_or("running".to_owned(), |outcome| outcome.to_string()),
        wait(row.ttft_ms),
        wait(row.latency_ms),
        format!("{}/{}", count(row.input_tokens), count(row.output_tokens)),
        row.client.as_deref().unwrap_or(UNKNOWN),
    )
}

/// What was tried: each rung with how it did, in the room that there is.
#[must_use]
pub fn trail(row: &RequestRow) -> String {
    const ROOM: usize = 46;
    let one = |tried: &Tried| {
        let sign = match tried.outcome {
            None => "…",
            Some(Outcome::Ok | Outcome::Refused) => "●",
            Some(Outcome::Cancelled) => "○",
            Some(Outcome::TtftTimeout | Outcome::Stall | Outcome::Deadline) => "▲",
            Some(Outcome::RateLimited | Outcome::Overloaded) => "‖",
            Some(_) => "×",
        };
        let took = wait(tried.ttft_ms.or(tried.latency_ms)).replace(' ', "");
        format!("{} {sign}{took}", tried.rung)
    };
    let words = row.trail.iter().map(one).collect::<Vec<_>>().join(" | ");
    if words.chars().count() <= ROOM {
        return words;
    }
    words.chars().take(ROOM - 1).chain(['…']).collect()
}
