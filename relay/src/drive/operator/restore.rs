//! Operators' changes from before the restart: versions, attributions, orders and notes,
//! as the journal kept them.

use crate::drive::hub::Hub;
use crate::wall;
use journal::{Kept, OrderRecord, OverrideRecord};
use policy::operator::{Attribution, fit_order};
use policy::{Order, Time};
use std::time::Duration;

/// After the overrides are on the board again, and before any has ended.
pub(in crate::drive) fn restore_operators(hub: &Hub, kept: &Kept) {
    let in_force = hub.in_force();
    let names = &in_force.named;
    for row in &kept.orders {
        restore_order(hub, row);
    }
    let mut state = hub.operators.lock();
    state.notes.clone_from(&kept.notes);
    hub.with_board(wall::now(), |board| {
        for (name, version) in &kept.versions.rungs {
            let rung = names.find_rung(name).ok().map(|rung| (rung, *version));
            board.restore_versions(rung, None);
        }
        for (name, version) in &kept.versions.ladders {
            let ladder = names.find_ladder(name).ok().map(|ladder| (ladder, *version));
            board.restore_versions(None, ladder);
        }
        for row in &kept.overrides {
            let Ok(rung) = names.find_rung(&row.rung) else { continue };
            let made = of_override(row, board.override_version(rung));
            state.attributions.set_rung(rung, made);
        }
        for row in &kept.orders {
            let Ok(ladder) = names.find_ladder(&row.ladder) else { continue };
            let made = of_order(row, board.order_version(ladder));
            state.attributions.set_ladder(ladder, made);
        }
    });
}

fn restore_order(hub: &Hub, row: &OrderRecord) {
    let (now, today, in_force) = (wall::now(), wall::unix(), hub.in_force());
    let (ladder, by) = (&row.ladder, row.author.as_deref().unwrap_or("unknown"));
    let Ok(index) = in_force.named.find_ladder(ladder) else {
        tracing::info!(%ladder, "an operator's order of it is kept, but it is no longer in the config");
        return;
    };
    let (rungs, adapted) = fit_order(&in_force.named, index, &row.rungs);
    let until = row.until.map(|until| wall::time_of(now, today.max(row.at), until));
    hub.with_board(now, |board| board.reorder(index, Some(Order { rungs, until, adapted })));
    if until.is_none_or(|until| until > now) {
        let left = until.map_or_else(|| "without an end".to_owned(), |until| left(until, now));
        let reason = row.reason.as_deref().unwrap_or_default();
        tracing::warn!(%ladder, by, reason, left, adapted, "an operator's order is still in force after the restart");
    }
}

fn of_override(row: &OverrideRecord, version: u64) -> Attribution {
    Attribution {
        version,
        by: row.author.clone(),
        reason: row.reason.clone(),
        at: row.at,
        until: row.until,
        action: row.action.clone(),
    }
}

fn of_order(row: &OrderRecord, version: u64) -> Attribution {
    Attribution {
        version,
        by: row.author.clone(),
        reason: row.reason.clone(),
        at: row.at,
        until: row.until,
        action: row.action.clone(),
    }
}

/// How long it is until then, in words.
pub(in crate::drive) fn left(until: Time, now: Time) -> String {
    // Whole seconds are enough for a human, and none left is not zero left.
    let seconds = until.since(now).as_secs().saturating_add(1);
    humantime::format_duration(Duration::from_secs(seconds)).to_string()
}
