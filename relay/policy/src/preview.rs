//! What a change would do: past requests, planned anew.
//!
//! Real walks are started on a copy of the board, so that a preview cannot differ from what the
//! planner does. They end after the first dial, because the outcome of the call cannot be known.
//! The first walk that calls a half-open rung takes its slot and does not give it back, as while a
//! probe runs.

use crate::action::Action;
use crate::board::Board;
use crate::capability::Capability;
use crate::index::{LadderIndex, RungIndex};
use crate::input::Input;
use crate::ladder::{LadderSpec, Need};
use crate::time::Time;
use crate::walk::Walk;
use shared::PassedOver;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How many quantiles of a rung's times to first token are mixed in.
const POINTS: u32 = 200;

/// Which rung each of `needs` would call first at `now`; `None`: none, or it would wait. With the
/// same seed, the results of two boards differ by the boards and not by chance.
#[must_use]
pub fn replan(
    board: &mut Board,
    at: LadderIndex,
    ladder: &Arc<LadderSpec>,
    needs: impl IntoIterator<Item = Need>,
    now: Time,
    seed: u64,
) -> Vec<Option<RungIndex>> {
    let mut actions = Vec::new();
    let mut called = Vec::new();
    for (number, need) in (0_u64..).zip(needs) {
        let rng = fastrand::Rng::with_seed(seed.wrapping_add(number));
        let mut walk = Walk::new(now, at, Arc::clone(ladder), need, rng);
        walk.handle(now, Input::Start, board, &mut actions);
        called.push(actions.drain(..).find_map(|action| match action {
            Action::Dial { rung, .. } => Some(rung),
            _ => None,
        }));
    }
    called
}

/// The p50 and the p95 of the time to first token for the requests in `called`, without hedges, as
/// their rungs answered recently. `None`: there are no requests, one of the rungs has no recent
/// times, or the quantile lies beyond what was seen.
#[must_use]
pub fn first_tokens(
    board: &mut Board,
    called: &[Option<RungIndex>],
    now: Time,
) -> (Option<Duration>, Option<Duration>) {
    let mut counts: BTreeMap<RungIndex, u32> = BTreeMap::new();
    for rung in called.iter().flatten() {
        *counts.entry(*rung).or_default() += 1;
    }
    let mut points: Vec<(Duration, u32)> = Vec::new();
    for (&rung, &count) in &counts {
        let recent = board.recent(rung, now).filter(|recent| recent.tokens() > 0);
        let Some(recent) = recent else { return (None, None) };
        for point in 0..POINTS {
            let q = (f64::from(point) + 0.5) / f64::from(POINTS);
            // Beyond what was seen, the time is only known to be longer.
            points.push((recent.quantile(q).unwrap_or(Duration::MAX), count));
        }
    }
    points.sort_unstable();
    let all: u64 = points.iter().map(|(_, weight)| u64::from(*weight)).sum();
    let quantile = |percent: u64| {
        let mut seen = 0;
        let mut at_or_below = points.iter().filter_map(|(time, weight)| {
            seen += u64::from(*weight);
            (seen * 100 >= all * percent).then_some(*time)
        });
        at_or_below.next().filter(|time| *time < Duration::MAX)
    };
    (quantile(50), quantile(95))
}

/// Whether every rung of `ladder` is open, held or forced open.
#[must_use]
pub fn is_all_sick(board: &Board, ladder: &LadderSpec, now: Time) -> bool {
    let is_well =
        |rung: &RungIndex| board.is_closed(*rung) && board.usable_by_all(*rung, now).is_ok();
    !ladder.rungs.iter().any(is_well)
}

/// The capability, if any, that `need` asks for and no rung of `ladder` has that is not
/// forced open.
#[must_use]
pub fn lost_capability(
    board: &Board,
    ladder: &LadderSpec,
    need: &Need,
    now: Time,
) -> Option<Capability> {
    let needs = need.capabilities.union(ladder.require);
    let left = || {
        let is_in = |rung: &&RungIndex| board.usable_by_all(**rung, now) != Err(PassedOver::Forced);
        ladder.rungs.iter().filter(is_in).filter_map(|rung| board.spec(*rung))
    };
    // Without a rung the ladder is lost, not a capability.
    left().next()?;
    let missing = |spec: &crate::ladder::RungSpec| spec.can.lacks(needs);
    if left().any(|spec| missing(spec).is_none()) { None } else { left().find_map(missing) }
}
