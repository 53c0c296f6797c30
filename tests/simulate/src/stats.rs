//! From outcomes to figures.

use crate::run::{Outcome, Record};

/// A request without a first token by then is hurt.
pub const HURT: f64 = 3.0;

/// The figures of one row.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    /// Seconds to the first token, the median.
    pub p50: f64,
    /// The same, the 95th percentile.
    pub p95: f64,
    /// The same, the 99th percentile.
    pub p99: f64,
    /// The same, the 99.9th percentile.
    pub p999: f64,
    /// The share of requests with a first token within 10 s. The fields below are shares, too.
    pub within_10: f64,
    /// Requests without a first token within [`HURT`].
    pub hurt: f64,
    /// Calls beyond one a request.
    pub extra: f64,
    /// Hedges.
    pub hedges: f64,
    /// Streams that went silent after their first token.
    pub died: f64,
}

impl Figures {
    /// Those of a run.
    pub fn of(record: &Record) -> Self {
        let all = &record.outcomes;
        let mut times: Vec<f64> = all.iter().map(|outcome| outcome.ttft).collect();
        let sum = |count: fn(&Outcome) -> u32| all.iter().map(|one| u64::from(count(one))).sum();
        let count = all.len() as f64;
        let share = |part: u64| part as f64 / count;
        let dials: u64 = sum(|outcome| outcome.dials);
        Self {
            extra: share(dials) - 1.0,
            hedges: share(sum(|outcome| outcome.hedges)),
            died: share(sum(|outcome| u32::from(outcome.died))),
            ..Self::of_times(&mut times)
        }
    }

    /// The figures that need times only.
    pub fn of_times(times: &mut [f64]) -> Self {
        let count = times.len() as f64;
        let share = |limit: f64, times: &[f64]| {
            times.iter().filter(|time| **time <= limit).count() as f64 / count
        };
        Self {
            within_10: share(10.0, times),
            hurt: 1.0 - share(HURT, times),
            p50: quantile(times, 500),
            p95: quantile(times, 950),
            p99: quantile(times, 990),
            p999: quantile(times, 999),
            ..Self::default()
        }
    }
}

/// The quantile in thousandths; reorders `times`.
pub fn quantile(times: &mut [f64], thousandths: usize) -> f64 {
    let at = times.len() * thousandths / 1000;
    if at >= times.len() {
        return f64::NAN;
    }
    *times.select_nth_unstable_by(at, f64::total_cmp).1
}

/// How much of the way from `from` to `best` a policy has gone.
pub fn closed(from: f64, best: f64, policy: f64) -> f64 {
    (from - policy) / (from - best)
}
