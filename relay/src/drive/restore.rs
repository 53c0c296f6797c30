//! The start after another life: what the journal kept is put back on the board
//! before the first request, and one log line says what is still in force.

use super::hub::Hub;
use super::memory::{Memory, remembered};
use super::minutes::{record_minute, write_last_minute};
use super::operator::restore::{left, restore_operators};
use super::signals::Drain;
use crate::wall;
use journal::{HealthRecord, Kept, OverrideRecord};
use policy::{Board, RememberedState, Time};
use shared::{OverrideMode, UnixMillis};
use std::sync::Arc;
use std::time::Duration;

/// How often overrides are checked for their end, and rungs for health to write.
const LOOK: Duration = Duration::from_secs(1);

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
    // Those whose time came while the relay was down.
    hub.with_board(moment.now, |board| board.settle(moment.now));
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
