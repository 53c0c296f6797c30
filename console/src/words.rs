//! What things are called on the screen.

use shared::action_words;
use shared::admin::RungState;
use shared::admin::actions::Action;
use shared::{OverrideMode, TransitionRule};

/// An override of `whom`, as a thing to do.
#[must_use]
pub fn set(mode: OverrideMode, whom: &str) -> String {
    match mode {
        OverrideMode::Auto => format!("Put back {whom}"),
        OverrideMode::ForcedOpen => format!("Take out {whom}"),
        OverrideMode::ForcedClosed => format!("Keep in {whom}"),
        OverrideMode::Demoted => format!("Make {whom} the last choice"),
    }
}

/// What an override does.
#[must_use]
pub const fn explained(mode: OverrideMode) -> &'static str {
    match mode {
        OverrideMode::Auto => "Its breaker decides again (auto).",
        OverrideMode::ForcedOpen => "It gets no traffic (force open).",
        OverrideMode::ForcedClosed => "It gets traffic whatever its breaker says (force closed).",
        OverrideMode::Demoted => "It gets traffic only when no other rung can (demote).",
    }
}

/// What an action did, with its reason.
#[must_use]
pub fn action(action: &Action) -> String {
    let what = action_words::what(action);
    let reason = action.reason.as_str();
    if reason.is_empty() { what } else { format!("{what}  \"{reason}\"") }
}

/// Why an operator would change a rung: what its breaker says of it. Empty where that is only
/// what an operator did before.
#[must_use]
pub fn reason(rung: &RungState) -> String {
    let cause = rung.health.cause.as_ref();
    let cause = cause.filter(|cause| cause.rule.known() != Some(TransitionRule::Operator));
    cause.map(|cause| cause.text.clone()).unwrap_or_default()
}

/// The cause of a rung's state in three words.
#[must_use]
pub fn short_cause(rung: &RungState) -> String {
    let Some(cause) = &rung.health.cause else { return String::new() };
    let slow = cause.slow.unwrap_or(0) >= cause.bad.max(1);
    match cause.rule.known() {
        Some(TransitionRule::BadRun) if slow => "slow in a row".to_owned(),
        Some(TransitionRule::BadRun) => "bad in a row".to_owned(),
        Some(TransitionRule::BrokenRun) => "streams break".to_owned(),
        Some(TransitionRule::BadShare) => format!("bad {} of {}", cause.bad, cause.n),
        Some(TransitionRule::Hanging) => format!("hang {} of {}", cause.bad, cause.n),
        Some(TransitionRule::SlowP95) => "p95 over limit".to_owned(),
        Some(TransitionRule::NeverAToken) => "never a token".to_owned(),
        Some(TransitionRule::ProbeBad) if cause.is_slow_probe() => "probe was slow".to_owned(),
        Some(TransitionRule::ProbeBad) => "probe was bad".to_owned(),
        Some(TransitionRule::Auth) => "key refused".to_owned(),
        _ => cause.rule.spaced(" "),
    }
}
