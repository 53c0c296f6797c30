//! From the live numbers to the journal's table of minutes.

use super::current_minute::minute_of;
use super::hub::Hub;
use super::in_force::Ladder;
use super::numbers::live_at;
use crate::live::{LadderMinute, StepMinute};
use crate::wall;
use journal::MinuteRecord;
use policy::{LadderIndex, RungIndex, Size, Time};
use shared::UnixMillis;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Once a second: gives the live numbers what only the board knows, and writes a
/// minute that is over.
pub(super) fn record_minute(hub: &Hub, now: Time) {
    let in_force = hub.in_force();
    let standing: Vec<_> = hub.with_board(now, |board| {
        let of = |ladder: &Ladder| {
            // The first rung with a mark sets what counts as late for its users.
            let mark = ladder.spec.rungs.iter().find_map(|rung| board.mark(*rung, Size::default()));
            (mark.map(record::millis), board.refusals(ladder.index).unwrap_or_default())
        };
        in_force.ladders.iter().map(|ladder| of(ladder)).collect()
    });
    for (ladder, (late_ms, refused)) in in_force.ladders.iter().zip(standing) {
        hub.live.standing(ladder.index.0, live_at(now), late_ms, refused);
    }
    let this = minute_of(wall::unix());
    if this != hub.current_minute.0.load(Ordering::Relaxed) {
        write_minute(hub, this);
    }
}

/// Writes what has been gathered; from here on `next` is. At the end what there is of
/// the last minute.
pub(super) fn write_minute(hub: &Hub, next: i64) {
    let at = UnixMillis(hub.current_minute.0.swap(next, Ordering::Relaxed));
    let in_force = hub.in_force();
    for (ladder, (requests, steps)) in hub.live.take_minute() {
        let Some(ladder) = in_force.ladder_at(LadderIndex(ladder)) else { continue };
        let empty = || MinuteRecord {
            at,
            life: hub.started,
            ladder: Arc::clone(&ladder.name),
            ..MinuteRecord::default()
        };
        if !requests.is_empty() {
            hub.journal.minute(of_ladder(requests, empty()));
        }
        for (rung, step) in steps {
            let Some(rung) = in_force.rung(RungIndex(rung)) else { continue };
            let record = MinuteRecord { rung: Some(Arc::clone(&rung.name)), ..empty() };
            hub.journal.minute(of_step(step, record));
        }
    }
}

pub(super) fn write_last_minute(hub: &Hub) {
    write_minute(hub, minute_of(wall::unix()));
}

fn words(words: Vec<(&'static str, u64)>) -> BTreeMap<String, u64> {
    words.into_iter().map(|(word, count)| (word.to_owned(), count)).collect()
}

fn of_ladder(minute: LadderMinute, empty: MinuteRecord) -> MinuteRecord {
    MinuteRecord {
        calls: minute.outcomes.iter().map(|(_, count)| count).sum(),
        good: minute.ok,
        slow: minute.late,
        bad: minute.failed + minute.broken,
        broken: minute.broken,
        gone: minute.gone,
        rescued: minute.rescued,
        last_resort: minute.last_resort,
        outcomes: words(minute.outcomes),
        hist: minute.hist,
        input_tokens: minute.input_tokens,
        output_tokens: minute.output_tokens,
        cost_nano: minute.cost,
        ..empty
    }
}

fn of_step(minute: StepMinute, empty: MinuteRecord) -> MinuteRecord {
    MinuteRecord {
        calls: minute.outcomes.iter().map(|(_, count)| count).sum(),
        good: minute.good,
        slow: minute.slow,
        bad: minute.bad,
        first: minute.first,
        answered: minute.answered,
        outcomes: words(minute.outcomes),
        passed: words(minute.passed),
        hist: minute.hist,
        input_tokens: minute.input_tokens,
        output_tokens: minute.output_tokens,
        cost_nano: minute.cost,
        lost_nano: minute.lost,
        ..empty
    }
}
