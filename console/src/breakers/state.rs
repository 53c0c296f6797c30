//! What is known of how breakers turned, and of the curves around it.

use crate::model::{Loaded, two};
use shared::admin::{Series, TransitionPage, TransitionRow};
use shared::histogram::Hist;
use shared::{BreakerState, UnixMillis, Word};
use std::collections::BTreeMap;

/// How far back the screen looks, in milliseconds, with the step of its curves.
pub const SPANS: [(&str, i64, &str); 4] = [
    ("15 m", 900_000, "1m"),
    ("1 h", 3_600_000, "1m"),
    ("6 h", 21_600_000, "5m"),
    ("24 h", 86_400_000, "15m"),
];

/// The screen's state.
#[derive(Debug, Default)]
pub struct Breakers {
    /// Which of [`SPANS`].
    pub span: usize,
    /// By relay: transitions, newest first.
    pub transitions: BTreeMap<usize, Loaded<TransitionPage>>,
    /// By relay: curves of the span.
    pub series: BTreeMap<usize, Series>,
    /// The moment that the cursor is at, by the relays' clock; `None`: now.
    pub cursor: Option<UnixMillis>,
    /// Counts what was asked for: answers to an older question are not shown.
    pub asked: u64,
    /// When that was, by our clock.
    pub asked_at: i64,
    /// How far back the curves go: the beginning and the end that were asked for.
    pub window: Option<(UnixMillis, UnixMillis)>,
}

/// One step of a curve, over all relays.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sum {
    /// Attempts.
    pub calls: u64,
    /// Late ones.
    pub slow: u64,
    /// Failed ones.
    pub bad: u64,
    /// The buckets of their first tokens.
    pub hist: Hist,
}

impl Sum {
    /// When the first token came of 95 % of them, in milliseconds.
    #[must_use]
    pub fn p95(&self) -> Option<u64> {
        two(&self.hist).1
    }

    /// The share of slow and bad ones, 0 to 1.
    #[must_use]
    pub fn ill_share(&self) -> f32 {
        ((self.slow + self.bad) as f32 / self.calls.max(1) as f32).min(1.0)
    }
}

impl Breakers {
    /// Where it looks at `now`: from 5 min before the first trouble on, if there is one within
    /// the span, else the whole span.
    #[must_use]
    pub fn bounds(&self, now: UnixMillis, first: Option<UnixMillis>) -> (UnixMillis, UnixMillis) {
        let (_, span, _) = SPANS.get(self.span).copied().unwrap_or(SPANS[0]);
        let whole = UnixMillis(now.0 - span);
        let near = first.map(|at| UnixMillis(at.0 - 300_000)).filter(|at| *at > whole);
        (near.unwrap_or(whole), now)
    }

    /// Moves the cursor by so many steps of the curves within the window.
    pub fn step(&mut self, by: isize) {
        let Some((since, until)) = self.window else { return };
        let step = match SPANS.get(self.span) {
            Some((_, span, _)) => span / 60,
            None => 15_000,
        };
        let here = self.cursor.unwrap_or(until);
        let to = here.0 + step * i64::try_from(by).unwrap_or(0);
        self.cursor = (to < until.0).then_some(UnixMillis(to.max(since.0)));
    }

    /// Transitions of all relays, newest first, each with the relay that has it.
    #[must_use]
    pub fn rows(&self) -> Vec<(usize, &TransitionRow)> {
        let pages = self.transitions.iter().filter_map(|(relay, page)| Some((relay, page.come()?)));
        let mut all: Vec<(usize, &TransitionRow)> =
            pages.flat_map(|(relay, page)| page.items.iter().map(|row| (*relay, row))).collect();
        all.sort_by_key(|(_, row)| std::cmp::Reverse(row.at));
        all
    }

    /// A rung's curve over all relays: counts added, buckets merged. A step without calls is
    /// not in it.
    #[must_use]
    pub fn curve(&self, rung: &str) -> BTreeMap<i64, Sum> {
        let mut sums: BTreeMap<i64, Sum> = BTreeMap::new();
        let curves = self.series.values().flat_map(|series| &series.curves);
        for point in curves.filter(|curve| curve.name == rung).flat_map(|curve| &curve.points) {
            if point.calls == 0 {
                continue;
            }
            let sum = sums.entry(point.at.0).or_default();
            sum.calls += point.calls;
            sum.slow += point.slow;
            sum.bad += point.bad;
            sum.hist.merge(&point.hist);
        }
        sums
    }

    /// Until when minutes are written that any curve has, by the relays' clock; `None`: none is.
    #[must_use]
    pub fn written_until(&self) -> Option<i64> {
        let curves = self.series.values().flat_map(|series| &series.curves);
        let last = curves.flat_map(|curve| &curve.points).map(|point| point.at.0).max()?;
        Some(last + self.step_ms())
    }

