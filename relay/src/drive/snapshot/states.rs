//! Rungs and ladders as watchers see them: the config's facts, the board's state,
//! the live numbers and what is usual, put together.

use crate::drive::breaker_history::{RungHistory, cause};
use crate::drive::facts::Facts;
use crate::drive::hub::Hub;
use crate::drive::in_force::{InForce, Ladder};
use crate::drive::numbers::live_at;
use crate::drive::operator::current::with_changed;
use crate::drive::snapshot_cache::SnapshotCache;
use crate::live::{LadderNumbers, RungNumbers};
use crate::wall;
use journal::Usual;
use policy::breaker::State;
use policy::outcome::what_is_refused;
use policy::{Board, Remembered, RungIndex, Size, Time};
use shared::admin::board::{
    Bucket, BudgetState, HardDown, HealthState, HoldState, OverrideState, ProbeState,
};
use shared::admin::changes::{OrderNow, OverrideNow};
use shared::admin::{Curve, FeedKind, LadderState, RungState};
use shared::{OverrideMode, TransitionRule};
use std::time::Duration;

/// A rung's state on the board.
struct Stand {
    forced: Option<(OverrideMode, Option<Time>)>,
    state: State,
    weight: f64,
    generation: u32,
    held_until: Option<Time>,
    remembered: Option<Remembered>,
    need: u32,
    mark: Option<Duration>,
    reference: Option<Duration>,
}

/// Every rung and every ladder, and which step of its curve runs.
pub(super) struct All {
    pub(super) rungs: Vec<RungState>,
    pub(super) ladders: Vec<LadderState>,
    running: Vec<u64>,
}

pub(super) fn all(hub: &Hub, now: Time, cache: &SnapshotCache) -> All {
    let in_force = hub.in_force();
    let facts = Facts::of(&in_force);
    let ((stands, budgets), changed) = with_changed(hub, now, &in_force, |board| {
        let rungs = in_force.rungs.iter().map(|rung| stand(board, rung.index, now));
        let ladders = in_force.ladders.iter().map(|ladder| budget(board, ladder));
        (rungs.collect::<Vec<_>>(), ladders.collect::<Vec<_>>())
    });
    let at = live_at(now);
    let mut running = Vec::with_capacity(stands.len() + budgets.len());
    let told = hub.breaker_history().all();
    let nothing = RungHistory::default();
    let rungs = facts.rungs.into_iter().zip(stands).zip(changed.overrides);
    let rungs = rungs.map(|(((index, facts), stand), changed)| {
        let seen = hub.live.rung_numbers(index.0, at);
        running.push(seen.step);
        let told = told.get(index.0).unwrap_or(&nothing);
        rung(facts, &stand, changed, seen, told, now, &cache.usual)
    });
    let rungs: Vec<_> = rungs.collect();
    let ladders = facts.ladders.into_iter().zip(budgets).zip(changed.orders);
    let ladders = ladders.map(|(((index, facts), budget), order)| {
        let seen = hub.live.ladder_numbers(index.0, at);
        running.push(seen.step);
        ladder(facts, order, budget, seen, &in_force, &cache.usual)
    });
    let ladders = ladders.collect();
    All { rungs, ladders, running }
}

/// Publishes to the feed what is new.
pub(super) fn publish(hub: &Hub, cache: &mut SnapshotCache, all: &All) {
    let All { rungs, ladders, running } = all;
    let moved = |place: usize| running.get(place) != cache.steps.get(place);
    for (index, rung) in rungs.iter().enumerate() {
        let mut told = rung.clone();
        let spark = told.past.spark.take();
        hub.feed.set(FeedKind::Rung, index, &told);
        if moved(index) {
            let curve = Curve {
                rung: Some(told.name),
                rung_spark: spark,
                rung_usual: told.past.usual,
                ladder: None,
                ladder_spark: None,
                ladder_usual: None,
            };
            hub.feed.set(FeedKind::Curve, index, &curve);
        }
    }
    for (index, ladder) in ladders.iter().enumerate() {
        let mut told = ladder.clone();
        let (spark, usual) = (told.spark.take(), told.usual.take());
        hub.feed.set(FeedKind::Ladder, index, &told);
        let place = rungs.len().saturating_add(index);
        if moved(place) {
            let curve = Curve {
                rung: None,
                rung_spark: None,
                rung_usual: None,
                ladder: Some(told.name),
                ladder_spark: spark,
                ladder_usual: usual,
            };
            hub.feed.set(FeedKind::Curve, place, &curve);
        }
    }
    cache.steps.clone_from(running);
}

