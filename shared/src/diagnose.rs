//! What is wrong, in words: the lines at the top of every screen.
//!
//! Pure: a board goes in, lines come out, the worst first. Problems that only the reader of a board
//! can see (a relay that does not answer, a clock that is wrong) are not reported here.

mod hands;
mod ladders;
mod relay;
mod rungs;
#[cfg(test)]
mod tests;

use crate::admin::{Board, RungState};
use crate::figures;
use crate::{BreakerState, OverrideMode, UnixMillis};

/// How bad it is; it also decides how the line is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Something is broken.
    Broken,
    /// Something may break soon, or costs more than usual.
    Warning,
    /// An operator's override or order is in force.
    Hand,
}

/// The rule that reported a line; the worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// A ladder's users get errors, broken or late answers, or leave before a token.
    Users,
    /// A ladder without a usable rung, or on a last resort.
    NoRung,
    /// No provider can be reached at all.
    ReachesNobody,
    /// A provider refuses our key, model or credit.
    Refused,
    /// All rungs of one domain turned sick together.
    Domain,
    /// All rungs of one provider turned sick together.
    Provider,
    /// One rung is sick, or about to be.
    Rung,
    /// The cost is twice the usual or more, or no longer zero.
    Spend,
    /// A budget for hedges or retries is nearly used up.
    Budget,
    /// The relay's journal has a problem.
    Journal,
    /// The relay itself has a problem.
    Relay,
    /// An override, or an order that differs from the config.
    Hand,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// How bad it is.
    pub level: Level,
    /// The rule that reported it.
    pub rule: Rule,
    /// The ladders and rungs that it is about, so that a screen can lead to them.
    pub about: Vec<String>,
    /// The text.
    pub text: String,
}

/// What is wrong, the worst first; empty if nothing is wrong.
#[must_use]
pub fn diagnose(board: &Board) -> Vec<Trouble> {
    let mut lines = ladders::users(board);
    lines.extend(ladders::without_rung(board));
    lines.extend(rungs::reaches_nobody(board));
    lines.extend(rungs::refused(board));
    lines.extend(rungs::sick(board));
    lines.extend(ladders::spend(board));
    lines.extend(ladders::budgets(board));
    lines.extend(relay::relay(board));
    lines.extend(hands::hands(board));
    // The sort is stable: each rule has put its own lines in order.
    lines.sort_by_key(|line| line.rule);
    lines
}

/// Whether no request goes there by itself: its breaker is open, it is held or forced open.
#[must_use]
pub fn is_out(rung: &RungState, now: UnixMillis) -> bool {
    match rung.forced.as_ref().and_then(|forced| forced.mode.known()) {
        Some(OverrideMode::ForcedOpen) => return true,
        Some(OverrideMode::ForcedClosed) => return is_held(rung, now),
        _ => {}
    }
    rung.health.state == BreakerState::Open || is_held(rung, now)
}

/// Whether its provider asked for a pause that is not over.
#[must_use]
pub fn is_held(rung: &RungState, now: UnixMillis) -> bool {
    rung.health.hold.as_ref().is_some_and(|hold| hold.until_at > now)
}

/// Whether many of its last calls were late or failed, whatever its breaker's state.
#[must_use]
pub fn is_failing(rung: &RungState) -> bool {
    let (poor, calls) = (rung.now.slow + rung.now.bad, rung.now.calls);
    poor >= 3 && figures::share(poor, calls).is_some_and(|share| share >= 0.2)
}

fn rung<'a>(board: &'a Board, name: &str) -> Option<&'a RungState> {
    board.rungs.iter().find(|rung| rung.name == name)
}

/// How long ago, by the board's own clock.
fn ago(board: &Board, at: UnixMillis) -> String {
    figures::span(board.at.0.saturating_sub(at.0))
}

fn left(board: &Board, until: UnixMillis) -> String {
    figures::countdown(until.0.saturating_sub(board.at.0))
}

/// `a`, `a and b`, `a, b and 3 more`.
fn names(all: &[&str]) -> String {
    match all {
        [] => figures::UNKNOWN.to_owned(),
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        [one, two, three] => format!("{one}, {two} and {three}"),
        [one, two, rest @ ..] => format!("{one}, {two} and {} more", rest.len()),
    }
}

/// Who set it and why, as far as that is known.
fn by(who: Option<&str>, why: Option<&str>) -> String {
    let why = why.map(|why| format!(" \"{why}\"")).unwrap_or_default();
    who.map_or_else(|| why.clone(), |who| format!(" by {who}{why}"))
}