    /// The length of a step of the curves, in milliseconds.
    #[must_use]
    pub fn step_ms(&self) -> i64 {
        let step = self.series.values().next().map_or(60_000, |series| series.step_ms);
        i64::try_from(step).unwrap_or(60_000)
    }

    /// A rung's states within the window: from when each held, oldest first, with the first
    /// one holding from the beginning. `now` is how it stands.
    #[must_use]
    pub fn states(
        &self,
        relay: usize,
        rung: &str,
        now: &Word<BreakerState>,
    ) -> Vec<(UnixMillis, Word<BreakerState>)> {
        let Some((since, _)) = self.window else { return Vec::new() };
        let Some(page) = self.transitions.get(&relay).and_then(Loaded::come) else {
            return Vec::new();
        };
        let mut rows: Vec<&TransitionRow> =
            page.items.iter().filter(|row| row.rung == rung).collect();
        rows.sort_by_key(|row| row.at);
        let before = rows.iter().take_while(|row| row.at <= since).last();
        let first = before.map(|row| row.after.clone());
        let first = first.or_else(|| rows.first().and_then(|row| row.before.clone()));
        // None of its transitions is among them: it stands as it stood.
        let mut states = vec![(since, first.unwrap_or_else(|| now.clone()))];
        let within = rows.into_iter().filter(|row| row.at > since);
        states.extend(within.map(|row| (row.at, row.after.clone())));
        states
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::BreakerState::{Closed, HalfOpen, Open};
    use shared::TransitionRule;
    use shared::admin::past::{Point, SeriesCurve};
    use shared::admin::sample::{NIGHT, before};
    use shared::histogram::Bucket;

    fn row(seconds: i64, rung: &str, was: BreakerState, is: BreakerState) -> TransitionRow {
        TransitionRow {
            id: 1,
            at: before(seconds),
            rung: rung.to_owned(),
            before: Some(was.into()),
            after: is.into(),
            rule: TransitionRule::BadRun.into(),
            text: String::new(),
            slow: None,
            bad: None,
            n: None,
            weight: None,
            request: None,
        }
    }

    #[test]
    fn states_begin_with_what_held_before_the_window() {
        let mut breakers = Breakers { window: Some((before(100), NIGHT)), ..Breakers::default() };
        let items = vec![
            row(20, "sol", HalfOpen, Closed),
            row(50, "sol", Open, HalfOpen),
            row(60, "opus", Closed, Open),
            row(200, "sol", Closed, Open),
        ];
        breakers.transitions.insert(0, Loaded::Come(TransitionPage { items, next: None }));
        let states = breakers.states(0, "sol", &Closed.into());
        let states: Vec<_> = states
            .iter()
            .map(|(at, state)| ((NIGHT.0 - at.0) / 1_000, state.known().unwrap()))
            .collect();
        assert_eq!(states, [(100, Open), (50, HalfOpen), (20, Closed)]);
        assert_eq!(breakers.states(0, "haiku", &Open.into()), [(before(100), Open.into())]);
        assert_eq!(
            breakers.states(0, "opus", &Open.into())[0].1,
            Closed,
            "what was so before it opened"
        );
    }

    #[test]
    fn a_curve_is_the_sum_of_all_relays_with_its_gaps() {
        let series = |calls: u64, bucket: u16| Series {
            since: before(120),
            until: NIGHT,
            step_ms: 60_000,
            curves: vec![SeriesCurve {
                name: "sol".to_owned(),
                points: vec![
                    Point { at: before(120), ..Point::default() },
                    Point {
                        at: before(60),
                        calls,
                        hist: Hist(vec![Bucket(bucket, 10, 0)]),
                        ..Point::default()
                    },
                ],
            }],
        };
        let mut breakers = Breakers::default();
        breakers.series.insert(0, series(10, 50));
        breakers.series.insert(1, series(20, 90));
        let curve = breakers.curve("sol");
        assert_eq!(curve.len(), 1, "a step without calls is a gap");
        let sum = &curve[&before(60).0];
        assert_eq!((sum.calls, sum.hist.tokens()), (30, 20));
    }

    #[test]
    fn the_window_begins_shortly_before_the_trouble() {
        let breakers = Breakers::default();
        assert_eq!(breakers.bounds(NIGHT, None), (before(900), NIGHT));
        assert_eq!(breakers.bounds(NIGHT, Some(before(60))), (before(360), NIGHT));
        assert_eq!(breakers.bounds(NIGHT, Some(before(5_000))), (before(900), NIGHT));
    }

    #[test]
    fn the_cursor_stays_within_the_window() {
        let mut breakers = Breakers { window: Some((before(30), NIGHT)), ..Breakers::default() };
        breakers.step(-1);
        assert_eq!(breakers.cursor, Some(before(15)));
        breakers.step(-5);
        assert_eq!(breakers.cursor, Some(before(30)));
        breakers.step(9);
        assert_eq!(breakers.cursor, None, "now");
    }
}
