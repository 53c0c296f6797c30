//! Carries a change out on the board: all of it, or nothing.

use super::attribution::{Attribution, Attributions};
use super::names::Names;
use super::present::present;
use super::refused::Refused;
use super::steps::{Steps, Thing};
use crate::board::Board;
use crate::order::Order;
use crate::time::Time;
use shared::RefusedReason;
use shared::admin::changes::Present;
use shared::{OrderSource, OverrideMode, UnixMillis};
use std::time::Duration;

/// One moment by both clocks, the core's and the calendar's.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// By the core's.
    pub now: Time,
    /// By the calendar.
    pub today: UnixMillis,
}

impl Moment {
    /// The core's time of the calendar's `at`; a time before the core's zero becomes the zero.
    #[must_use]
    pub fn time_of(self, at: UnixMillis) -> Time {
        let span = |millis: i64| Duration::from_millis(u64::try_from(millis).unwrap_or(0));
        let ago = span(self.today.0.saturating_sub(at.0));
        let ahead = span(at.0.saturating_sub(self.today.0));
        let past = self.now.since(Time::default().plus(ago)).as_micros();
        Time(past.try_into().unwrap_or(u64::MAX)).plus(ahead)
    }
}

/// How a change is refused if a version that it expects is no longer the current one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stale {
    /// Another change was made first. An order must name the version that its author saw.
    Version,
    /// A later change has replaced what is to be undone.
    Superseded,
}

/// What a change did.
#[derive(Debug)]
pub struct Applied {
    /// What was in force before.
    pub before: Present,
    /// What is in force now.
    pub after: Present,
    /// Ladders that are left with forced-open rungs only, as the request accepted.
    pub accepted: Vec<String>,
}

/// Checks `steps` against what is in force and makes them.
///
/// # Errors
/// Why the change was refused; then no step was made.
pub fn make(
    board: &mut Board,
    attributions: &mut Attributions,
    names: &Names,
    steps: &Steps,
    moment: Moment,
    stale: Stale,
) -> Result<Applied, Refused> {
    let now = moment.now;
    board.settle(now);
    let before = present(board, attributions, names, steps, now);
    if stale == Stale::Version && steps.has_blind_order() {
        let message = "An order is made on a version: say in 'expect', or with If-Match, which one \
                       you saw; the answer has the one of now.";
        return Err(Refused::new(RefusedReason::NoVersion, message).with(before));
    }
    let is_stale = |(thing, version): &(Thing, u64)| version_of(board, *thing) != *version;
    if steps.expected.iter().any(is_stale) {
        return Err(refusal(stale).with(before));
    }
    let accepted = ladders_given_up(board, names, steps, now)?;
    apply(board, attributions, steps, moment);
    let after = present(board, attributions, names, steps, now);
    Ok(Applied { before, after, accepted })
}

/// Makes `steps` without a check.
pub fn apply(board: &mut Board, attributions: &mut Attributions, steps: &Steps, moment: Moment) {
    let now = moment.now;
    let time = |at: Option<UnixMillis>| at.map(|at| moment.time_of(at));
    for force in &steps.forces {
        let is = board.forced(force.rung, now).map(|(mode, _)| mode).unwrap_or_default();
        // If no override is in force, there is none to end: no new version, and no refusal.
        if force.mode == OverrideMode::Auto && is == OverrideMode::Auto {
            continue;
        }
        board.force_until(force.rung, now, force.mode, time(force.attribution.until));
        if force.cut {
            board.cut_streams(force.rung);
        }
        let version = board.override_version(force.rung);
        attributions.set_rung(force.rung, Attribution { version, ..force.attribution.clone() });
    }
    for order in &steps.orders {
        let source = board.order_of(order.ladder, now).map(|(_, source)| source);
        if order.rungs.is_none() && source == Some(OrderSource::Config) {
            continue;
        }
        let (until, adapted) = (time(order.attribution.until), order.adapted);
        board.reorder(
            order.ladder,
            order.rungs.clone().map(|rungs| Order { rungs, until, adapted }),
        );
        let version = board.order_version(order.ladder);
        attributions.set_ladder(order.ladder, Attribution { version, ..order.attribution.clone() });
    }
}

/// The ladders that are left with forced-open rungs only, if all of them are accepted.
fn ladders_given_up(
    board: &Board,
    names: &Names,
    steps: &Steps,
    now: Time,
) -> Result<Vec<String>, Refused> {
    let changes: Vec<_> = steps.forces.iter().map(|force| (force.rung, force.mode)).collect();
    let left = board.left_without(&changes, now);
    let refused = left.iter().filter(|at| !steps.accept.contains(at));
    let refused: Vec<_> = refused.map(|at| names.ladder_name(*at)).collect();
    if refused.is_empty() {
        Ok(left.iter().map(|at| names.ladder_name(*at)).collect())
    } else {
        Err(Refused::last_rung(refused))
    }
}

fn version_of(board: &Board, thing: Thing) -> u64 {
    match thing {
        Thing::Rung(rung) => board.override_version(rung),
        Thing::Ladder(ladder) => board.order_version(ladder),
    }
}

fn refusal(stale: Stale) -> Refused {
    match stale {
        Stale::Version => {
            let message = "Somebody was faster: it is not as you saw it. Look at what is so now, \
                           then ask again.";
            Refused::new(RefusedReason::Version, message)
        }
        Stale::Superseded => {
            let message = "It cannot be taken back: something later stands on it, or it has ended \
                           already. Change what is so now instead.";
            Refused::new(RefusedReason::Superseded, message)
        }
    }
}
