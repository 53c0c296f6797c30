//! What is usual: the median of the same hour on up to seven earlier days, or else of the last
//! day's hours. With less than one hour of data nothing is usual.

use super::past::{MINUTE, Minute, add, minutes, quantile_ms};
use rusqlite::Connection;
use shared::UnixMillis;
use shared::admin::board::{RungUsual, Users};
use shared::admin::past::Point;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// How many earlier days are read.
const DAYS: i64 = 7;
const HOUR_SECONDS: f64 = 3600.0;

/// What is usual, by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Usual {
    /// For each rung.
    pub rungs: HashMap<String, RungUsual>,
    /// For each ladder's users; the counts are per minute.
    pub ladders: HashMap<String, Users>,
    /// The share of a ladder's answers that a rung gives, by ladder and rung.
    pub shares: HashMap<(String, String), f64>,
    /// A rung's busiest minute of the last day, in attempts per second.
    pub peaks: HashMap<String, f64>,
}

/// One hour of a rung, of a ladder's requests, or of a rung on a ladder.
#[derive(Debug, Default)]
struct Hour {
    point: Point,
    broken: u64,
    gone: u64,
    rescued: u64,
    last_resort: u64,
    answered: u64,
    first_minute: i64,
    last_minute: i64,
}

type Hours = BTreeMap<i64, Hour>;

/// By ladder and rung; an empty name stands for all of them.
type ByName = BTreeMap<(String, String), Hours>;

pub(super) fn read(conn: &Connection, now: UnixMillis) -> rusqlite::Result<Usual> {
    let this_hour = now.0.div_euclid(HOUR).saturating_mul(HOUR);
    let mut earlier = ByName::new();
    for day in 1..=DAYS {
        let since = this_hour.saturating_sub(day.saturating_mul(DAY));
        hours(conn, since..since.saturating_add(HOUR), &mut earlier)?;
    }
    let mut last_day = ByName::new();
    hours(conn, now.0.saturating_sub(DAY)..now.0, &mut last_day)?;
    let mut usual = Usual { peaks: peaks(conn, now)?, ..Usual::default() };
    let names: Vec<_> = earlier.keys().chain(last_day.keys()).cloned().collect();
    for name in names {
        let hours = [&earlier, &last_day].into_iter().find_map(|source| {
            let hours = source.get(&name)?;
            spans_an_hour(hours).then_some(hours)
        });
        let Some(hours) = hours else { continue };
        let (ladder, rung) = name;
        match (ladder.is_empty(), rung.is_empty()) {
            (true, false) => {
                usual.rungs.insert(rung, of_rung(hours));
            }
            (false, true) => {
                usual.ladders.insert(ladder, of_ladder(hours));
            }
            _ => {}
        }
    }
    usual.shares = shares(&earlier, &last_day);
    Ok(usual)
}

fn hours(conn: &Connection, span: Range<i64>, into: &mut ByName) -> rusqlite::Result<()> {
    minutes(conn, span, &[], |minute| {
        let hour = minute.at.div_euclid(HOUR);
        if !minute.rung.is_empty() {
            let on_ladder = (minute.ladder.clone(), minute.rung.clone());
            note(into.entry(on_ladder).or_default(), hour, &minute);
            note(into.entry((String::new(), minute.rung.clone())).or_default(), hour, &minute);
        } else {
            note(into.entry((minute.ladder.clone(), String::new())).or_default(), hour, &minute);
        }
    })
}

fn note(hours: &mut Hours, number: i64, minute: &Minute) {
    let is_new = !hours.contains_key(&number);
    let hour = hours.entry(number).or_default();
    add(&mut hour.point, &minute.point);
    hour.broken += minute.broken;
    hour.gone += minute.gone;
    hour.rescued += minute.rescued;
    hour.last_resort += minute.last_resort;
    hour.answered += minute.answered;
    hour.first_minute = if is_new { minute.at } else { hour.first_minute.min(minute.at) };
    hour.last_minute = hour.last_minute.max(minute.at);
}

/// Whether the hours together span an hour: each counts from its first to its last minute, and the
/// time between the days is left out.
fn spans_an_hour(hours: &Hours) -> bool {
    let spans = hours.values().map(|hour| hour.last_minute - hour.first_minute + MINUTE);
    spans.sum::<i64>() >= HOUR
}

