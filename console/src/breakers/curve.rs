//! A rung's curve on Breakers: the journal's minutes, then the live steps up to now, without a gap.

use super::state::Sum;
use crate::model::Model;
use shared::UnixMillis;
use shared::admin::board::RungSpark;

/// One step of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// Its beginning and its end, by the relays' clock, in milliseconds since 1970.
    pub from: i64,
    /// See [`Step::from`].
    pub until: i64,
    /// When the first token came of 95 % of its calls, in milliseconds; `None`: of none.
    pub p95_ms: Option<u64>,
    /// The share of slow and bad ones, 0 to 1.
    pub ill_share: f32,
}

/// The curve of `rung`, oldest first. A step without calls is not in it.
#[must_use]
pub fn curve(model: &Model, rung: &str, now: UnixMillis) -> Vec<Step> {
    let length = model.breakers.step_ms();
    let minute = |(from, sum): (i64, Sum)| Step {
        from,
        until: from + length,
        p95_ms: sum.p95(),
        ill_share: sum.ill_share(),
    };
    let mut steps: Vec<Step> = model.breakers.curve(rung).into_iter().map(minute).collect();
    let spark = model.rung(rung).and_then(|rung| rung.past.spark.as_ref());
    let started = model.board().map(|board| board.relay.started_at);
    if let (Some(written), Some(spark), Some(started)) =
        (model.breakers.written_until(), spark, started)
    {
        steps.extend(
            live(spark, started, now)
                .filter(|step| step.from + i64_of(spark.step_ms) / 2 > written),
        );
    }
    steps
}

/// The live steps with calls. A relay counts them from its start; the last one still runs.
fn live(spark: &RungSpark, started: UnixMillis, now: UnixMillis) -> impl Iterator<Item = Step> {
    let length = i64_of(spark.step_ms).max(1);
    let running = now.0 - (now.0 - started.0).rem_euclid(length);
    let count = spark.calls.len();
    (0..count).filter_map(move |place| {
        let calls = *spark.calls.get(place).filter(|calls| **calls > 0)?;
        let ill = spark.slow.get(place)? + spark.bad.get(place)?;
        let from = running - i64_of((count - 1 - place) as u64) * length;
        let until = (from + length).min(now.0);
        let ill_share = (ill as f32 / calls as f32).min(1.0);
        let p95_ms = *spark.p95_ms.get(place)?;
        Some(Step { from, until, p95_ms, ill_share })
    })
}

fn i64_of(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

/// The length of a live step, in milliseconds.
const LIVE: i64 = 15_000;

/// Whether `next` goes on where `last` ends: else there is a gap, and no line is drawn across.
#[must_use]
pub fn goes_on(last: &Step, next: &Step) -> bool {
    // The first live step may begin half of its length before the last minute ends, or after.
    next.from <= last.until + LIVE / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::settings::Settings;
    use shared::admin::Series;
    use shared::admin::past::{Point, SeriesCurve};

    fn spark(calls: &[u32]) -> RungSpark {
        RungSpark {
            step_ms: 15_000,
            calls: calls.to_vec(),
            slow: vec![1; calls.len()],
            bad: vec![0; calls.len()],
            p95_ms: calls.iter().map(|calls| Some(u64::from(*calls) * 100)).collect(),
        }
    }

    #[test]
    fn live_steps_follow_the_last_minute_that_is_written_up_to_now() {
        let mut model =
            Model::new(Settings { relays: vec!["http://a".to_owned()], ..Settings::default() });
        let mut board = shared::admin::sample::calm(&[("chat", &["sol", "opus"])]);
        board.rungs[0].past.spark = Some(spark(&[9, 9, 4, 4, 0, 2]));
        let now = board.at;
        let point = |ago: i64| Point { at: UnixMillis(now.0 - ago), calls: 8, ..Point::default() };
        // Minutes are written up to 50 s ago; of sol there is one in which nothing was called.
        let curve_of = |name: &str, points| SeriesCurve { name: name.to_owned(), points };
        let curves = vec![
            curve_of("sol", vec![point(230_000), point(170_000)]),
            curve_of("opus", vec![point(110_000)]),
        ];
        let series =
            Series { since: UnixMillis(now.0 - 600_000), until: now, step_ms: 60_000, curves };
        model.breakers.series.insert(0, series);
        // The running step began 5 s ago.
        board.relay.started_at = UnixMillis(now.0 - 3_605_000);
        model.relays[0].board = Some(board);
        model.relays[0].heard_at = Some(now.0);
        model.merge(now.0);
        let steps = curve(&model, "sol", now);
        let spans: Vec<(i64, i64)> = steps
            .iter()
            .map(|it| ((now.0 - it.from) / 1_000, (now.0 - it.until) / 1_000))
            .collect();
        // The step from 65 to 50 s ago is in the minute that is written.
        assert_eq!(spans, [(230, 170), (170, 110), (50, 35), (35, 20), (5, 0)]);
        assert_eq!(steps[2].p95_ms, Some(400));
        assert_eq!(steps[2].ill_share, 0.25);
        let goes: Vec<bool> = steps.windows(2).map(|two| goes_on(&two[0], &two[1])).collect();
        assert_eq!(goes, [true, false, true, false], "a step without calls is a gap");
    }
}
