//! What things are called on the screen.

use shared::admin::RungState;
use shared::admin::actions::{Action, ActionKind};
use shared::admin::changes::{Change, Mode, NewOrder, Target};

/// An override, as a thing to do.
#[must_use]
pub const fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Auto => "back to auto",
        Mode::ForcedOpen => "force open",
        Mode::ForcedClosed => "force closed",
        Mode::Demoted => "demote",
    }
}

/// What an action did, with its reason.
#[must_use]
pub fn action(action: &Action) -> String {
    let what = what(action);
    let reason = action.reason.as_str();
    if reason.is_empty() { what } else { format!("{what}  \"{reason}\"") }
}

/// What an action did.
#[must_use]
pub fn what(action: &Action) -> String {
    let about = action.about.rung.as_deref().or(action.about.ladder.as_deref());
    match action.kind {
        ActionKind::Change => action.changes.iter().map(change).collect::<Vec<_>>().join(", "),
        ActionKind::Undo => "undo".to_owned(),
        ActionKind::Probe => format!("probe {} now", about.unwrap_or_default()),
        ActionKind::Check => format!("test call to {}", about.unwrap_or_default()),
        ActionKind::Note => format!("note on {}", about.unwrap_or("the relay")),
    }
}

fn change(change: &Change) -> String {
    match change {
        Change::Override { target, mode, cut_streams } => {
            let who = match target {
                Target::Rung(name) => name.clone(),
                Target::Provider(name) => format!("provider {name}"),
                Target::Domain(name) => format!("domain {name}"),
            };
            let cut = if *cut_streams { ", streams cut" } else { "" };
            let mode = match mode {
                Mode::Auto => "back to auto",
                Mode::ForcedOpen => "forced open",
                Mode::ForcedClosed => "forced closed",
                Mode::Demoted => "demoted",
            };
            format!("{who} {mode}{cut}")
        }
        Change::Order { ladder, order: NewOrder::Rungs(rungs) } => {
            format!("{ladder}: {}", rungs.join(" > "))
        }
        Change::Order { ladder, order: NewOrder::Config(_) } => {
            format!("{ladder} back to the config's order")
        }
    }
}

/// Why an operator would lay hands on a rung: what its breaker says of it.
#[must_use]
pub fn reason(rung: &RungState) -> String {
    rung.health.cause.as_ref().map(|cause| cause.text.clone()).unwrap_or_default()
}

/// The cause of a rung's state in three words.
#[must_use]
pub fn short_cause(rung: &RungState) -> String {
    let Some(cause) = &rung.health.cause else { return String::new() };
    let slow = cause.slow.unwrap_or(0) >= cause.bad.max(1);
    match cause.rule.as_str() {
        "bad_run" if slow => "slow in a row".to_owned(),
        "bad_run" => "bad in a row".to_owned(),
        "broken_run" => "streams break".to_owned(),
        "bad_share" => format!("bad {} of {}", cause.bad, cause.n),
        "slow_p95" => "p95 over limit".to_owned(),
        "never_a_token" => "never a token".to_owned(),
        "probe_bad" => "probe was bad".to_owned(),
        "auth" => "key refused".to_owned(),
        other => other.replace('_', " "),
    }
}
