//! What things are called on the screen.

use shared::admin::RungState;
use shared::admin::actions::Action;
use shared::admin::changes::Mode;
use shared::deeds;

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
    let what = deeds::what(action);
    let reason = action.reason.as_str();
    if reason.is_empty() { what } else { format!("{what}  \"{reason}\"") }
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
        "hanging" => format!("hang {} of {}", cause.bad, cause.n),
        "slow_p95" => "p95 over limit".to_owned(),
        "never_a_token" => "never a token".to_owned(),
        "probe_bad" if cause.text.contains("slow") => "probe was slow".to_owned(),
        "probe_bad" => "probe was bad".to_owned(),
        "auth" => "key refused".to_owned(),
        other => other.replace('_', " "),
    }
}
