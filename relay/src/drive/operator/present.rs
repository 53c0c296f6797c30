//! What is so now, with whose hand it is.

use super::refused::Refused;
use super::steps::{Steps, Thing};
use super::{Mark, State};
use crate::drive::in_force::InForce;
use crate::drive::relay::Relay;
use crate::wall;
use policy::{Board, LadderIndex, RungIndex, Time};
use shared::admin::changes::{OrderNow, OverrideNow, Present};
use shared::{OrderSource, OverrideMode};

impl Relay {
    /// The override of a rung as it is now.
    ///
    /// # Errors
    /// There is no such rung.
    pub fn override_now(&self, rung: &str) -> Result<OverrideNow, Refused> {
        let rung = self.find_rung(rung)?;
        let (state, now) = (self.operators.lock(), wall::now());
        Ok(self.with_board(now, |board| self.override_on(board, &state, rung, now)))
    }

    /// The order of a ladder as it is now.
    ///
    /// # Errors
    /// There is no such ladder.
    pub fn order_now(&self, ladder: &str) -> Result<OrderNow, Refused> {
        let ladder = self.find_ladder(ladder)?;
        let (state, now) = (self.operators.lock(), wall::now());
        Ok(self.with_board(now, |board| self.order_on(board, &state, ladder, now)))
    }

    /// What `work` finds on the board and, at the same moment, whose hand is on every rung
    /// and every ladder of this config, in its order.
    pub(in crate::drive) fn with_hands<A, B>(
        &self,
        now: Time,
        in_force: &InForce,
        work: impl FnOnce(&Board) -> (A, B),
    ) -> (A, B, Vec<OverrideNow>, Vec<OrderNow>) {
        let state = self.operators.lock();
        self.with_board(now, |board| {
            let (one, other) = work(board);
            let rungs = in_force.rungs.iter();
            let rungs = rungs.map(|rung| self.override_on(board, &state, rung.index, now));
            let ladders = in_force.ladders.iter();
            let ladders = ladders.map(|ladder| self.order_on(board, &state, ladder.index, now));
            (one, other, rungs.collect(), ladders.collect())
        })
    }

    pub(super) fn rung_name(&self, rung: RungIndex) -> String {
        self.rung(rung).map(|rung| rung.name.to_string()).unwrap_or_default()
    }

    pub(super) fn ladder_name(&self, ladder: LadderIndex) -> String {
        self.ladder_at(ladder).map(|ladder| ladder.name.to_string()).unwrap_or_default()
    }

    /// Of everything that `steps` touches or expects something of, each once.
    pub(super) fn present(
        &self,
        board: &Board,
        state: &State,
        steps: &Steps,
        now: Time,
    ) -> Present {
        let (mut rungs, mut ladders) = (Vec::new(), Vec::new());
        let touched = steps.forces.iter().map(|force| Thing::Rung(force.rung));
        let ordered = steps.orders.iter().map(|order| Thing::Ladder(order.ladder));
        for thing in touched.chain(ordered).chain(steps.expected.iter().map(|(thing, _)| *thing)) {
            match thing {
                Thing::Rung(rung) if !rungs.contains(&rung) => rungs.push(rung),
                Thing::Ladder(ladder) if !ladders.contains(&ladder) => ladders.push(ladder),
                Thing::Rung(_) | Thing::Ladder(_) => {}
            }
        }
        Present {
            rungs: rungs
                .into_iter()
                .map(|rung| self.override_on(board, state, rung, now))
                .collect(),
            ladders: ladders.into_iter().map(|at| self.order_on(board, state, at, now)).collect(),
        }
    }

    fn override_on(&self, board: &Board, state: &State, rung: RungIndex, now: Time) -> OverrideNow {
        let mode = board.forced(rung, now).map(|(mode, _)| mode).unwrap_or_default();
        let version = board.override_version(rung);
        let mark = state.rungs.get(rung.0).and_then(Option::as_ref);
        let mark =
            mark.filter(|mark| mark.version == version && mode != OverrideMode::Auto).cloned();
        OverrideNow {
            rung: self.rung_name(rung),
            mode,
            version,
            cut_streams: board.cuts_streams(rung, now),
            at: mark.as_ref().map(|mark| mark.at),
            until_at: mark.as_ref().and_then(|mark| mark.until),
            by: mark.as_ref().and_then(|mark| mark.by.clone()),
            reason: mark.as_ref().and_then(|mark| mark.reason.clone()),
            action: mark.and_then(|mark| mark.action),
        }
    }

    fn order_on(&self, board: &Board, state: &State, ladder: LadderIndex, now: Time) -> OrderNow {
        let names = |rungs: &[RungIndex]| rungs.iter().map(|&rung| self.rung_name(rung)).collect();
        let version = board.order_version(ladder);
        let (order, source) = board.order_of(ladder, now).unwrap_or((&[], OrderSource::Config));
        let mark: Option<&Mark> = state.ladders.get(ladder.0).and_then(Option::as_ref);
        let mark =
            mark.filter(|mark| mark.version == version && source != OrderSource::Config).cloned();
        let config = self.ladder_at(ladder).map(|ladder| names(&ladder.spec.rungs));
        OrderNow {
            ladder: self.ladder_name(ladder),
            order: names(order),
            config_order: config.unwrap_or_default(),
            source,
            version,
            at: mark.as_ref().map(|mark| mark.at),
            until_at: mark.as_ref().and_then(|mark| mark.until),
            by: mark.as_ref().and_then(|mark| mark.by.clone()),
            reason: mark.as_ref().and_then(|mark| mark.reason.clone()),
            action: mark.and_then(|mark| mark.action),
        }
    }
}
