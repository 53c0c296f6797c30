//! A breaker's change, with the figures that led to it, and in words.
//!
//! Operators read the words first. So the words say what was counted, and never the rule's name.

use crate::index::RungIndex;
use crate::time::Time;
use shared::{AttemptOutcome, BreakerState, TransitionRule};
use std::time::Duration;

/// What a breaker had counted when it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Evidence {
    /// Calls in the window.
    pub calls: u32,
    /// Bad ones among them.
    pub bad: u32,
    /// Slow ones among those.
    pub slow: u32,
    /// Bad ones in a row before the token.
    pub run: u32,
    /// Slow ones among those.
    pub slow_run: u32,
    /// Broken streams in a row.
    pub broken_run: u32,
    /// Attempts in a row without a token.
    pub silent_run: u32,
}

/// The attempt that caused a change, if one that had ended did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tip {
    /// How it ended; `None`: it still ran, and was slow.
    pub outcome: Option<AttemptOutcome>,
    /// The provider's status, where it was not 200.
    pub status: Option<u16>,
}

/// Why a breaker that would have opened did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spared {
    /// What would have opened it.
    pub from: TransitionRule,
    /// The rung is mostly late, and it or another rung of its ladders is away. Otherwise a ladder
    /// would have been left without a rung.
    pub is_load: bool,
}

/// A breaker's change, for the journal.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    /// The rung.
    pub rung: RungIndex,
    /// When.
    pub at: Time,
    /// The state before.
    pub from: BreakerState,
    /// The state after.
    pub to: BreakerState,
    /// Why.
    pub why: TransitionRule,
    /// If it was spared: what would have opened it, and why it was spared.
    pub spared: Option<Spared>,
    /// What had been counted.
    pub evidence: Evidence,
    /// The attempt that caused the change.
    pub tip: Tip,
    /// The window's length.
    pub window: Duration,
    /// The configured limit on the p95, if there is one.
    pub limit: Option<Duration>,
    /// The weight afterwards.
    pub weight: f64,
    /// The breaker's generation afterwards.
    pub generation: u32,
    /// Until when it is open, if it is.
    pub until: Option<Time>,
    /// The slow mark of a small prompt, if there is a reference.
    pub mark: Option<Duration>,
    /// The reference p95, if there is one.
    pub reference: Option<Duration>,
}

impl Transition {
    /// For how long it is open, if it is.
    #[must_use]
    pub fn cooldown(&self) -> Option<Duration> {
        self.until.map(|until| until.since(self.at))
    }

    /// Whether a request's attempt led to it, and not an operator or the time.
    #[must_use]
    pub const fn is_a_requests(&self) -> bool {
        !matches!(self.why, TransitionRule::Operator | TransitionRule::Expired)
    }

    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        let Some(Spared { from, is_load }) = self.spared else { return self.reason(self.why) };
        let because =
            if is_load { "it answers, only late" } else { "a ladder would be left without a rung" };
        let weight = 100.0 * self.weight;
        format!("{}; not opened: {because}, weight {weight:.0} %", self.reason(from))
    }

    fn reason(&self, why: TransitionRule) -> String {
        let Evidence { calls, bad, run, slow_run, broken_run, silent_run, .. } = self.evidence;
        match why {
            TransitionRule::BadRun if slow_run == run => format!("{run} slow in a row"),
            TransitionRule::BadRun if slow_run == 0 => format!("{run} failed in a row"),
            TransitionRule::BadRun => format!("{run} bad in a row, {slow_run} of them slow"),
            TransitionRule::BrokenRun => format!("{broken_run} broken streams in a row"),
            TransitionRule::BadShare => format!("{bad} of {calls} bad in {}", seconds(self.window)),
            TransitionRule::Hanging => {
                format!(
                    "{bad} of {calls} bad in {}, the others as fast as usual",
                    seconds(self.window)
                )
            }
            TransitionRule::SlowP95 => {
                let limit = self.limit.map(seconds).unwrap_or_default();
                format!("p95 to the first token over {limit}")
            }
            TransitionRule::NeverAToken => {
                format!("{silent_run} attempts in a row without a token")
            }
            TransitionRule::Auth => match self.tip.status {
                Some(status) => format!("account refused ({status})"),
                None => "account refused".to_owned(),
            },
            TransitionRule::ProbeBad => match (self.tip.outcome, self.tip.status) {
                (None, _) => "probe was slow".to_owned(),
                (Some(how), None) => format!("probe failed ({})", how.as_str()),
                (Some(how), Some(status)) => format!("probe failed ({}, {status})", how.as_str()),
            },
            TransitionRule::CooledDown => "cool-down over, probing".to_owned(),
            TransitionRule::ProbesGood => {
                format!("probes were good, back at {:.0} % of its traffic", 100.0 * self.weight)
            }
            TransitionRule::LastResortGood => "a last resort answered, probing".to_owned(),
            TransitionRule::Spared => "would have opened".to_owned(),
            TransitionRule::Operator => "an operator changed it".to_owned(),
            TransitionRule::Rebased => {
                let now = self.reference.map(seconds).unwrap_or_default();
                format!("steadily slower, but it answers: its usual p95 is now {now}")
            }
            TransitionRule::Expired => "an operator's override ran out".to_owned(),
            TransitionRule::KeyChanged => "another key is in force, probing".to_owned(),
        }
    }
}

fn seconds(span: Duration) -> String {
    if span.subsec_millis() < 50 {
        format!("{} s", span.as_secs())
    } else {
        format!("{:.1} s", span.as_secs_f64())
    }
}