fn stand(board: &Board, rung: RungIndex, now: Time) -> Stand {
    let breaker = board.breaker(rung);
    Stand {
        forced: board.forced(rung, now).filter(|(mode, _)| *mode != OverrideMode::Auto),
        state: breaker.map_or(State::Closed, policy::breaker::Breaker::state),
        weight: breaker.map_or(1.0, policy::breaker::Breaker::weight),
        generation: breaker.map_or(0, policy::breaker::Breaker::generation),
        held_until: board.held_until(rung, now),
        remembered: board.remember(rung),
        need: breaker.map_or(0, policy::breaker::Breaker::probes_wanted),
        mark: board.mark(rung, Size::default()),
        reference: board.reference(rung),
    }
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

fn rung(
    mut state: RungState,
    stand: &Stand,
    changed: OverrideNow,
    seen: RungNumbers,
    told: &RungHistory,
    now: Time,
    usual: &Usual,
) -> RungState {
    state.health = health(stand, told, &seen, now);
    state.override_version = Some(changed.version);
    state.forced = stand.forced.map(|(mode, until)| OverrideState {
        mode: mode.into(),
        reason: changed.reason,
        by: changed.by,
        at: changed.at,
        until_at: until.map(|until| wall::unix_of(now, until)),
        version: changed.version,
        action: changed.action,
        fleet_shared: false,
        draining: if mode == OverrideMode::ForcedOpen { seen.now.streaming } else { 0 },
    });
    state.now = seen.now;
    state.now.mark_ms = stand.mark.map(millis);
    state.now.ref_p95_ms = stand.reference.map(millis);
    state.past.last_ok_at = seen.last_ok_at;
    state.past.last_fault = seen.last_fault;
    state.past.usual = usual.rungs.get(&state.name).cloned();
    state.past.peak_rps_24h = usual.peaks.get(&state.name).copied();
    state.past.spark = Some(seen.spark);
    state
}

fn health(stand: &Stand, told: &RungHistory, seen: &RungNumbers, now: Time) -> HealthState {
    let unix = |at| wall::unix_of(now, at);
    let breaker = stand.remembered.as_ref().map(|remembered| &remembered.breaker);
    let trouble_since = breaker.and_then(|breaker| breaker.trouble_since).map(unix);
    let opened_by = breaker.and_then(|breaker| breaker.opened_by);
    // A rung that is forced open gets no request, so no probe either.
    let is_forced_open = matches!(stand.forced, Some((OverrideMode::ForcedOpen, _)));
    let probe = match stand.state {
        State::Closed => None,
        _ if is_forced_open => None,
        State::Open { until } => Some((Some(unix(until)), false, 0)),
        State::HalfOpen { taken, good } => Some((None, taken, good)),
    };
    let need = stand.need;
    // What opened it before a restart is all that is known of that.
    let earlier = opened_by.map(|rule| cause(rule, 0, 0));
    HealthState {
        state: stand.state.name().into(),
        cause: told.cause.clone().or(earlier),
        since_at: told.since_at.or(trouble_since),
        sick_since_at: trouble_since,
        opens_10m: told.opens(now),
        generation: stand.generation,
        probe: probe.map(|(at, running, good)| ProbeState { at, running, good, need }),
        cooldown_ms: breaker.filter(|_| probe.is_some()).map(|breaker| millis(breaker.cooldown)),
        weight: stand.weight,
        floor: told.floor && stand.weight < 1.0 && stand.state == State::Closed,
        hold: stand
            .held_until
            .map(|until| HoldState { until_at: unix(until), why: "provider".to_owned() }),
        hard_down: match (stand.state, opened_by) {
            (State::Open { until }, Some(TransitionRule::Auth)) => {
                let status = seen.last_fault.as_ref().and_then(|fault| fault.status);
                let why = what_is_refused(status).to_owned();
                Some(HardDown { why, until_at: unix(until) })
            }
            _ => None,
        },
    }
}

fn budget(board: &Board, ladder: &Ladder) -> BudgetState {
    let (hedge, retry) = board.levels(ladder.index).unwrap_or_default();
    let spec = &ladder.spec;
    let pair = spec.rungs.first().zip(spec.rungs.get(1));
    let delay = pair.filter(|_| spec.hedge.enabled && spec.interactive);
    let delay =
        delay.map(|(&rung, &rival)| board.hedge_delay(rung, rival, &spec.hedge, Size::default()));
    let bucket = |level, cap| Bucket { level, cap, refused_1m: 0 };
    BudgetState {
        hedge: bucket(hedge, spec.hedge.burst),
        retry: bucket(retry, spec.retry.burst),
        hedge_share: None,
        hedge_win_share: None,
        hedge_delay_ms: delay.map(millis),
    }
}

fn ladder(
    mut state: LadderState,
    changed: OrderNow,
    mut budget: BudgetState,
    seen: LadderNumbers,
    in_force: &InForce,
    usual: &Usual,
) -> LadderState {
    state.order = changed.order;
    state.source = changed.source.into();
    state.version = changed.version;
    state.by = changed.by;
    state.reason = changed.reason;
    state.at = changed.at;
    state.until_at = changed.until_at;
    budget.hedge.refused_1m = seen.refused.0;
    budget.retry.refused_1m = seen.refused.1;
    budget.hedge_share = seen.hedge_share;
    budget.hedge_win_share = seen.hedge_win_share;
    for (rung, step) in seen.steps {
        let name = in_force.rung(RungIndex(rung)).map(|rung| &*rung.name);
        let Some(told) = state.steps.iter_mut().find(|told| Some(&*told.rung) == name) else {
            continue;
        };
        told.share = step.share;
        told.first_share = step.first_share;
        told.cost_nps = step.cost_nps;
        told.passed = step.passed;
        told.usual_share = usual.shares.get(&(state.name.clone(), told.rung.clone())).copied();
    }
    state.usual = usual.ladders.get(&state.name).cloned();
    state.users = seen.users;
    state.spark = Some(seen.spark);
    state.budget = budget;
    state
}
