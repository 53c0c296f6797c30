//! Carries a change out: all of it, or nothing.

use super::refused::{Refused, Why};
use super::set;
use super::steps::{Steps, Thing};
use super::{Answer, Published, State};
use crate::drive::relay::Relay;
use crate::wall;
use policy::{Board, Order, Time};
use shared::admin::actions::{About, Action, ActionKind};
use shared::admin::changes::{ChangeAnswer, ChangeRequest, Present};
use shared::{OrderSource, OverrideMode, UnixMillis};
use std::sync::Arc;

/// What a change did.
#[derive(Debug)]
pub(super) struct Carried {
    pub(super) before: Present,
    pub(super) after: Present,
    /// Ladders that were let go without a rung.
    pub(super) accepted: Vec<String>,
}

impl Relay {
    /// Makes a change.
    ///
    /// # Errors
    /// Why it was not made; then nothing of it was.
    pub fn change(self: &Arc<Self>, request: &ChangeRequest, by: &str) -> Result<Answer, Refused> {
        let at = wall::unix();
        let mut state = self.operators.lock();
        let same = |action: &Action| is_same(action, request);
        if let Some(answer) = state.answered(&request.id, ActionKind::Change, same)? {
            return Ok(answer);
        }
        let steps = self.steps(request, by, at)?;
        let unseen = |order: &super::steps::Reorder| {
            let thing = Thing::Ladder(order.ladder);
            !steps.expected.iter().any(|(expected, _)| *expected == thing)
        };
        if steps.orders.iter().any(unseen) {
            return Err(self.needs_version(&state, &steps));
        }
        let carried = self.carry_out(&mut state, &steps, Why::Version)?;
        let action = Action {
            id: request.id.clone(),
            at,
            kind: ActionKind::Change,
            by: by.to_owned(),
            reason: request.reason.clone(),
            changes: request.changes.clone(),
            about: About::default(),
            before: Some(carried.before),
            after: Some(carried.after),
            accepted: carried.accepted,
            check: None,
            until_at: latest(&steps),
            ended_at: None,
            ended_by: None,
            undoes: None,
            in_force: true,
        };
        let answer = self.record_change(&mut state, action.clone());
        drop(state);
        self.publish(&steps, action);
        Ok(answer)
    }

    fn needs_version(&self, state: &State, steps: &Steps) -> Refused {
        let now = wall::now();
        let present = self.with_board(now, |board| self.present(board, state, steps, now));
        let message = "An order is made on a version: say in 'expect', or with If-Match, which one \
                       you saw; the answer has the one of now.";
        Refused::new(Why::NeedsVersion, "no_version", message).with(present)
    }

    pub(super) fn record_change(self: &Arc<Self>, state: &mut State, action: Action) -> Answer {
        let answer = ChangeAnswer {
            id: action.id.clone(),
            at: action.at,
            by: action.by.clone(),
            now: action.after.clone().unwrap_or_default(),
            journaled: false,
        };
        self.record(state, action, move |journaled| ChangeAnswer { journaled, ..answer.clone() })
    }

    /// Tells whoever watches; with no lock held.
    pub(super) fn publish(&self, steps: &Steps, action: Action) {
        tracing::warn!(by = action.by, id = action.id, reason = action.reason, kind = %action.kind, "an operator's change");
        self.published(&Published::Action(Box::new(action)));
        for force in &steps.forces {
            self.published(&Published::Rung(force.rung));
        }
        for order in &steps.orders {
            self.published(&Published::Ladder(order.ladder));
        }
    }

