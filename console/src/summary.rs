//! What is copied for a colleague: how it stands, in Markdown, in UTC. No prompt, no key,
//! no host.

use crate::model::Model;
use shared::diagnose::diagnose;
use shared::figures::{per_hour, percent, share, span, wait};
use std::fmt::Write as _;

/// The summary at `now` of ours.
#[must_use]
pub fn markdown(model: &Model, now: i64) -> String {
    let mut out = String::new();
    for known in &model.relays {
        // Writing to a string does not fail.
        let Some(board) = &known.board else {
            let _ = writeln!(out, "## {}\nnothing is known of it", known.name());
            continue;
        };
        let env = board.relay.env.as_deref().unwrap_or("relay");
        let age =
            known.age(now).map_or_else(String::new, |age| format!(", news {} old", span(age)));
        let _ = writeln!(out, "## {env} {} at {}{age}", known.name(), board.at);
        for line in diagnose(board) {
            let _ = writeln!(out, "- {}", line.text);
        }
        for ladder in &board.ladders {
            let users = &ladder.users;
            let lost = users.failed + users.broken;
            let _ = writeln!(
                out,
                "- ladder {}: failed {}, rescued {}, p95 {}, {}; order {}",
                ladder.name,
                percent(share(lost, users.ok + lost + users.gone)),
                users.rescued,
                wait(users.ttft_p95_ms),
                per_hour(users.cost_nps),
                ladder.order.join(" > "),
            );
        }
        for event in known.events.iter().rev().take(10) {
            let _ = writeln!(out, "- {} {} {}", event.at, event.who, event.text);
        }
    }
    out
}