fn of_rung(hours: &Hours) -> RungUsual {
    RungUsual {
        rps: median(hours, |hour| Some(hour.point.calls as f64 / HOUR_SECONDS)),
        bad: median(hours, |hour| {
            (hour.point.calls > 0).then(|| hour.point.bad as f64 / hour.point.calls as f64)
        }),
        ttft_p95_ms: whole(median(hours, |hour| ms(&hour.point, 0.95))),
        cost_nps: whole(median(hours, |hour| Some(hour.point.cost_nano as f64 / HOUR_SECONDS))),
    }
}

fn of_ladder(hours: &Hours) -> Users {
    // The board's counts are per minute, so these are as well.
    let a_minute = |count: fn(&Hour) -> u64| {
        whole(median(hours, |hour| Some(count(hour) as f64 / 60.0))).unwrap_or(0)
    };
    Users {
        rps: median(hours, |hour| Some(hour.point.calls as f64 / HOUR_SECONDS)).unwrap_or(0.0),
        ok: a_minute(|hour| ok(&hour.point)),
        failed: a_minute(|hour| hour.point.bad.saturating_sub(hour.broken)),
        broken: a_minute(|hour| hour.broken),
        late: a_minute(|hour| hour.point.slow),
        gone: a_minute(|hour| hour.gone),
        rescued: a_minute(|hour| hour.rescued),
        last_resort: a_minute(|hour| hour.last_resort),
        ttft_p50_ms: whole(median(hours, |hour| ms(&hour.point, 0.5))),
        ttft_p95_ms: whole(median(hours, |hour| ms(&hour.point, 0.95))),
        cost_nps: whole(median(hours, |hour| Some(hour.point.cost_nano as f64 / HOUR_SECONDS)))
            .unwrap_or(0),
        ..Users::default()
    }
}

fn ok(point: &Point) -> u64 {
    ["ok", "refused"].iter().filter_map(|word| point.outcomes.get(*word)).sum()
}

fn ms(point: &Point, q: f64) -> Option<f64> {
    quantile_ms(&point.hist, q).map(|ms| ms as f64)
}

/// Each rung's share of its ladder's answers, by ladder and rung.
fn shares(earlier: &ByName, last_day: &ByName) -> HashMap<(String, String), f64> {
    let mut shares = HashMap::new();
    let ladders = last_day.keys().chain(earlier.keys()).filter(|(_, rung)| rung.is_empty());
    for (ladder, _) in ladders {
        let source = [earlier, last_day]
            .into_iter()
            .find(|source| source.get(&(ladder.clone(), String::new())).is_some_and(spans_an_hour));
        let Some(source) = source else { continue };
        let steps = source.iter().filter(|((on, rung), _)| on == ladder && !rung.is_empty());
        let answers = |hours: &Hours| hours.values().map(|hour| hour.answered).sum::<u64>();
        let steps: Vec<_> = steps.map(|((_, rung), hours)| (rung, answers(hours))).collect();
        let all: u64 = steps.iter().map(|(_, answered)| answered).sum();
        for (rung, answered) in steps.into_iter().filter(|_| all > 0) {
            shares.insert((ladder.clone(), rung.clone()), answered as f64 / all as f64);
        }
    }
    shares
}

fn peaks(conn: &Connection, now: UnixMillis) -> rusqlite::Result<HashMap<String, f64>> {
    let mut statement = conn.prepare_cached(
        "SELECT rung, max(calls) FROM (SELECT rung, at, sum(calls) AS calls FROM minutes
         WHERE at >= ?1 AND at < ?2 AND rung <> '' GROUP BY rung, at) GROUP BY rung",
    )?;
    let rows = statement.query_map((now.0.saturating_sub(DAY), now.0), |row| {
        let calls: i64 = row.get(1)?;
        Ok((row.get(0)?, calls as f64 / 60.0))
    })?;
    rows.collect()
}

/// The median over the hours for which the value is known.
fn median(hours: &Hours, value: impl Fn(&Hour) -> Option<f64>) -> Option<f64> {
    let mut known: Vec<f64> = hours.values().filter_map(value).collect();
    known.sort_by(f64::total_cmp);
    let upper = known.get(known.len() / 2).copied()?;
    let lower = known.get(known.len().saturating_sub(1) / 2).copied()?;
    Some(f64::midpoint(lower, upper))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and times, never negative and far below the limit"
)]
fn whole(value: Option<f64>) -> Option<u64> {
    value.map(|value| value.max(0.0).round() as u64)
}
