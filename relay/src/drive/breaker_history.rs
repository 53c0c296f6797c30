//! The breakers' last transitions: why each is in its state, and since when.

use parking_lot::Mutex;
use policy::{Time, Transition};
use shared::admin::board::HealthCause;
use shared::admin::past::TransitionRow;
use shared::{BreakerState, RequestId, TransitionRule, UnixMillis};
use std::collections::VecDeque;
use std::time::Duration;

/// Openings are counted over so long.
const LATELY: Duration = Duration::from_secs(600);
/// More openings are not counted: a breaker that cools down for 5 s cannot do more.
const MOST: usize = 256;

/// One rung's.
#[derive(Debug, Clone, Default)]
pub(super) struct RungHistory {
    pub(super) cause: Option<HealthCause>,
    pub(super) since_at: Option<UnixMillis>,
    pub(super) floor: bool,
    opens: VecDeque<Time>,
}

impl RungHistory {
    /// Openings in the last ten minutes.
    pub(super) fn opens(&self, now: Time) -> u32 {
        let lately = self.opens.iter().filter(|at| now.since(**at) <= LATELY);
        u32::try_from(lately.count()).unwrap_or(u32::MAX)
    }
}

/// All rungs'.
#[derive(Debug, Default)]
pub(super) struct BreakerHistory(Mutex<Vec<RungHistory>>);

impl BreakerHistory {
    pub(super) fn note(&self, transition: &Transition, at: UnixMillis) {
        let mut told = self.0.lock();
        let room = told.len().max(transition.rung.0.saturating_add(1));
        told.resize_with(room, RungHistory::default);
        let Some(told) = told.get_mut(transition.rung.0) else { return };
        told.floor = transition.why == TransitionRule::Spared;
        // A weight that was cut, or a new norm, is no change of state.
        if transition.from != transition.to || told.since_at.is_none() {
            told.since_at = Some(at);
        }
        if transition.to == BreakerState::Open && transition.from != BreakerState::Open {
            told.opens.push_back(transition.at);
            while told.opens.len() > MOST {
                told.opens.pop_front();
            }
        }
        told.cause = Some(caused(transition));
    }

    pub(super) fn all(&self) -> Vec<RungHistory> {
        self.0.lock().clone()
    }
}

fn caused(transition: &Transition) -> HealthCause {
    let (evidence, tip) = (transition.evidence, transition.tip);
    HealthCause {
        rule: transition.why.into(),
        text: transition.text(),
        slow: Some(evidence.slow),
        bad: evidence.bad,
        n: evidence.calls,
        outcome: tip.outcome,
        status: tip.status,
        code: None,
    }
}

pub(super) fn cause(rule: TransitionRule, n: u32, bad: u32) -> HealthCause {
    HealthCause {
        rule: rule.into(),
        text: rule.text().to_owned(),
        slow: None,
        bad,
        n,
        outcome: None,
        status: None,
        code: None,
    }
}

/// As watchers get it.
pub(super) fn row(
    transition: &Transition,
    at: UnixMillis,
    rung: &str,
    request: Option<RequestId>,
) -> TransitionRow {
    let evidence = transition.evidence;
    TransitionRow {
        id: 0,
        at,
        rung: rung.to_owned(),
        before: Some(transition.from.into()),
        after: transition.to.into(),
        rule: transition.why.into(),
        text: transition.text(),
        slow: Some(evidence.slow),
        bad: Some(evidence.bad),
        n: Some(evidence.calls),
        weight: Some(transition.weight),
        request: request.filter(|_| transition.is_a_requests()),
    }
}
