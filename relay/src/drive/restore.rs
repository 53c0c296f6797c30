//! The start after another life: what the journal kept is put back on the board
//! before the first request, and one log line says what is still in force.

use super::hub::Hub;
use super::memory::{Memory, remembered};
use super::minutes::{record_minute, write_last_minute};
use super::numbers::live_at;
use super::operator::restore::{left, restore_operators};
use super::signals::Drain;
use crate::live::PastMinute;
use crate::wall;
use journal::{HealthRecord, Kept, OverrideRecord, SeriesQuery};
use policy::{Board, RememberedState, Time};
use shared::admin::past::Point;
use shared::{OverrideMode, UnixMillis};
use std::sync::Arc;
use std::time::Duration;

/// How often overrides are checked for their end, and rungs for health to write.
const LOOK: Duration = Duration::from_secs(1);

/// How far back curves go, and a minute more, in milliseconds.
const CURVE: i64 = 16 * 60_000;

/// The moment of the restart, by both clocks.
#[derive(Debug, Clone, Copy)]
struct Moment {
    now: Time,
    today: UnixMillis,
}

/// Puts back what an earlier life left; before the first request.
pub fn restore(hub: &Hub, kept: &Kept) {
    let moment = Moment { now: wall::now(), today: wall::unix() };
    hub.with_board(moment.now, |board| {
        for row in &kept.health {
            restore_health(board, hub.memory(), row, moment);
        }
        hub.memory().is_as_written(board);
        for row in &kept.overrides {
            restore_override(board, hub.memory(), row, moment);
        }
    });
    restore_operators(hub, kept);
    recall_curves(hub, moment);
    // Those whose time came while the relay was down.
    hub.with_board(moment.now, |board| board.settle(moment.now));
}

/// Fills the curves with the minutes before the restart: they are drawn without a gap.
fn recall_curves(hub: &Hub, moment: Moment) {
    let in_force = hub.in_force();
    for by_ladder in [false, true] {
        let query = SeriesQuery {
            by_ladder,
            rung: None,
            ladder: None,
            since: UnixMillis(moment.today.0.saturating_sub(CURVE)),
            until: moment.today,
            step: Duration::from_secs(60),
        };
        // Without a journal they begin with this run.
        let Ok(series) = hub.journal.reader().series(&query) else { return };
        for curve in series.curves {
            let minutes: Vec<_> = curve.points.iter().map(|point| minute(point, moment)).collect();
            let now = live_at(moment.now);
            if by_ladder {
                let ladder = in_force.ladders.iter().find(|ladder| *ladder.name == *curve.name);
                ladder.into_iter().for_each(|it| hub.live.recall_ladder(it.index.0, now, &minutes));
            } else if let Some((rung, _)) = hub.memory().find(&curve.name) {
                hub.live.recall_rung(rung.0, now, &minutes);
            }
        }
    }
}

fn minute(point: &Point, moment: Moment) -> PastMinute {
    let positive = |number: i64| u64::try_from(number).unwrap_or(0);
    PastMinute {
        ago: positive(moment.today.0.saturating_sub(point.at.0)),
        calls: point.calls,
        slow: point.slow,
        bad: point.bad,
        cost: positive(point.cost_nano),
        p95_ms: point.ttft_p95_ms,
    }
}

/// Writes what is known of the rungs; before the journal is closed.
pub fn remember_all(hub: &Hub) {
    let now = wall::now();
    hub.with_board(now, |board| hub.memory().finish(now, board, &hub.journal));
    write_last_minute(hub);
}

/// Ends overrides when their time comes, keeps what rungs have learned and writes the
/// minutes that are over, until the
/// relay's last moment.
pub async fn maintain_rungs(relay: Arc<Hub>) {
    loop {
        tokio::select! {
            () = relay.signals.until(Drain::Cut) => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let now = wall::now();
        relay.with_board(now, |board| {
            board.settle(now);
            relay.memory().write_due(now, board, &relay.journal);
        });
        record_minute(&relay, now);
    }
}

fn restore_health(board: &mut Board, memory: &Memory, row: &HealthRecord, moment: Moment) {
    let Moment { now, today } = moment;
    let rung = &row.rung;
    let Some((index, identity)) = memory.find(rung) else {
        tracing::info!(%rung, "remembered, but no longer in the config");
        return;
    };
    if identity.fingerprint != row.fingerprint {
        tracing::warn!(%rung, "its provider, address or model is another one since the restart: what was known of it is forgotten");
        return;
    }
    let Some(mut kept) = remembered(row, now, today) else {
        tracing::warn!(%rung, state = row.state, "the journal's row of its health makes no sense; it starts afresh");
        return;
    };
    if identity.key_tag != row.key_tag {
        kept = kept.under_another_key();
    }
    board.restore(index, now, &kept);
    let state = board.remember(index).map(|kept| kept.breaker.state);
    if let Some(RememberedState::Open { until }) = state {
        let (rule, left) = (row.cause.as_deref().unwrap_or("unknown"), left(until, now));
        tracing::warn!(%rung, rule, left, "its breaker is still open from before the restart");
    }
    if let Some(until) = board.held_until(index, now) {
        let left = left(until, now);
        tracing::warn!(%rung, left, "still held from before the restart: its provider asked for a pause");
    }
}

fn restore_override(board: &mut Board, memory: &Memory, row: &OverrideRecord, moment: Moment) {
    let Moment { now, today } = moment;
    let rung = &row.rung;
    let Some((index, _)) = memory.find(rung) else {
        tracing::info!(%rung, mode = row.mode, "overridden, but no longer in the config");
        return;
    };
    let Ok(mode) = row.mode.parse::<OverrideMode>() else {
        tracing::warn!(%rung, mode = row.mode, "the journal's row of its override makes no sense; it is not in force");
        return;
    };
    let until = row.until.map(|until| wall::time_of(now, today.max(row.at), until));
    board.force_until(index, now, mode, until);
    if row.cut {
        board.cut_streams(index);
    }
    let left = until.map_or_else(|| "without an end".to_owned(), |until| left(until, now));
    let (mode, by) = (mode.as_str(), row.author.as_deref().unwrap_or("unknown"));
    let reason = row.reason.as_deref().unwrap_or_default();
    if until.is_none_or(|until| until > now) {
        tracing::warn!(%rung, mode, by, reason, left, "its override is still in force after the restart");
    }
}