    /// Checks `steps` against what is so and does them, under one hold of the board;
    /// `stale` is in which way a version that is another one by now is refused.
    pub(super) fn carry_out(
        &self,
        state: &mut State,
        steps: &Steps,
        stale: Why,
    ) -> Result<Carried, Refused> {
        let (now, today) = (wall::now(), wall::unix());
        let carried = self.with_board(now, |board| {
            board.settle(now);
            let before = self.present(board, state, steps, now);
            let is_stale = |(thing, version): &(Thing, u64)| version_of(board, *thing) != *version;
            if steps.expected.iter().any(is_stale) {
                return Err(stale_words(stale).with(before));
            }
            let accepted = self.last_rungs(board, steps, now)?;
            apply(board, state, steps, now, today);
            let after = self.present(board, state, steps, now);
            Ok(Carried { before, after, accepted })
        })?;
        if steps.forces.iter().any(|force| force.mode == OverrideMode::ForcedOpen) {
            self.tell_walks();
        }
        Ok(carried)
    }

    /// The ladders that are left with forced-open rungs only, if all of them are accepted.
    fn last_rungs(&self, board: &Board, steps: &Steps, now: Time) -> Result<Vec<String>, Refused> {
        let changes: Vec<_> = steps.forces.iter().map(|force| (force.rung, force.mode)).collect();
        let left = board.left_without(&changes, now);
        let name = |at: &policy::LadderIndex| self.ladder_name(*at);
        let refused: Vec<_> =
            left.iter().filter(|at| !steps.accept.contains(at)).map(name).collect();
        if refused.is_empty() {
            Ok(left.iter().map(name).collect())
        } else {
            Err(Refused::last_rung(refused))
        }
    }
}

/// Whether `action` is what `request` asks for.
pub(in crate::drive) fn is_same(action: &Action, request: &ChangeRequest) -> bool {
    action.changes == request.changes && action.reason == request.reason
}

fn version_of(board: &Board, thing: Thing) -> u64 {
    match thing {
        Thing::Rung(rung) => board.override_version(rung),
        Thing::Ladder(ladder) => board.order_version(ladder),
    }
}

fn stale_words(stale: Why) -> Refused {
    if stale == Why::Version {
        let message = "Somebody was faster: it is not as you saw it. Look at what is so now, then ask \
                       again.";
        return Refused::new(stale, "version", message);
    }
    let message = "It cannot be taken back: something later stands on it, or it has ended already. \
                   Change what is so now instead.";
    Refused::new(stale, "superseded", message)
}

pub(super) fn apply(
    board: &mut Board,
    state: &mut State,
    steps: &Steps,
    now: Time,
    today: UnixMillis,
) {
    let time = |at: Option<UnixMillis>| at.map(|at| wall::time_of(now, today, at));
    for force in &steps.forces {
        let is = board.forced(force.rung, now).map(|(mode, _)| mode).unwrap_or_default();
        // What is not there need not be ended: no new version, and nobody is told off for it.
        if force.mode == OverrideMode::Auto && is == OverrideMode::Auto {
            continue;
        }
        board.force_until(force.rung, now, force.mode, time(force.mark.until));
        if force.cut {
            board.cut_streams(force.rung);
        }
        let version = board.override_version(force.rung);
        set(&mut state.rungs, force.rung.0, super::Mark { version, ..force.mark.clone() });
    }
    for order in &steps.orders {
        let source = board.order_of(order.ladder, now).map(|(_, source)| source);
        if order.rungs.is_none() && source == Some(OrderSource::Config) {
            continue;
        }
        let (until, adapted) = (time(order.mark.until), order.adapted);
        board.reorder(
            order.ladder,
            order.rungs.clone().map(|rungs| Order { rungs, until, adapted }),
        );
        let version = board.order_version(order.ladder);
        set(&mut state.ladders, order.ladder.0, super::Mark { version, ..order.mark.clone() });
    }
}

/// When all of it has ended by itself; `None`: never, or there is nothing to end.
pub(super) fn latest(steps: &Steps) -> Option<UnixMillis> {
    let forces = steps.forces.iter().filter(|force| force.mode != OverrideMode::Auto);
    let orders = steps.orders.iter().filter(|order| order.rungs.is_some());
    let marks = forces.map(|force| &force.mark).chain(orders.map(|order| &order.mark));
    let ends: Option<Vec<_>> = marks.map(|mark| mark.until).collect();
    ends?.into_iter().max()
}
